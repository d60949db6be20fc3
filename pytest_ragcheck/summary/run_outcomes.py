"""Holds the outcomes of a whole run before aggregation, its gate, and which questions it would have collected."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import Any

from pytest_ragcheck.config.readers import MISSING_QUESTIONS, OTHER_SETTINGS
from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.questions.datasets.registry import is_standard
from pytest_ragcheck.questions.question import QuestionSet
from pytest_ragcheck.rag.documents.uploads import Documents
from pytest_ragcheck.scores import DEFAULT_GROUPS
from pytest_ragcheck.summary.judge_calibration import Agreement
from pytest_ragcheck.verdict.record import Record
from pytest_ragcheck.verdict.verdict import Verdict

COMPARING = ("confirmed", "regression")
"""The gates that compare with saved runs, and ask and judge again if needed."""


@frozen
class GateRules:
    gate: str = "each"
    """`each`, `confirmed`, `regression`, or `rate:R`."""

    tolerance: float = 0.01
    """Drop of a metric's mean that `regression` tolerates, 0..1: D of `regression:D`."""

    false_alarms: float = 0.01
    """Rate of false alarms of `regression`, 0..1."""

    missing: str = "regression"
    """`regression` or `allowed`: the effect of a question that only the baseline has."""

    other_baseline: str = "refuse"
    """`refuse` or `compare`: the treatment of a baseline of other settings."""

    @classmethod
    def of(cls, settings: Settings) -> GateRules:
        rules = gate_and_tolerance(settings.gate.rule) | allowances(settings.gate.baseline_allows)
        return cls(false_alarms=settings.gate.false_alarms, **rules)

    @property
    def lowest_rate(self) -> float | None:
        """The required share of passing questions, 0..1; None for other gates than `rate`."""
        kind, _, rate = self.gate.partition(":")
        return float(rate) if kind == "rate" else None


def gate_and_tolerance(rule: str) -> dict[str, Any]:
    """The fields `gate` and `tolerance` for `rag_gate`; without `tolerance` if the rule names none."""
    gate, _, drop = rule.partition(":")
    if gate != "regression" or not drop:
        return {"gate": rule}
    return {"gate": gate, "tolerance": float(drop)}


def allowances(differences: Collection[str]) -> dict[str, Any]:
    return {
        "missing": "allowed" if MISSING_QUESTIONS in differences else "regression",
        "other_baseline": "compare" if OTHER_SETTINGS in differences else "refuse",
    }


_IN_FILES = ("searched", "left_out", "test_files")

EXPECTED = "expected to fail"
"""The beginning of the reason why an expected FAIL is tolerated."""

PASSED = "its test passed"


@frozen
class Reach:
    """The questions that a run would have collected, as patterns of `DATASET::ID`, with `*` only at their end."""

    searched: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    """The exceptions."""

    test_files: tuple[str, ...] = ()
    """The names of test files; the calls of other files are exceptions too."""

    root: Path = Path()
    """The project's folder, which no file names."""

    @classmethod
    def from_row(cls, row: Mapping[str, Sequence[str]]) -> Reach:
        searched, left_out, test_files = (tuple(row.get(name, ())) for name in _IN_FILES)
        return cls(searched=searched, left_out=left_out, test_files=test_files)

    def to_row(self) -> dict[str, list[str]]:
        return {name: list(found) for name in _IN_FILES if (found := getattr(self, name))}

    def expects(self, dataset_name: str, id: str = "") -> bool:  # noqa: A002 - as in `Question`
        """True if the run would have the question, or without an id the dataset, if it existed."""
        name = f"{dataset_name}::"
        if any(_fits(each, name + id) or (not id and each.startswith(name)) for each in self.left_out):
            return False
        if {f"{name}*", name + id} & {*self.searched}:
            return True
        if is_standard(dataset_name) or self._leaves_test_file_out(dataset_name):
            return False
        return any(_fits(each, name) for each in self.searched)

    def _leaves_test_file_out(self, dataset_name: str) -> bool:
        # True for calls of a test file that `python_files` excludes, as `-o python_files=` does.
        if "[" in dataset_name:  # a test that is marked rag_questions
            return not self.test_files
        path = self.root / f"{dataset_name.replace('__', '/')}.py"
        # Path.is_file raises an error for a name that is too long.
        return os.path.isfile(path) and not any(map(path.match, self.test_files))  # noqa: PTH113 - see above


def _fits(pattern: str, name: str) -> bool:
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


@frozen
class Outcomes:
    agent_name: str
    session_name: str = "session"
    """`dataset_name` of files that hold several datasets."""

    timestamp: datetime
    """The end of the run, with time zone."""

    sets: tuple[QuestionSet, ...]
    """Of deselected questions too, in collection order."""

    records: tuple[Record, ...]
    """Of all questions that ran, in collection order."""

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
    """The name of the replayed recording."""

    excused: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """By identity, why a FAIL did not fail its test: it was expected (xfail), or the test passed."""

    tolerated: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """By identity, the reason why a FAIL does not turn the run red."""

    reach: Reach = field(default_factory=Reach)
    """The questions that are gone if the run lacks them."""

    rules: GateRules = field(default_factory=GateRules)

    baseline: str = ""
    """The name of the baseline with which a shard compared; empty without one."""

    documents: Documents | None = None
    """None without uploads."""

    agreements: tuple[Agreement, ...] = ()
    """Of judges with people, whichever judge the run has."""

    @property
    def dataset_name(self) -> str:
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
