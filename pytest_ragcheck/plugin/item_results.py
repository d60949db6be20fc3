"""Holds the records of a run, and the outcomes that pytest reports for its items."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pytest_ragcheck.questions.collected_questions import CollectedQuestions
from pytest_ragcheck.questions.question import EarlierTurn
from pytest_ragcheck.verdict.record import Record, sharing

if TYPE_CHECKING:
    from pytest_ragcheck.plugin.item_records import Evaluated


@dataclass(slots=True, eq=False)
class ItemResults:
    """The results of the items so far. An item that asks no question has an outcome and no record."""

    questions: CollectedQuestions

    records: dict[tuple[str, str], Record] = field(default_factory=dict)
    """Records by dataset name and question id, in the order of arrival."""

    on_demand: dict[tuple[str, str], str] = field(default_factory=dict)
    """Why a question was not prefetched, by the key of its record; absent if it was."""

    resumed: set[tuple[str, str]] = field(default_factory=set)
    """The keys of records that an earlier run made."""

    skipped: set[str] = field(default_factory=set)
    """Node ids."""

    excused: dict[str, str] = field(default_factory=dict)
    """The reason why a FAIL is no failure, by node id of a test that did not fail."""

    failed: dict[str, str] = field(default_factory=dict)
    """The first line of each failure by node id."""

    own_failures: set[str] = field(default_factory=set)
    """Node ids of the items that an exception of this package ended."""

    over_budget: int = 0
    """The number of items that were skipped because the run had reached its cost limit."""

    no_endpoint: int = 0
    """The number of items that were skipped because the run has no endpoint."""

    _last: Record | None = field(default=None, init=False)
    _called: dict[str, tuple[tuple[str, str], ...]] = field(default_factory=dict, init=False)
    """The keys of the records of `rag_check`, by node id; most items have none."""

    _turns: dict[tuple[str, str], tuple[EarlierTurn, ...]] = field(default_factory=dict, init=False)
    """The earlier turns of the last record, by dataset name and conversation."""

    def add_record(self, evaluated: Evaluated, node_id: str) -> None:
        """Add a record; it replaces an earlier one of the same question."""
        record, key = evaluated.record, evaluated.record.question.key
        self.records[key] = self._last = record if self._last is None else sharing(record, self._last)
        self.on_demand.pop(key, None)
        self.resumed.discard(key)
        if evaluated.on_demand:
            self.on_demand[key] = evaluated.on_demand
        if evaluated.resumed:
            self.resumed.add(key)
        if key != self._own_key(node_id):
            self._called[node_id] = (*self._called.get(node_id, ()), key)

    def with_known_turns(self, record: Record) -> Record:
        """The record with shared objects for equal earlier turns, because every record has all of them."""
        question = record.question
        if not question.history:
            return record
        name = (question.dataset_name, question.conversation)
        known = self._turns.get(name, ())
        shared = [theirs if own == theirs else own for own, theirs in zip(question.history, known, strict=False)]
        self._turns[name] = history = (*shared, *question.history[len(known) :])
        return replace(record, question=replace(question, history=history))

    def forget(self, node_id: str) -> None:
        self.own_failures.discard(node_id)
        for key in self.keys_of(node_id):
            self.records.pop(key, None)
        self._called.pop(node_id, None)

    def keys_of(self, node_id: str) -> tuple[tuple[str, str], ...]:
        own, called = self._own_key(node_id), self._called.get(node_id, ())
        return (own, *called) if own in self.records else called

    def _own_key(self, node_id: str) -> tuple[str, str] | None:
        question = self.questions.selected.get(node_id)
        return None if question is None else question.key
