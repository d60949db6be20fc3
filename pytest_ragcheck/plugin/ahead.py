"""Which questions can be asked before their items come to them, and with whose client and judge."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.check import check_question
from pytest_ragcheck.engine.ahead import Job, ReadAhead
from pytest_ragcheck.engine.gate import Gate
from pytest_ragcheck.plugin.collection import QuestionItem, question_of
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.fixtures import loop_of
from pytest_ragcheck.plugin.keys import AHEAD, EVALUATED_WITH, SCOPES
from pytest_ragcheck.plugin.metrics import Measures
from pytest_ragcheck.rag.client import RagClient

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pytest

    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.record import Record
    from pytest_ragcheck.settings import Settings

Source = tuple["Path | None", ...]
"""For each fixture of `EVALUATED_WITH` the folder whose conftest.py overrides it; None for the plugin's own."""

_NOT_ASKED = ("skip", "skipif")
_CHANGED_BY = ("rag_question", "rag_result")
"""An override of one of these does something to the question that cannot be known before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """With what a question is evaluated."""

    client: Any
    judge: Judge | None
    settings: Settings

    def are(self, other: Means) -> bool:
        """Whether they are the very same objects."""
        return self.client is other.client and self.judge is other.judge and self.settings is other.settings


@dataclass(frozen=True, slots=True)
class _Planned:
    """A question that can be asked as soon as its source's means are known."""

    question: Question
    source: Source


class Ahead:
    """
    The questions of one process, asked and judged ahead of their items.

    Which client an item will have is known where a fixture of session scope gives it: the plugin's own, or that
    of a conftest.py for its folder. The first item that has it starts the others of its folder; every item that
    has another is evaluated when its turn comes.
    """

    def __init__(self, session: pytest.Session) -> None:
        config = session.config
        settings = settings_of(config)
        share = _share(config)
        self._config = config
        self._loop = loop_of(config)
        self._scopes = config.stash.setdefault(SCOPES, {})
        self._asking = Gate(
            math.ceil(settings.concurrency / share),
            retries=settings.retries,
            # A recording need not be spared.
            delay_seconds=settings.delay_seconds * share if settings.replay is None else 0.0,
        )
        self._judging = Gate(math.ceil(settings.judge_concurrency / share), retries=settings.retries)
        stops_early = bool(config.getoption("maxfail", 0))
        self._ahead = 2 * (self._asking.most + self._judging.most) if stops_early else None
        self._reader: ReadAhead | None = None
        # Under xdist every worker has all items and runs some: reading ahead would ask each question in each worker.
        self._planned = _plan(session) if settings.read_ahead and share == 1 else {}
        self._begun: dict[Source, Means] = {}
        self._measures = Measures(config)

    def record(self, item: pytest.Item, question: Question, means: Means) -> Record:
        """The question's record: what was read ahead, if it was with these very means, else a new one."""
        planned = self._planned.pop(item.nodeid, None)
        if planned is not None and planned.question == question:
            if planned.source not in self._begun and self._live_as_long_as_the_session(means):
                self._begin(item.nodeid, planned, means)
            begun = self._begun.get(planned.source)
            if begun is not None and self._reader is not None:
                if begun.are(means):
                    record = self._loop.run(self._reader.take, item.nodeid)
                    if record is not None:
                        return record
                else:
                    self._loop.run(self._reader.drop, item.nodeid)
        return self.evaluate(question, means)

    def evaluate(self, question: Question, means: Means) -> Record:
        """A new record, through the same gates."""
        return self._loop.run(self._check, question, means)

    def close(self) -> None:
        """Ends what is under way, and reads nothing ahead any more."""
        self._planned.clear()
        if self._reader is not None:
            self._loop.run(self._reader.close)
            self._reader = None

    def _live_as_long_as_the_session(self, means: Means) -> bool:
        values = (means.client, means.judge, means.settings)
        return all(
            self._scopes.get((name, id(value))) == "session" for name, value in zip(EVALUATED_WITH, values, strict=True)
        )

    def _begin(self, node_id: str, planned: _Planned, means: Means) -> None:
        """Starts all questions of the source; their items come later."""
        self._begun[planned.source] = means
        jobs = [(node_id, planned), *((n, p) for n, p in self._planned.items() if p.source == planned.source)]
        self._loop.run(self._add, [Job(key=n, evaluate=partial(self._check, p.question, means)) for n, p in jobs])

    async def _add(self, jobs: Iterable[Job]) -> None:
        if self._reader is None:
            # Enough to keep both gates full while some requests take long, and no more than memory should hold.
            alive = self._asking.most + self._judging.most + 2 * max(self._asking.most, self._judging.most)
            self._reader = ReadAhead(alive=alive, ahead=self._ahead)
        await self._reader.add(jobs)

    async def _check(self, question: Question, means: Means) -> Record:
        client, settings = means.client, means.settings
        if not hasattr(client, "ask") and callable(client):
            function: Any = client
            client = RagClient.from_callable(function, top_k=settings.top_k, timeout_seconds=settings.timeout_seconds)
        judge, metrics = means.judge, self._measures.of(settings, means.judge)
        if settings.replay is not None:
            from pytest_ragcheck.plugin.replay import recording_of  # noqa: PLC0415 - only where a run is replayed

            replayed = recording_of(self._config, settings.replay).replayed(
                question, judge, metrics, repeats=settings.judge_repeats
            )
            client, judge, metrics = replayed.client, replayed.judge, replayed.metrics
            # The same would come of it each time.
            settings = replace(settings, repeats=1, judge_repeats=1)
        return await check_question(
            question,
            client=client,
            judge=judge,
            metrics=metrics,
            settings=settings,
            asking=self._asking,
            judging=self._judging,
        )


