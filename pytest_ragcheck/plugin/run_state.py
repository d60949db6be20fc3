from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_ragcheck.plugin.item_results import ItemResults
    from pytest_ragcheck.questions.collected_questions import CollectedQuestions
    from pytest_ragcheck.rag.documents.uploads import Documents
    from pytest_ragcheck.summary.gate.gate_decision import Decision

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
    """True if a process of the run has asked a question."""

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
    """Return the run of the process, and start it at the first call."""
    if RUN not in config.stash:
        # A pytest run without questions does not pay for these imports.
        from pytest_ragcheck.plugin.item_results import ItemResults
        from pytest_ragcheck.plugin.workers import own_suffix
        from pytest_ragcheck.questions.collected_questions import CollectedQuestions

        questions = CollectedQuestions(config.rootpath, suffix=own_suffix(config))
        config.stash[RUN] = Run(questions, ItemResults(questions))
    return config.stash[RUN]


def begin_run(config: pytest.Config) -> None:
    """Record that the process asks its first question; a worker sends the collected questions to the controller."""
    run = config.stash.get(RUN, None)
    if run is None:
        return
    run.begun = True
    if hasattr(config, "workerinput"):
        from pytest_ragcheck.plugin.workers import BEGUN, send

        # Under --dist each, every worker has questions of its own, with its suffix.
        send(config, BEGUN, run.to_json(), mark=f"{BEGUN}{run.questions.suffix}")
