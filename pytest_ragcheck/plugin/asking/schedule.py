"""Decides which questions of a session are prefetched, with which item, and why the others are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.engine.conversation import by_conversation, conversation_of
from pytest_ragcheck.engine.fingerprint import backends_digest, store_key
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.plugin.asking.session_loop import BACKEND_FIXTURES, LiveFixtures
from pytest_ragcheck.plugin.collecting.question_items import QuestionItem, question_of
from pytest_ragcheck.plugin.extensions import has_fixture, own_metrics

if TYPE_CHECKING:
    import pytest

    from pytest_ragcheck.config.settings import Settings
    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.metrics.metric import OwnMetric
    from pytest_ragcheck.questions.question import Question


FixtureHome = tuple["Path | tuple[OwnMetric, ...] | None", ...]
"""
The folder's own metrics, and the folder whose conftest.py overrides each fixture of `BACKEND_FIXTURES`; None for the
plugin's own.

A question of the tier `retrieval` has no entry for the judge.
"""

MAY_BE_SKIPPED = "the item may be skipped"
PARAMETRIZED = "the item is parametrized"
OWN_FIXTURES = "the test, its class or its module may have fixtures of its own"
CHANGED = "rag_question or rag_result is overridden"
SWITCHED_OFF = "prefetch is disabled (rag_disable)"
NARROW = "rag_client, rag_judge or rag_settings is not of session scope"
OTHER_BACKENDS = "rag_client, rag_judge or rag_settings was another than expected"
AGAIN = "the item ran before"
CALLED = "rag_check was called"

_CHANGED_BY = ("rag_question", "rag_result")
"""An override of one of these fixtures can change the question, so its questions are not prefetched."""


@frozen
class Backends:
    client: Any
    judge: Judge | None
    settings: Settings
    own: tuple[OwnMetric, ...]
    """The users' metrics of the folder."""

    given: tuple[Any, ...]
    """The values of `BACKEND_FIXTURES`."""

    @property
    def digest(self) -> str:
        return backends_digest(self.client, self.judge, self.settings)

    def same_as(self, other: Backends) -> bool:
        return all(own is its for own, its in zip(self.given, other.given, strict=True))

    def are_lasting(self, set_up: Mapping[pytest.FixtureDef[Any], int], *, judged: bool) -> bool:
        """
        True if the backends live as long as the session, and other items of the folder share them.

        A fixture of narrower scope can return the value that it overrides, to some items only: while it is set up, the
        answer is False. *set_up* has the ids of the values. A question of the tier `retrieval` is not *judged*.
        """
        return all(
            {each.scope for each, given in set_up.items() if (each.argname, given) == (name, id(value))} == {"session"}
            for name, value in zip(BACKEND_FIXTURES, self.given, strict=True)
            if judged or name != "rag_judge"
        )


@frozen
class Prefetchable:
    """A question that can be asked as soon as the backends of its folder are known."""

    question: Question
    home: FixtureHome


@frozen
class Step:
    """The way to evaluate the question of one item."""

    on_demand: str
    """Why the question is asked when its item runs; empty if it is prefetched."""

    key: str = ""
    """The key of the prefetched question; with `on_demand`, the key of a record that the item cannot use."""

    begin: tuple[tuple[str, Question], ...] = ()
    """All questions with the backends of this item, with their keys, to begin first."""


class Schedule:
    """
    Holds the questions of a session that are not delivered yet.

    The first item whose backends are those of the session or of its folder begins all questions with these backends.
    """

    def __init__(self, session: pytest.Session, fixtures: LiveFixtures, *, switched_off: str) -> None:
        """Plan the collected session; *switched_off* is why no question is prefetched, empty if any may be."""
        self._fixtures = fixtures
        self._begun: dict[FixtureHome, tuple[Backends, str]] = {}
        self._ahead: dict[str, Prefetchable] = {}
        self._on_demand: dict[str, str] = {}
        plugins = session.config.pluginmanager.get_plugins()
        conftests = [each for each in plugins if Path(getattr(each, "__file__", None) or "").name == "conftest.py"]
        folders = [_folders_with(conftests, name) for name in BACKEND_FIXTURES]
        changing = frozenset().union(*(_folders_with(conftests, name) for name in _CHANGED_BY))

        @cache
        def found_for(path: Path) -> tuple[bool, FixtureHome]:
            # Whether a fixture changes the file's questions, and its metrics and the folders of its backends.
            own = own_metrics(session.config, session.gethookproxy(path))
            return _nearest(path, changing) is not None, (own, *(_nearest(path, where) for where in folders))

        for item in session.items:
            question = question_of(item)
            if question is None:
                continue
            changed, home = found_for(item.path)
            why = switched_off or (CHANGED if changed else _why_not_ahead(item))
            if why:
                self._on_demand[item.nodeid] = why
            else:
                # A question of the tier retrieval has no judge.
                self._ahead[item.nodeid] = Prefetchable(
                    question=question, home=home if question.is_answered else home[:2] + home[3:]
                )

    @property
    def to_go(self) -> int:
        return len(self._ahead)

    def step(self, item: pytest.Item, question: Question, backends: Backends) -> Step:
        planned = self._ahead.pop(item.nodeid, None)
        if planned is None or planned.question != question:
            return Step(on_demand=self._on_demand.get(item.nodeid, AGAIN))
        begin: tuple[tuple[str, Question], ...] = ()
        if planned.home not in self._begun:
            if "prefetch" in backends.settings.run.disabled:
                return Step(on_demand=SWITCHED_OFF)
            if not backends.are_lasting(self._fixtures.values, judged=question.is_answered):
                return Step(on_demand=NARROW)
            self._begun[planned.home] = (backends, digest := backends.digest)
            same = [planned, *(each for each in self._ahead.values() if each.home == planned.home)]
            if self._fixtures.in_last_item:
                # The last item of a worker prefetches no other item, except the turns of its own conversation.
                unit = conversation_of(question)
                same = [each for each in same if each is planned or (unit and conversation_of(each.question) == unit)]
            begin = tuple((store_key(each.question, digest), each.question) for each in by_conversation(same))
        begun, digest = self._begun[planned.home]
        key = store_key(planned.question, digest)
        return Step(key=key, begin=begin, on_demand="" if begun.same_as(backends) else OTHER_BACKENDS)

    def clear(self) -> None:
        """Forget the questions whose items have not run, because none of these items will."""
        self._ahead.clear()


def _why_not_ahead(item: pytest.Item) -> str:
    if any(map(item.get_closest_marker, ("skip", "skipif"))):
        return MAY_BE_SKIPPED
    callspec = getattr(item, "callspec", None)
    if callspec is not None and callspec.params.keys() != {"rag_question"}:
        return PARAMETRIZED
    if isinstance(item, QuestionItem):
        return ""
    homes = (getattr(item, "module", None), getattr(item, "cls", None))
    own = any(has_fixture(home, name) for home in homes for name in (*BACKEND_FIXTURES, *_CHANGED_BY))
    return OWN_FIXTURES if own or "rag_result" not in getattr(item, "fixturenames", ()) else ""


def _folders_with(conftests: Sequence[Any], fixture: str) -> frozenset[Path]:
    return frozenset(Path(each.__file__).parent for each in conftests if has_fixture(each, fixture))


def _nearest(path: Path, folders: frozenset[Path]) -> Path | None:
    return next((folder for folder in (path, *path.parents) if folder in folders), None)