def ahead_of(session: pytest.Session) -> Ahead:
    """The process's read-ahead; it begins with the first question that runs."""
    if AHEAD not in session.config.stash:
        session.config.stash[AHEAD] = Ahead(session)
    return session.config.stash[AHEAD]


def _share(config: pytest.Config) -> int:
    """How many processes share the run's concurrency."""
    worker: dict[str, Any] = getattr(config, "workerinput", {})
    return int(worker.get("workercount", 1))


def _plan(session: pytest.Session) -> dict[str, _Planned]:
    """By node id, in pytest's order, the questions whose means a session-scoped fixture may give."""
    folders = [_folders_with(session.config, name) for name in EVALUATED_WITH]
    changing = frozenset().union(*(_folders_with(session.config, name) for name in _CHANGED_BY))
    planned = {}
    for item in session.items:
        question = question_of(item)
        if question is None or _is_special(item) or _nearest(item.path, changing) is not None:
            continue
        source = tuple(_nearest(item.path, where) for where in folders)
        planned[item.nodeid] = _Planned(question, source)
    return planned


def _is_special(item: pytest.Item) -> bool:
    """Whether the item may not run at all, or may have fixtures that its folder does not show."""
    if any(item.get_closest_marker(mark) for mark in _NOT_ASKED):
        return True
    callspec = getattr(item, "callspec", None)
    if isinstance(item, QuestionItem):
        return callspec is not None
    fixtures = getattr(item, "fixturenames", ())
    alone = callspec is not None and callspec.params.keys() == {"rag_question"} and "rag_result" in fixtures
    homes = (getattr(item, "module", None), getattr(item, "cls", None))
    return not alone or any(hasattr(home, name) for home in homes for name in (*EVALUATED_WITH, *_CHANGED_BY))


def _folders_with(config: pytest.Config, fixture: str) -> frozenset[Path]:
    """The folders whose conftest.py has something of the fixture's name."""
    return frozenset(
        Path(plugin.__file__).parent
        for plugin in config.pluginmanager.get_plugins()
        if Path(getattr(plugin, "__file__", None) or "").name == "conftest.py" and hasattr(plugin, fixture)
    )


def _nearest(path: Path, folders: frozenset[Path]) -> Path | None:
    return next((folder for folder in path.parents if folder in folders), None)
