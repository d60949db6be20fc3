"""Holds the findings of the gate: the candidates with their outcomes, the count test, and the mean test."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.summary.gate.procedure.compared_question import ComparedQuestion, Key


class Outcome(Enum):
    """
    Outcome of a candidate: a question that passed in the latest saved run and fails today.

    The values are the titles of the groups in the report, in their order.
    """

    CONFIRMED = "confirmed as failing"
    NOT_MEASURED = "not fully examined"
    JUDGE_STRICTER = "judged stricter today"
    NOT_WORSE = "passed or not worse side by side"
    PASSED_AGAIN = "passed when asked again"


@frozen
class SideBySide:
    """New judgements of the recorded and of the new answers, each as its lowest margin over the asserted metrics."""

    recorded: tuple[float, ...]
    """Margins of the recorded answers; below 0 for a FAIL by today's judge."""

    new: tuple[float, ...]
    p: float
    """Chance of a difference this large if the new answers are no worse, 0..1; 0.0 for a deterministic judge."""

    worse: bool
    """True if the new answers are worse, and most of their judgements are a FAIL."""


@frozen
class Examined:
    """A compared question with its further looks and its side-by-side judgement, if the decision needed them."""

    question: ComparedQuestion
    outcome: Outcome | None = None
    """None if the question is not a candidate."""

    side_by_side: SideBySide | None = None
    """None without a side-by-side judgement: no candidate, passed again, or no texts to judge."""

    improved: bool = False
    """True if exactly one saved run failed in all looks, and is worse side by side than the others and today."""

    @property
    def confirmed(self) -> bool:
        return self.outcome is Outcome.CONFIRMED


@frozen
class CountFinding:
    known_runs: int
    """The fewest saved runs of a unit that broke in exactly one run, else the median of all questions; >= 1."""

    unit: str
    """`question`, or `document` if the noise is shared within documents."""

    n_units: int
    broken: int
    """Units that broke today and in no saved run."""

    improved: int
    """Units that broke in exactly one saved run and not today."""

    needed: int | None
    """Broken units that turn the run red, given `improved`; None if fewer passed in all saved runs."""

    p: float
    """Chance of as large a share of broken units if today is a run like the saved ones, 0..1."""

    red: bool
    floor: int | None
    """
    Number of broken questions that turns the run red without a test; None if fewer passed in the latest saved run.
    Questions are counted one by one here, even if documents are the units.
    """

    floor_red: bool


@frozen
class MetricDrop:
    """One asserted metric over the questions whose answers were judged today; the others count as unchanged."""

    metric: str
    drop: float
    """Mean of the saved runs minus the mean of today, over all questions that assert the metric."""

    p: float


@frozen
class MeanFinding:
    n_changed: int
    """Number of questions with asserted metrics whose answers differ between runs and were all judged today."""

    drop: float
    """Mean of the saved runs minus the mean of today, of the questions' means over their asserted metrics."""

    p: float
    """Chance of a drop this large if today is a run like the saved ones, 0..1."""

    metrics: tuple[MetricDrop, ...]
    """The metrics whose drop exceeds the tolerance and is significant; empty if the run is not red."""

    red: bool
    visible_drop: float | None
    """The drop that turns about four of five runs red, with as many changed answers; None if no drop can."""

    differences: Mapping[Key, float]
    """Value of today minus the mean of the saved runs, for each judged question."""


@frozen
class GateFindings:
    """The findings of the procedure, for the decision, the report and the result files."""

    gate: str
    """The procedure that decided: `confirmed` or `regression`; `confirmed` for a small set under `regression`."""

    examined: tuple[Examined, ...]

    count: CountFinding | None
    """None under `confirmed`."""

    mean: MeanFinding | None
    """None under `confirmed`, if too few answers changed to reach significance, or without judgements."""

    documents_share_noise: bool = False
    """True if the differences correlate within documents of the contexts that no question file names."""

    fails_by_day: tuple[Key, ...] = ()
    """Questions that failed all looks of one saved run and passed in another."""

    @property
    def candidates(self) -> tuple[Examined, ...]:
        return tuple(each for each in self.examined if each.outcome is not None)

    @property
    def confirmed(self) -> tuple[Key, ...]:
        return tuple(each.question.key for each in self.examined if each.confirmed)

    @property
    def not_measured(self) -> tuple[Key, ...]:
        """The candidates that could not be asked again or judged; each is an ERROR, not a regression."""
        return tuple(each.question.key for each in self.examined if each.outcome is Outcome.NOT_MEASURED)

    @property
    def red(self) -> bool:
        if self.gate == "confirmed":
            return bool(self.confirmed)
        counted = self.count is not None and (self.count.red or self.count.floor_red)
        return counted or (self.mean is not None and self.mean.red)
