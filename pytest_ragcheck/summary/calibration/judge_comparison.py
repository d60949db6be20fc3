"""Compares judges that scored the same labelled answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.summary.calibration.confusion import Judged
from pytest_ragcheck.summary.calibration.score_intervals import RateEstimate, RateSample, difference

_RANKED_BY = ("balanced_accuracy", "accuracy")
_COMPARED = ("balanced_accuracy", "accuracy", "roc_auc")


@frozen
class ComparedJudge:
    """One of several judges over the answers that all of them scored."""

    estimates: Mapping[str, RateEstimate]
    """`balanced_accuracy accuracy roc_auc`; a rate that is not defined is absent."""

    differences: Mapping[str, RateEstimate]
    """The same rates minus those of the best judge; empty for the best judge."""

    usd: float | None
    """The cost of its judgements in US dollars; None if unknown."""

    as_good: bool
    """True for the best judge, and for a judge that is worse by less than the margin at both ends of the interval."""


@frozen
class JudgeComparison:
    """Judges over the same labelled answers, in the order in which they were given."""

    n: int
    """Answers that all judges scored, >= 1."""

    ranked_by: str
    """The rate that decides: `balanced_accuracy`, or `accuracy` if people rate all answers alike."""

    margin: float
    """How much worse a judge may be that still counts as equally good, 0..1."""

    judges: Sequence[ComparedJudge]
    best: int
    """Index of the judge with the highest rate, the first of equals."""

    @property
    def cheapest(self) -> int | None:
        """Index of the cheapest judge that is `as_good`; None if the cost of one of these is unknown."""
        costs = {index: judge.usd for index, judge in enumerate(self.judges) if judge.as_good}
        known = {index: usd for index, usd in costs.items() if usd is not None}
        if len(known) < len(costs):
            # Nothing is cheaper than a judge without cost.
            known = {index: usd for index, usd in known.items() if usd == 0}
        return min(known, key=lambda index: (known[index], index != self.best)) if known else None


def compare_judges(
    judged: Sequence[Mapping[int, Judged]], usd: Sequence[float | None], *, threshold: float, margin: float
) -> JudgeComparison:
    """
    The comparison over the answers that all judges scored.

    *judged* has the scored answers of each of two or more judges, by row number in the file. A judge that is worse by
    at most *margin*, 0..1, counts as equally good.

    Raises:
        UsageError: No answer was scored by all judges.
    """
    common = sorted(set.intersection(*map(set, judged)))
    if not common:
        raise UsageError("no answer was scored by all judges, so they cannot be compared. Name judges of this score.")
    samples = [RateSample([rows[number] for number in common], threshold) for rows in judged]
    ranked_by = next(name for name in _RANKED_BY if name in samples[0].values)
    best = max(range(len(samples)), key=lambda index: (samples[index].values[ranked_by], -index))
    compared: list[ComparedJudge] = []
    for index, sample in enumerate(samples):
        names = [name for name in _COMPARED if name in sample.values]
        differences = {} if index == best else {name: difference(sample, samples[best], name) for name in names}
        compared.append(
            ComparedJudge(
                estimates={name: sample.estimate(name) for name in names},
                differences=differences,
                usd=usd[index],
                as_good=index == best or differences[ranked_by].low >= -margin,
            )
        )
    return JudgeComparison(n=len(common), ranked_by=ranked_by, margin=margin, judges=compared, best=best)
