"""Holds the questions and results of a run, in each of its processes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.frozen import frozen

if TYPE_CHECKING:
    from pytest_ragcheck.questions.collected_questions import CollectedQuestions
    from pytest_ragcheck.questions.question import EarlierTurn
    from pytest_ragcheck.rag.documents.uploads import Documents
    from pytest_ragcheck.summary.gate.gate_decision import Decision
    from pytest_ragcheck.verdict.record import Record


@frozen
class Evaluated:
    record: Record
    on_demand: str = ""
    """Why the question was not prefetched; empty if it was."""

    resumed: bool = False
    """True if the record is one of an earlier run."""


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
        from pytest_ragcheck.verdict.record import sharing

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
        # Every record has all earlier turns, so equal ones are shared.
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


GATE_ID = "ragcheck::gate"
"""The node id of the item that fails if the gate is red."""

OVER_BUDGET = "--rag-max-cost"
"""Part of the reason why an item is skipped when the run has reached its cost limit."""


@dataclass(slots=True, eq=False)
class GateOutcome:
    """The decision of the gate and its lines in the report; empty without a gate."""

    decision: Decision | None = None
    """None if the run was stopped before its end."""

    lines: list[str] = field(default_factory=list)
    headline: str | None = None
    """Why the run as a whole is red, in one line; empty if it is not; None without a decision."""


@dataclass(slots=True, eq=False)
class Run:
    """The questions of a run and their results so far, in a worker or in the process that writes the files."""

    questions: CollectedQuestions
    results: ItemResults
    gate: GateOutcome = field(default_factory=GateOutcome)

    documents: Documents | None = None
    sent: bool = False
    """True in a worker that has sent its questions to the controller."""

    begun: bool = False
    """True if a process of the run has set up a question."""

    callers: set[tuple[str, str]] = field(default_factory=set)
    """`caller_of` for each test that uses `rag_check` and is selected, here or in another shard."""

    cut_short: str = ""
    """Why some questions may be missing, such as calls of deselected tests; empty if none can be."""

    unfinished: str = ""
    """Why pytest did not run all items; empty if it did."""

    judge_problem: str = ""
    """Why the judge cannot be used; empty if it can."""

    notes: list[str] = field(default_factory=list)
    """Messages for the end of the terminal report, without repetitions."""

    queued_notes: list[str] = field(default_factory=list)
    """Notes of this process that no report has taken yet."""

    @property
    def stopped(self) -> str:
        """Why selected questions did not run, which turns the run red; empty if all ran."""
        if self.results.over_budget:
            return f"{OVER_BUDGET} was reached"
        if self.results.own_failures:
            return "pytest-ragcheck itself failed"
        return self.unfinished

    def to_json(self) -> str:
        """The collected questions as one ASCII JSON string for the controller."""
        self.sent = True
        return json.dumps({**self.questions.to_wire(), "cut_short": self.cut_short, "callers": sorted(self.callers)})

    def merge(self, text: str) -> None:
        wire = json.loads(text)
        self.questions.merge(wire)
        self.cut_short = self.cut_short or wire["cut_short"]
        self.callers |= set(map(tuple, wire["callers"]))

    def queue_note(self, note: str) -> None:
        """Queue a message for the end of the terminal report, which another process may write."""
        if note not in self.queued_notes:
            self.queued_notes.append(note)

    def add_notes(self, notes: Iterable[str]) -> None:
        self.notes += [note for note in dict.fromkeys(notes) if note not in self.notes]

    @property
    def ran(self) -> bool:
        """True if any question was asked, or would have been if the run had not been stopped."""
        if self.begun and self.unfinished:
            return True
        results = self.results
        failed = self.questions.asked.keys() & results.failed
        return bool(results.records or results.over_budget or failed)


RUN: pytest.StashKey[Run] = pytest.StashKey()
"""Absent in a run without questions."""


def run_of(config: pytest.Config) -> Run:
    if RUN not in config.stash:
        # A pytest run without questions does not pay for these imports.
        from pytest_ragcheck.plugin.workers import own_suffix
        from pytest_ragcheck.questions.collected_questions import CollectedQuestions

        questions = CollectedQuestions(config.rootpath, suffix=own_suffix(config))
        config.stash[RUN] = Run(questions, ItemResults(questions))
    return config.stash[RUN]


def begin_run(config: pytest.Config) -> None:
    """Record that the first question of the process is set up; a worker sends its questions to the controller."""
    run = config.stash.get(RUN, None)
    if run is None or run.begun:
        return
    run.begun = True
    if hasattr(config, "workerinput"):
        from pytest_ragcheck.plugin.workers import BEGUN, send

        # Under --dist each, every worker has questions of its own, with its suffix.
        send(config, BEGUN, run.to_json(), mark=f"{BEGUN}{run.questions.suffix}")
    else:
        from pytest_ragcheck.plugin.guests.interruption import end_cleanly_on_sigterm

        end_cleanly_on_sigterm(config)


_RECORDS: pytest.StashKey[dict[pytest.Item, list[Evaluated]]] = pytest.StashKey()
"""The new records of the items that are running; pytest keeps the stash of each item until the end of the run."""


def keep_record(item: pytest.Item, evaluated: Evaluated) -> None:
    item.config.stash.setdefault(_RECORDS, {}).setdefault(item, []).append(evaluated)


def has_records(item: pytest.Item) -> bool:
    return item in item.config.stash.get(_RECORDS, {})


def take_records(item: pytest.Item) -> list[Evaluated]:
    """Return the records that no report has taken yet, and forget them."""
    kept = item.config.stash.get(_RECORDS, {}).get(item, [])
    taken = kept.copy()
    kept.clear()
    return taken


def forget_records(item: pytest.Item) -> None:
    item.config.stash.get(_RECORDS, {}).pop(item, None)


def turn_red(session: pytest.Session) -> None:
    """Have a green run end with the exit status of failed tests."""
    session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
