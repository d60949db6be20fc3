"""Compares judges with people's labels and with each other, and reads the agreements that calibrations wrote."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.judgement import JudgeIdentity
from pytest_ragcheck.summary.judge_rates import (
    Confusion,
    Judged,
    RateEstimate,
    RateSample,
    confusion,
    difference,
)

_RANKED_BY = ("balanced_accuracy", "accuracy")
_COMPARED = (*_RANKED_BY, "roc_auc")


@frozen
class CurvePoint:
    threshold: float | None
    """None for one above every score."""

    tpr: float
    fpr: float
    """Share of the bad answers that pass, 0..1."""


@frozen
class Calibration:
    n: int
    n_good: int
    n_groups: int
    threshold: float
    """The lowest score that passes, 0..1."""

    confusion: Confusion
    estimates: Mapping[str, RateEstimate]
    """`accuracy balanced_accuracy tpr tnr kappa roc_auc`; an undefined rate is absent."""

    best_threshold: float | None
    """The threshold with the highest balanced accuracy on these answers; None if undefined."""

    at_best: Confusion | None

    curve: tuple[CurvePoint, ...]
    """The ROC curve from (0, 0) to (1, 1); empty if people rate all answers alike."""


def calibrate(judged: Sequence[Judged], *, threshold: float) -> Calibration:
    """The agreement of the scores with the labels of >= 1 answer; *threshold* is the lowest score that passes, 0..1."""
    best = _best_threshold(judged, threshold)
    sample = RateSample(judged, threshold)
    return Calibration(
        n=len(judged),
        n_good=sum(row.good for row in judged),
        n_groups=len({row.group for row in judged}),
        threshold=threshold,
        confusion=confusion(judged, threshold),
        estimates={name: sample.estimate(name) for name in sample.values},
        best_threshold=best,
        at_best=None if best is None else confusion(judged, best),
        curve=tuple(_curve(judged)),
    )


def _curve(judged: Sequence[Judged]) -> Iterable[CurvePoint]:
    n_good = sum(row.good for row in judged)
    n_bad = len(judged) - n_good
    if not n_good or not n_bad:
        return
    good = bad = 0
    yield CurvePoint(threshold=None, tpr=0.0, fpr=0.0)
    for score, rows in groupby(sorted(judged, key=lambda row: -row.score), key=lambda row: row.score):
        labels = [row.good for row in rows]
        good += sum(labels)
        bad += len(labels) - sum(labels)
        yield CurvePoint(threshold=score, tpr=good / n_good, fpr=bad / n_bad)


def _best_threshold(judged: Sequence[Judged], current: float) -> float | None:
    # Halfway between two scores, the nearest to *current* among equals. Equal gains may differ in the last digit.
    gains = [(p.threshold, round(p.tpr - p.fpr, 12)) for p in _curve(judged) if p.threshold is not None]
    if not gains:
        return None
    most = max(gain for _, gain in gains)
    lower = [*(threshold for threshold, _ in gains[1:]), 0.0]
    found = [(high + low) / 2 for (high, gain), low in zip(gains, lower, strict=True) if gain == most]
    return min(found, key=lambda threshold: abs(threshold - current))


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


@frozen
class Agreement:
    path: Path
    score: str

    judge: JudgeIdentity
    n: int
    """The number of answers, >= 1."""

    accuracy: float
    """Share of right verdicts at `threshold`, 0..1."""

    balanced_accuracy: float | None
    """Mean over the good and the bad answers, 0..1; None with one kind only."""

    threshold: float
    """0..1."""


def read_agreements(paths: Iterable[Path]) -> tuple[Agreement, ...]:
    """
    The agreements in the files.

    Raises:
        UsageError: A file is not from `ragcheck calibrate --output`, or two have the same score and judge.
    """
    found: list[Agreement] = []
    for agreement in chain.from_iterable(map(_read, paths)):
        for other in found:
            if (other.score, other.judge) == (agreement.score, agreement.judge):
                raise UsageError(
                    f"rag_calibration: {other.path} and {agreement.path} are both of {agreement.score} by the same "
                    "judge. Name one of them."
                )
        found.append(agreement)
    return tuple(found)


def agreements_of(agreements: Iterable[Agreement], judges: Sequence[JudgeIdentity]) -> dict[str, Agreement]:
    """The agreement of the run's judge by score; empty for a run with several judges."""
    return {each.score: each for each in agreements if [each.judge] == list(judges)}


def _read(path: Path) -> list[Agreement]:
    try:
        document: Any = json.loads(path.read_bytes())
        return [agreement_of(path, each) for each in document.get("judges", [document])]
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        problem = "is not what ragcheck calibrate writes"
    raise UsageError(
        f"rag_calibration: {path} {problem}. Make it with: ragcheck calibrate LABELLED.jsonl --output {path}"
    )


def agreement_of(path: Path, document: Any) -> Agreement:
    balanced = document.get("balanced_accuracy")
    return Agreement(
        path=path,
        score=str(document["score"]),
        judge=JudgeIdentity(**document["judge"]),
        n=int(document["n"]),
        accuracy=float(document["accuracy"]),
        balanced_accuracy=None if balanced is None else float(balanced),
        threshold=float(document["threshold"]),
    )
