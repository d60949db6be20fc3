"""Decides for each item whether its question is prefetched, and which questions begin with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.engine.conversation import by_conversation, conversation_of
from pytest_ragcheck.engine.fingerprint import store_key
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.plugin.asking.plan import AGAIN, NARROW, OTHER_BACKENDS, Backends, FixtureHome, Plan

if TYPE_CHECKING:
    import pytest

    from pytest_ragcheck.plugin.asking.live_fixtures import LiveFixtures
    from pytest_ragcheck.questions.question import Question


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

    def __init__(self, plan: Plan, fixtures: LiveFixtures) -> None:
        self._ahead = plan.ahead
        self._on_demand = plan.on_demand
        self._fixtures = fixtures
        self._begun: dict[FixtureHome, tuple[Backends, str]] = {}

    @property
    def to_go(self) -> int:
        return len(self._ahead)

    def step(self, item: pytest.Item, question: Question, backends: Backends) -> Step:
        planned = self._ahead.pop(item.nodeid, None)
        if planned is None or planned.question != question:
            return Step(on_demand=self._on_demand.get(item.nodeid, AGAIN))
        begin: tuple[tuple[str, Question], ...] = ()
        if planned.home not in self._begun and backends.are_lasting(self._fixtures.values, judged=question.is_answered):
            self._begun[planned.home] = (backends, digest := backends.digest)
            same = [planned, *(each for each in self._ahead.values() if each.home == planned.home)]
            if self._fixtures.in_last_item:
                # The last item of a worker prefetches no other item, except the turns of its own conversation.
                unit = conversation_of(question)
                same = [each for each in same if each is planned or (unit and conversation_of(each.question) == unit)]
            for each in same:
                each.key = store_key(each.question, digest)
            begin = tuple((each.key, each.question) for each in by_conversation(same))
        if planned.home not in self._begun:
            return Step(on_demand=NARROW)
        begun, digest = self._begun[planned.home]
        key = planned.key or store_key(question, digest)
        return Step(key=key, begin=begin, on_demand="" if begun.same_as(backends) else OTHER_BACKENDS)

    def clear(self) -> None:
        """Forget the questions whose items have not run, because none of these items will."""
        self._ahead.clear()
