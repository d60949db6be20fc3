"""What a whole run is held to, and whether it holds: the same for a run of pytest's, for shards and for files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_ragcheck.summary.regression import Regression, regression
from pytest_ragcheck.summary.sameness import differences
from pytest_ragcheck.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_ragcheck.record import Record
    from pytest_ragcheck.summary.baseline import Baseline, BaselineRow
    from pytest_ragcheck.summary.comparison import Comparison
    from pytest_ragcheck.summary.outcomes import Outcomes
    from pytest_ragcheck.summary.terms import Terms


Key = tuple[str, str]
"""Dataset name and id of a question."""

EXPECTED = "expected to fail"
"""Why a FAIL is tolerated of which pytest was told, by a mark or in the question's file, to expect it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How many questions passed, of those that gate."""

    passed: int
    failed: int
    lowest: float
    """The share that has to pass, 0..1."""

    @property
    def is_too_low(self) -> bool:
        """Never where no question has a verdict."""
        n = self.passed + self.failed
        return bool(n) and self.passed / n < self.lowest


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the gate makes of a run."""

    terms: Terms
    comparison: Comparison | None
    """With the baseline; None where there is none."""

    otherwise: tuple[str, ...] = ()
    """Why the baseline is refused; empty where it is not."""

    weighed: Regression | None = None
    """Under the gate `regression`, of a baseline that is not refused."""

    rate: Rate | None = None
    """Under the gate `rate`."""

    @property
    def baseline_red(self) -> bool:
        """Whether what the baseline says turns the run red."""
        if self.comparison is None:
            return False
        if self.weighed is not None:
            return self.weighed.worse or bool(self.comparison.lost)
        # Under a rate the comparison is for the reader.
        return bool(self.otherwise) or (self.terms.gate == "each" and self.comparison.worse)

    @property
    def held(self) -> frozenset[Key]:
        """The questions for which the gate is red, by their own dataset name and id."""
        if not self.baseline_red or self.comparison is None or self.otherwise:
            return frozenset()
        changes = self.comparison.newly_failing
        if self.weighed is not None:
            changes = (*self.weighed.certain, *self.weighed.together, *self.weighed.unanswered)
        return frozenset((change.now.question.dataset_name, change.now.question.id) for change in changes)

    @property
    def red(self) -> bool:
        """Whether the run as a whole is red; single questions may be red by themselves."""
        return self.baseline_red or (self.rate is not None and self.rate.is_too_low)


def decide(outcomes: Outcomes, comparison: Comparison | None, terms: Terms) -> Decision:
    """
    What the gate makes of the run.

    Args:
        outcomes: Of the whole run.
        comparison: Of the same, where it has a baseline; the gate `regression` has one.
        terms: What it is held to.
    """
    otherwise: tuple[str, ...] = ()
    weighed = None
    if comparison is not None and terms.other_baseline == "refuse":
        otherwise = differences(comparison)
    if comparison is not None and terms.gate == "regression" and not otherwise:
        weighed = regression(comparison, error_rate=terms.false_alarms, tolerance=terms.tolerance)
    return Decision(
        terms=terms, comparison=comparison, otherwise=otherwise, weighed=weighed, rate=_rate(outcomes, terms)
    )


def why_tolerated(record: Record, terms: Terms, before: BaselineRow | None, *, baseline: str) -> str:
    """
    Why a FAIL is not held against its question; empty where it is.

    Args:
        record: A FAIL.
        terms: What the run is held to.
        before: What the baseline says of the question; None where it says nothing.
        baseline: How texts call the baseline.
    """
    if record.question.quarantine is not None:
        return f"in quarantine: {record.question.quarantine}"
    if terms.lowest_rate is not None:
        return f"the gate is {terms.gate}"
    if terms.gate != "regression" or before is None:
        return ""
    if before.verdict is not Verdict.PASS:
        return f"{before.verdict.value} in {baseline} too"
    again = ", ".join(record.asked_again)
    return f"PASS in {baseline}: the gate decides{f' (asked again: {again})' if again else ''}"


def tolerated(
    outcomes: Outcomes, terms: Terms, baseline: Baseline | None, *, clean: Callable[[str], str]
) -> dict[Key, str]:
    """
    By dataset name and id each FAIL that does not turn a run red by itself, and why not.

    Args:
        outcomes: Of the run.
        terms: What it is held to.
        baseline: What it is compared with; None where it is compared with nothing.
        clean: Takes secrets out of a text, as was done with the texts of the baseline.
    """
    found = {}
    for record in outcomes.measured:
        question = record.question
        key = question.dataset_name, question.id
        if record.verdict is Verdict.PASS:
            continue
        before = baseline.rows.get((clean(question.dataset_name), clean(question.id))) if baseline is not None else None
        why = why_tolerated(record, terms, before, baseline=baseline.name if baseline is not None else "")
        if why := why or (EXPECTED if key in outcomes.expected_to_fail else ""):
            found[key] = why
    return found


def red_by_themselves(outcomes: Outcomes) -> list[Record]:
    """The records that turn a run red whatever its gate decides: each ERROR, and each FAIL that is not tolerated."""
    return [
        record
        for record in outcomes.records
        if record.verdict is Verdict.ERROR
        or (
            record.verdict is Verdict.FAIL
            and (record.question.dataset_name, record.question.id) not in outcomes.tolerated
        )
    ]


def _rate(outcomes: Outcomes, terms: Terms) -> Rate | None:
    if terms.lowest_rate is None:
        return None
    verdicts = [record.verdict for record in outcomes.measured if record.question.quarantine is None]
    passed = verdicts.count(Verdict.PASS)
    return Rate(passed=passed, failed=len(verdicts) - passed, lowest=terms.lowest_rate)
