"""Holds the outcomes of a whole run before aggregation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.questions.question import QuestionSet
from pytest_ragcheck.rag.documents.uploads import Documents
from pytest_ragcheck.scores.catalogue import DEFAULT_GROUPS
from pytest_ragcheck.summary.calibration.agreement import Agreement
from pytest_ragcheck.summary.gate_rules import GateRules
from pytest_ragcheck.summary.reach import Reach
from pytest_ragcheck.verdict.record import Record
from pytest_ragcheck.verdict.verdict import Verdict

EXPECTED = "expected to fail"
"""The beginning of the reason why an expected FAIL is tolerated."""

PASSED = "its test passed"


@frozen
class Outcomes:
    agent_name: str
    session_name: str = "session"
    """`dataset_name` of files that hold several datasets."""

    timestamp: datetime
    """The end of the run, with time zone."""

    sets: tuple[QuestionSet, ...]
    """All collected questions, deselected ones too, in collection order."""

    records: tuple[Record, ...]
    """The records of all questions that ran, in collection order."""

    skipped: Mapping[str, int]
    """The number of skipped questions by dataset."""

    complete: bool
    """True if every question of every collected file ran or was skipped."""

    thresholds: Mapping[str, float]
    """The run's own thresholds by metric, 0..1; questions may have others."""

    groups: tuple[str, ...] = DEFAULT_GROUPS

    settings: Mapping[str, str] = field(default_factory=dict)
    """The fingerprint."""

    cut_short: str = ""
    """The reason why uncounted questions may be missing; empty for a complete collection."""

    stopped: str = ""
    """The reason why selected questions did not run, which turns the run red; empty if all ran."""

    failed_otherwise: tuple[str, ...] = ()
    """Node ids of failed items without a FAIL or an ERROR: ordinary tests, and tests with further assertions."""

    on_demand: Mapping[str, int] = field(default_factory=dict)
    """The number of questions that were not prefetched, by reason."""

    shard: tuple[int, int] | None = None
    """The shard that ran, from 1, and the number of shards; None for all questions."""

    replay_of: str = ""
    """The name of the replayed recording; empty for a run that asked a system."""

    excused: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """By identity, why a FAIL did not fail its test: it was expected (xfail), or the test passed."""

    tolerated: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """By identity, the reason why a FAIL does not turn the run red."""

    reach: Reach = field(default_factory=Reach)
    """The questions that are gone if the run lacks them."""

    rules: GateRules = field(default_factory=GateRules)

    documents: Documents | None = None
    """None without uploads."""

    agreements: tuple[Agreement, ...] = ()
    """The measured agreement of judges with people, whichever judge the run has."""

    @property
    def dataset_name(self) -> str:
        """The only dataset's name, else the session's."""
        return self.sets[0].dataset_name if len(self.sets) == 1 else self.session_name

    @property
    def measured(self) -> tuple[Record, ...]:
        return tuple(record for record in self.records if record.verdict is not Verdict.ERROR)

    @property
    def errors(self) -> tuple[Record, ...]:
        return tuple(record for record in self.records if record.verdict is Verdict.ERROR)

    @property
    def not_run(self) -> int:
        """The number of collected questions that neither ran nor were skipped."""
        return sum(len(s.questions) for s in self.sets) - len(self.records) - sum(self.skipped.values())
