"""What a whole run came to, before it is counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_ragcheck.metrics.catalogue import DEFAULT_GROUPS
from pytest_ragcheck.summary.terms import Terms
from pytest_ragcheck.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from pytest_ragcheck.documents.outcome import Documents
    from pytest_ragcheck.questions.question import QuestionSet
    from pytest_ragcheck.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """Every question of a run with what became of it."""

    agent_name: str
    session_name: str
    """`dataset_name` of files that hold several datasets."""

    timestamp: datetime
    """When the run ended, with time zone."""

    sets: tuple[QuestionSet, ...]
    """All collected questions, deselected ones too, in collection order."""

    records: tuple[Record, ...]
    """One for each question that was run, in collection order."""

    skipped: Mapping[str, int]
    """How many questions were skipped, by dataset."""

    complete: bool
    """Whether every question of every collected file was run or skipped."""

    thresholds: Mapping[str, float]
    """The run's own thresholds by metric, 0..1; questions may have others."""

    groups: tuple[str, ...] = DEFAULT_GROUPS
    """The groups of metrics that were measured."""

    cut_short: str = ""
    """Why the run may lack questions that nobody counted; empty where it does not."""

    on_demand: Mapping[str, int] = field(default_factory=dict)
    """How many questions were not asked ahead of their items, by reason."""

    shard: tuple[int, int] | None = None
    """Which part of the questions was run, from 1, and of how many; None: all of them."""

    replay_of: str = ""
    """The recording that answers and verdicts are from; empty for a run that asked a system."""

    expected_to_fail: frozenset[tuple[str, str]] = frozenset()
    """Dataset name and id of the questions whose FAIL pytest was told to expect."""

    tolerated: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """By dataset name and id each FAIL that does not turn the run red by itself, and why not."""

    out_of_reach: frozenset[tuple[str, str]] = frozenset()
    """Dataset name and id of what the baseline of a shard has and no shard of the run would meet."""

    terms: Terms = field(default_factory=Terms)
    """What the run is held to as a whole."""

    documents: Documents | None = None
    """What became of the documents that the run put into the system; None where it put none there."""

    @property
    def dataset_name(self) -> str:
        """The only dataset's name, else the session's."""
        return self.sets[0].dataset_name if len(self.sets) == 1 else self.session_name

    @property
    def measured(self) -> tuple[Record, ...]:
        """The records with a PASS or a FAIL."""
        return tuple(record for record in self.records if record.verdict is not Verdict.ERROR)

    @property
    def errors(self) -> tuple[Record, ...]:
        """The records with an ERROR."""
        return tuple(record for record in self.records if record.verdict is Verdict.ERROR)

    @property
    def not_run(self) -> int:
        """How many collected questions were neither run nor skipped: deselected, or the run ended before."""
        return sum(len(s.questions) for s in self.sets) - len(self.records) - sum(self.skipped.values())
