"""`Comparison` -> `Regression`: which of what became worse is more than noise."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_ragcheck.metrics.catalogue import ABSTAINED
from pytest_ragcheck.summary.looks import LOOKS_AGAIN, looks
from pytest_ragcheck.summary.sign_flips import detectable_drop, drop_p, holm
from pytest_ragcheck.summary.streaks import Streak, alone_p, can_be_seen, clearly_broken, together_p
from pytest_ragcheck.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.summary.comparison import Change, Comparison

_FLIPS, _ONE, _SEVERAL = "flips", "a stable question", "stable questions"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanChange:
    """One metric's mean before and now, over the questions that have both."""

    metric: str
    before: float
    now: float
    n: int
    """How many questions have both, >= 1."""

    p: float
    """The chance of such a drop with nothing changed, 0..1, by itself."""

    detectable: float | None
    """The drop that would be seen in 80 of 100 such runs; None where nothing varies."""

    dropped: bool
    """Whether it dropped by more than the tolerance, and by more than chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Regression:
    """What of a comparison is held against the run, and what is not."""

    comparison: Comparison
    dropped: tuple[MeanChange, ...]
    means: tuple[MeanChange, ...]
    """Of every metric that was measured before and now."""

    certain: tuple[Change, ...]
    """Newly failing each time they were asked, and known never to fail before: each alone, or several together."""

    together: tuple[Change, ...]
    """Newly failing each time they were asked, and too many of them for chance; else empty."""

    suspects: tuple[Change, ...]
    """Newly failing, and not held against the run."""

    unanswered: tuple[Change, ...]
    """Newly failing, and an ERROR when they were asked again."""

    up: int
    """How many questions newly pass."""

    flips_p: float
    """The chance of flips so one-sided with nothing changed, 0..1."""

    @property
    def worse(self) -> bool:
        """Whether the questions or the means turn the gate red; what is missing is another matter."""
        return bool(self.dropped or self.certain or self.together or self.unanswered)


def regression(comparison: Comparison, *, error_rate: float, tolerance: float) -> Regression:
    """
    The comparison, weighed.

    Args:
        comparison: Its newly failing questions were asked again: see `Record.asked_again`.
        error_rate: How often any of the tests may be significant with nothing changed, 0..1.
        tolerance: By how much a mean may drop, 0..1.
    """
    compared = [change for change in comparison.compared if counts(change)]
    newly_failing = [change for change in comparison.newly_failing if counts(change)]
    up = [change for change in comparison.newly_passing if counts(change) and change.before.verdict is Verdict.FAIL]
    unanswered = [change for change in newly_failing if Verdict.ERROR.value in change.now.asked_again]
    confirmed = [change for change in newly_failing if set(change.now.asked_again) <= {Verdict.FAIL.value}]
    unit_of = _units([change.now.question for change in compared])
    flips = [(change, -1.0) for change in confirmed] + [(change, 1.0) for change in up]
    streaks = _streaks(compared, confirmed, unit_of)
    pairs = _pairs(compared)
    p_values = {
        _FLIPS: drop_p(_summed(flips, unit_of)),
        **_p_values_of_streaks(list(streaks.values()), error_rate),
        **{metric: drop_p(_summed(_differences(of), unit_of)) for metric, of in pairs.items()},
    }
    significant = holm(p_values, error_rate)
    level = error_rate / len(p_values)
    means = tuple(
        _mean_change(
            metric, of, unit_of, level=level, p=p_values[metric], tolerance=tolerance, significant=significant[metric]
        )
        for metric, of in pairs.items()
    )
    # Of single ones only those at the strictest level: the further ones are for other tests.
    broken = clearly_broken(streaks, level=level, several=significant.get(_SEVERAL, False))
    certain = [change for change in confirmed if change.before.key in broken]
    together = confirmed if significant[_FLIPS] else []
    held = {change.before.key for change in (*certain, *together, *unanswered)}
    return Regression(
        comparison=comparison,
        dropped=tuple(mean for mean in means if mean.dropped),
        means=means,
        certain=tuple(certain),
        together=tuple(change for change in together if change not in certain),
        suspects=tuple(change for change in newly_failing if change.before.key not in held),
        unanswered=tuple(unanswered),
        up=len(up),
        flips_p=p_values[_FLIPS],
    )


def counts(change: Change) -> bool:
    """Whether the question is one that the gate looks at: one in quarantine is not."""
    return change.now.question.quarantine is None


def _streaks(
    compared: Iterable[Change], confirmed: Iterable[Change], unit_of: Mapping[tuple[str, str], int]
) -> dict[tuple[str, str], Streak]:
    """By identity in the baseline, of the questions that it has looked at."""
    fails_now = {change.before.key for change in confirmed}
    found = {}
    for change in compared:
        before, now = change.before, change.now
        passes, fails = looks(now.verdict, now.repeated, now.thresholds)
        broke = before.key in fails_now and bool(before.passes) and not before.fails and not passes
        if before.looks:
            found[before.key] = Streak(
                unit=unit_of[now.question.dataset_name, now.question.id],
                before=before.looks,
                now=passes + fails + (len(now.asked_again) if broke else LOOKS_AGAIN),
                broke=broke,
            )
    return found


def _p_values_of_streaks(streaks: Sequence[Streak], error_rate: float) -> dict[str, float]:
    """A test that can see nothing, for want of a history, is none, and takes no error rate from the others."""
    sees_one, sees_several = can_be_seen(streaks, error_rate)
    alone = alone_p(streaks)
    one = {_ONE: min((alone[streak.bound] for streak in streaks if streak.broke), default=1.0)}
    several = {_SEVERAL: together_p(streaks)}
    return {**(one if sees_one else {}), **(several if sees_several else {})}


def _pairs(compared: Iterable[Change]) -> dict[str, list[tuple[Change, float, float]]]:
    """By metric its values before and now, where there are both; with an abstention it is not said what is better."""
    found: dict[str, list[tuple[Change, float, float]]] = defaultdict(list)
    for change in compared:
        for metric, before in change.before.metrics.items():
            score = change.now.scores.get(metric)
            if metric != ABSTAINED and score is not None and score.value is not None:
                found[metric].append((change, before, score.value))
    return found


def _differences(of: Iterable[tuple[Change, float, float]]) -> list[tuple[Change, float]]:
    return [(change, now - before) for change, before, now in of]


def _mean_change(
    metric: str,
    of: Sequence[tuple[Change, float, float]],
    unit_of: Mapping[tuple[str, str], int],
    *,
    level: float,
    p: float,
    tolerance: float,
    significant: bool,
) -> MeanChange:
    n = len(of)
    before = math.fsum(before for _, before, _ in of) / n
    now = math.fsum(now for _, _, now in of) / n
    detectable = detectable_drop(_summed(_differences(of), unit_of), n, level)
    return MeanChange(
        metric=metric,
        before=before,
        now=now,
        n=n,
        p=p,
        detectable=detectable and max(detectable, tolerance),
        dropped=significant and before - now > tolerance,
    )


def _units(questions: Iterable[Question]) -> dict[tuple[str, str], int]:
    """By question the number of its unit: those that share a document, directly or by others, are one."""
    parent: list[int] = []

    def root(unit: int) -> int:
        while parent[unit] != unit:
            unit = parent[unit]
        return unit

    units: dict[tuple[str, str], int] = {}
    first: dict[tuple[str, str], int] = {}
    for question in questions:
        unit = len(parent)
        parent.append(unit)
        units[question.dataset_name, question.id] = unit
        for passage in question.gold_passages:
            known = first.setdefault((question.dataset_name, passage.doc_id or passage.text), unit)
            parent[root(unit)] = root(known)
    return {key: root(unit) for key, unit in units.items()}


def _summed(values: Iterable[tuple[Change, float]], unit_of: Mapping[tuple[str, str], int]) -> list[float]:
    sums: dict[int, float] = defaultdict(float)
    for change, value in values:
        question = change.now.question
        sums[unit_of[question.dataset_name, question.id]] += value
    return list(sums.values())
