"""The questions of one process: asked ahead where they can be, shared with the other processes of the run."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_ragcheck.engine.ahead import Job, ReadAhead
from pytest_ragcheck.engine.fingerprint import means_digest, store_key
from pytest_ragcheck.engine.place import is_stopped
from pytest_ragcheck.metrics.cost import summed
from pytest_ragcheck.plugin.checker import Checker
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.crossing import begin
from pytest_ragcheck.plugin.early import load_what_comes_later
from pytest_ragcheck.plugin.interruption import Interruption, end_worker
from pytest_ragcheck.plugin.keys import AHEAD, SET_UP
from pytest_ragcheck.plugin.place import home_of
from pytest_ragcheck.plugin.plan import AGAIN, CALLED, NARROW, OTHER_MEANS, SWITCHED_OFF, Means, plan
from pytest_ragcheck.plugin.preflight import Preflight
from pytest_ragcheck.plugin.private_loop import loop_of
from pytest_ragcheck.plugin.processes import Part, part_of
from pytest_ragcheck.plugin.sigint import interrupt_anywhere
from pytest_ragcheck.plugin.sigterm import end_in_order_on_sigterm
from pytest_ragcheck.plugin.storing import opened_store
from pytest_ragcheck.plugin.tolerated import is_candidate
from pytest_ragcheck.plugin.waiting import say, seconds_between_lines
from pytest_ragcheck.summary.looks import LOOKS_AGAIN
from pytest_ragcheck.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import pytest

    from pytest_ragcheck.engine.fallback import FallbackStore
    from pytest_ragcheck.plugin.plan import Planned, Source
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.record import Record

T = TypeVar("T")

_LOOK_SECONDS = 0.1
"""Between two looks of a waiting worker at whether the run was stopped."""

NOT_SHARED = "the workers share no disk"
NO_STORE = "the workers have no store to share"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """A record, and how the run came by it."""

    record: Record
    on_demand: str = ""
    """Why the question was not asked ahead of its item; empty where it was."""

    resumed: bool = False
    """Whether an earlier run had asked it."""


class Ahead:
    """
    The questions of one process, asked and judged ahead of their items.

    Which client an item will have is known where a fixture of session scope gives it: the plugin's own, or that
    of a conftest.py for its folder. The first item that has it starts the others of its folder; every item that
    has another is evaluated when its turn comes. Workers of xdist all do so, and each question is for whoever
    claims it first.
    """

    def __init__(self, session: pytest.Session) -> None:
        config = session.config
        settings = settings_of(config)
        self._config = config
        self._session = session
        self._part = part = part_of(config)
        self._loop = loop_of(config)
        self._set_up = config.stash.setdefault(SET_UP, {})
        self._checker = Checker(config, part)
        stops_early = bool(config.getoption("maxfail", 0))
        self._ahead = 2 * self._checker.most * part.share if stops_early else None
        self._reader: ReadAhead | None = None
        self._store: FallbackStore | None = self._loop.run(_awaited, partial(opened_store, config, part))
        self._folder = home_of(settings) / part.run_id
        self._parent = os.getppid()
        begin(config)
        if not part.is_worker:
            end_in_order_on_sigterm(config)
        config.pluginmanager.register(Interruption(config, self._end_reading))
        switched_off = "" if settings.read_ahead else SWITCHED_OFF
        self._plan = plan(session, switched_off=switched_off or _why_alone(part, self._store))
        self._begun: dict[Source, Means] = {}
        self._digests: dict[Source, str] = {}
        with_others = part.is_worker and part.shares_disk and not part.runs_everything
        self._preflight = Preflight(
            session, self._checker.judging, self._checker.budget, self._folder if with_others else None
        )

    def record(self, item: pytest.Item, question: Question, means: Means) -> Evaluated:
        """The question's record: what was read ahead, if it was with these very means, else a new one."""
        self._preflight.check(means)
        evaluated = self._recorded(item, question, means)
        interrupt_anywhere()  # what takes long to import is there
        return self._confirmed(evaluated, question, means)

    def _recorded(self, item: pytest.Item, question: Question, means: Means) -> Evaluated:
        planned = self._plan.ahead.pop(item.nodeid, None)
        if planned is None or planned.question != question:
            return self._on_demand(question, means, self._plan.on_demand.get(item.nodeid, AGAIN))
        if planned.source not in self._begun and means.are_lasting(self._set_up):
            self._begin(planned, means)
        begun = self._begun.get(planned.source)
        if begun is None or self._reader is None:
            return self._on_demand(question, means, NARROW)
        key = store_key(question, self._digests[planned.source])
        if not begun.are(means):
            self._loop.run(self._reader.drop, key)
            return self._on_demand(question, means, OTHER_MEANS)
        resumed_before = self._resumed
        record = self._waited(question, self._reader.take, key)
        if record is None:
            return self._on_demand(question, means, AGAIN)
        # What was written down has no secrets in it, and the question may have moved in its file.
        return Evaluated(record=replace(record, question=question), resumed=self._resumed > resumed_before)

    def called(self, question: Question, means: Means) -> Evaluated:
        """The record of a question that no item runs."""
        self._preflight.check(means)
        return self._confirmed(self._on_demand(question, means, CALLED), question, means)

    def _confirmed(self, evaluated: Evaluated, question: Question, means: Means) -> Evaluated:
        """The same, asked again where a gate wants to know whether its FAIL is more than noise."""
        record = evaluated.record
        # The same would come of a recording each time.
        if means.settings.replay is not None or not is_candidate(record, self._config):
            return evaluated
        again: list[Record] = []
        while len(again) < LOOKS_AGAIN and all(each.verdict is Verdict.FAIL for each in again):
            again.append(self._waited(question, self._checker.check_afresh, question, means))
        verdicts = tuple(each.verdict.value for each in again)
        cost = summed((record.cost, *(each.cost for each in again)))
        return replace(evaluated, record=replace(record, asked_again=verdicts, cost=cost))

    def finish(self) -> None:
        """When this process's last item ends: goes on for the items of others, then ends what is under way."""
        if self._reader is not None and self._store is not None and self._part.is_worker:
            self._loop.run(self._reader.finish)
        self._end_reading()

    def close(self) -> None:
        """Ends what is under way, and writes nothing any more."""
        self._end_reading()
        if self._store is not None:
            self._loop.run(_awaited, self._store.close)
            self._store = None

    @property
    def _resumed(self) -> int:
        return self._store.resumed if self._store is not None else 0

    def _is_stopped(self) -> bool:
        # A worker whose controller was killed would else ask on for nobody.
        return is_stopped(self._folder) or os.getppid() != self._parent

    def _end_if_stopped(self) -> None:
        if self._is_stopped():
            end_worker(self._session)

    def _end_reading(self) -> None:
        self._plan.ahead.clear()
        if self._reader is not None:
            self._loop.run(self._reader.close)
            self._reader = None

    def _begin(self, first: Planned, means: Means) -> None:
        """Starts all questions of the source; their items come later."""
        self._begun[first.source] = means
        digest = self._digests[first.source] = means_digest(means.client, means.judge, means.settings)
        same = [first, *(planned for planned in self._plan.ahead.values() if planned.source == first.source)]
        self._loop.run(self._add, [planned.question for planned in same], means, digest)
        load_what_comes_later(means.judge)

    async def _add(self, questions: list[Question], means: Means, digest: str) -> None:
        if self._reader is None:
            # Enough to keep both gates full while some requests take long, and no more than memory should hold;
            # what a worker has claimed, no idle one can ask.
            spare = 0 if self._part.is_worker else 2 * max(self._checker.asking.most, self._checker.judging.most)
            alive = self._checker.most + spare
            stopped = self._is_stopped if self._part.is_worker else None
            self._reader = ReadAhead(alive=alive, ahead=self._ahead, store=self._store, stopped=stopped)
        await self._reader.add(
            Job(key=store_key(question, digest), evaluate=partial(self._checker.check, question, means))
            for question in questions
        )

    def _on_demand(self, question: Question, means: Means, why: str) -> Evaluated:
        return self._waited(question, self._asked_now, question, means, why)

    def _waited(self, question: Question, function: Callable[..., Awaitable[T]], *arguments: Any) -> T:
        """The function's result; while it takes long, the terminal says where the question is."""
        if self._part.is_worker:
            # It has no terminal, and xdist lets it run whatever items it was given, which may be all of them.
            self._end_if_stopped()
            return self._loop.run(function, *arguments, every_seconds=_LOOK_SECONDS, meanwhile=self._end_if_stopped)
        return self._loop.run(
            function,
            *arguments,
            every_seconds=seconds_between_lines(self._config),
            meanwhile=partial(say, self._config, self._checker.courses, question, len(self._plan.ahead)),
        )

    async def _asked_now(self, question: Question, means: Means, why: str) -> Evaluated:
        if self._store is None:
            return Evaluated(record=await self._checker.check(question, means), on_demand=why)
        key = store_key(question, means_digest(means.client, means.judge, means.settings))
        earlier = self._store.take_resumed(key)
        if earlier is not None:
            return Evaluated(record=replace(earlier, question=question), on_demand=why, resumed=True)
        record = await self._checker.check(question, means)
        self._store.keep(key, record)
        return Evaluated(record=record, on_demand=why)


def ahead_of(session: pytest.Session) -> Ahead:
    """The process's read-ahead; it begins with the first question that runs."""
    if AHEAD not in session.config.stash:
        session.config.stash[AHEAD] = Ahead(session)
    return session.config.stash[AHEAD]


def _why_alone(part: Part, store: FallbackStore | None) -> str:
    """Why a worker may ask nothing ahead: others would ask the same. Empty where it may."""
    if not part.is_worker or part.runs_everything or store is not None:
        return ""
    return NO_STORE if part.shares_disk else NOT_SHARED


async def _awaited(function: Any) -> Any:
    """The function's result; it runs in the private loop's thread, which alone may use the database."""
    return function()
