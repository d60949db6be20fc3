"""Renders a `Calibration` as lines, JSON or an SVG picture, and the comparison of several judges as lines or JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from itertools import pairwise
from string import Template
from typing import Any

from pytest_ragcheck._version import __version__
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.judgement import JudgeIdentity
from pytest_ragcheck.metrics.cost import Cost
from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.short_texts import counted, one_line
from pytest_ragcheck.summary.judge_calibration import Calibration, JudgeComparison
from pytest_ragcheck.summary.judge_rates import Confusion, Judged, RateEstimate

_WIDTH, _HEIGHT = 40, 12
_TEXT_CHARS = 300

_WORDS = {
    "groundedness": ("grounded", "not grounded"),
    "answer_correctness": ("right", "wrong"),
    "abstained": ("refusals", "other answers"),
}


@frozen
class Disagreement:
    id: str
    score: float
    good: bool

    question: str
    answer: str
    reason: str
    """May be empty."""


@frozen
class Measured:
    file: str
    sha256: str
    label: str
    score: str
    judge: JudgeIdentity
    timestamp: datetime
    calibration: Calibration
    judged: Mapping[int, Judged]
    """The scored answers by the number of their row in the file, from 0."""

    cost: Cost
    """With that of the preflight."""

    n_unscored: int
    """Answers that the score does not apply to. No number includes these, nor those with errors."""

    errors: Sequence[str]

    disagreements: Sequence[Disagreement]


def calibration_lines(measured: Measured, *, most_shown: int) -> Iterator[str]:
    result = measured.calibration
    good, bad = _WORDS[measured.score]
    groups = f" in {counted(result.n_groups, 'group')}" if result.n_groups < result.n else ""
    counts = f"{counted(result.n, 'answer')}{groups}, {result.n_good} {good}, {result.n - result.n_good} {bad}"
    yield f"judge: {measured.judge.words}"
    yield f"{measured.score} against {measured.label} of {measured.file}: {counts}"
    yield from further_lines(measured)
    yield ""
    yield f"{'':<18} value  95 % interval"
    for name, estimate in result.estimates.items():
        yield f"{name:<18} {estimate.value:5.3f}  {estimate.low:5.3f} to {estimate.high:5.3f}"
    yield ""
    yield from _confusion_lines(result.confusion, result.threshold, good, bad)
    if result.best_threshold is not None and result.at_best is not None:
        best = result.at_best
        yield (
            f"best threshold here: {result.best_threshold:.3f} (balanced accuracy {best.balanced_accuracy or 0:.3f}, "
            f"tpr {best.tpr or 0:.3f}, tnr {best.tnr or 0:.3f}); chosen on these very answers, so expect a little less"
        )
    if result.curve:
        yield ""
        yield from _curve_lines(result)
    if measured.disagreements:
        yield ""
        shown = measured.disagreements[:most_shown]
        yield f"widest disagreements, {len(shown)} of {len(measured.disagreements)}:"
        for row in shown:
            yield from _disagreement_lines(row, measured.score, good, bad)


def further_lines(measured: Measured) -> Iterator[str]:
    if measured.n_unscored:
        without = counted(measured.n_unscored, "further answer")
        yield f"{without} without {measured.score}: the judge does not score them"
    if measured.errors:
        yield f"{counted(len(measured.errors), 'further answer')} could not be judged, the first: {measured.errors[0]}"


def calibration_document(measured: Measured, *, most_shown: int) -> dict[str, Any]:
    result = measured.calibration
    return {
        "schema_version": "1",
        "timestamp": measured.timestamp.astimezone(timezone.utc).isoformat(),
        "plugin_version": __version__,
        "file": measured.file,
        "sha256": measured.sha256,
        "label": measured.label,
        "score": measured.score,
        "judge": asdict(measured.judge),
        "n": result.n,
        "n_good": result.n_good,
        "n_bad": result.n - result.n_good,
        "n_groups": result.n_groups,
        "n_unscored": measured.n_unscored,
        "n_errors": len(measured.errors),
        "threshold": result.threshold,
        **{name: estimate.value for name, estimate in result.estimates.items()},
        "intervals": {name: [estimate.low, estimate.high] for name, estimate in result.estimates.items()},
        "confusion": asdict(result.confusion),
        "best_threshold": result.best_threshold,
        "at_best_threshold": result.at_best and {**result.at_best.rates, **asdict(result.at_best)},
        "curve": list(map(asdict, result.curve)),
        "disagreements": list(map(asdict, measured.disagreements[:most_shown])),
    }


def curve_svg(measured: Measured) -> str:
    side, margin = 320, 44  # as in the template
    result = measured.calibration

    def place(fpr: float, tpr: float) -> str:
        return f"{margin + fpr * side:.1f},{margin / 2 + (1 - tpr) * side:.1f}"

    x, y = place(_fpr(result.confusion), result.confusion.tpr or 0.0).split(",")
    area = result.estimates["roc_auc"]
    return Template(package_text("report/html/curve.svg")).substitute(
        line=" ".join(place(point.fpr, point.tpr) for point in result.curve),
        x=x,
        y=y,
        threshold=f"{result.threshold:g}",
        title=f"{measured.score}: area {area.value:.3f} ({area.low:.3f} to {area.high:.3f}), "
        f"{counted(result.n, 'answer')}",
    )


def _fpr(matrix: Confusion) -> float:
    return 0.0 if matrix.tnr is None else 1 - matrix.tnr


def _confusion_lines(matrix: Confusion, threshold: float, good: str, bad: str) -> Iterator[str]:
    width = max(len(good), len(bad)) + 2
    yield f"{f'at threshold {threshold:g}':<20} {'pass':>6} {'fail':>6}"
    yield f"  {good:<{width}} {matrix.good_passed:>{24 - width}} {matrix.good_failed:>6}"
    yield f"  {bad:<{width}} {matrix.bad_passed:>{24 - width}} {matrix.bad_failed:>6}"


def _curve_lines(result: Calibration) -> Iterator[str]:
    # Yield the ROC curve in characters: `o` the curve, `X` the threshold, `.` a random judge.
    rows = [[" "] * (_WIDTH + 1) for _ in range(_HEIGHT + 1)]

    def mark(fpr: float, tpr: float, char: str) -> None:
        rows[_HEIGHT - round(tpr * _HEIGHT)][round(fpr * _WIDTH)] = char

    for step in range(_WIDTH + 1):
        mark(step / _WIDTH, step / _WIDTH, ".")
    for before, after in pairwise(result.curve):
        for step in range(_WIDTH + 1):
            share = step / _WIDTH
            mark(before.fpr + share * (after.fpr - before.fpr), before.tpr + share * (after.tpr - before.tpr), "o")
    mark(_fpr(result.confusion), result.confusion.tpr or 0.0, "X")
    for number, row in enumerate(rows):
        label = {0: "1.0", _HEIGHT: "0.0"}.get(number, "")
        yield f"{label:>4} |{''.join(row).rstrip()}"
    yield f"     +{'-' * (_WIDTH + 1)}"
    yield f"      0.0{'share of bad answers that pass':^{_WIDTH - 5}}1.0"


def _disagreement_lines(row: Disagreement, score: str, good: str, bad: str) -> Iterator[str]:
    yield f"- {row.id}: {score} {row.score:.2f}, people say: {good if row.good else bad}"
    for name in ("question", "answer", "reason"):
        if text := one_line(getattr(row, name), _TEXT_CHARS):
            yield f"    {name}: {text}"


def comparison_lines(measured: Sequence[Measured], comparison: JudgeComparison) -> Iterator[str]:
    first = measured[0]
    names = [f"{number}. {each.judge.words}" for number, each in enumerate(measured, start=1)]
    width = max(map(len, names))
    yield f"{first.score} against {first.label} of {first.file}: {counted(comparison.n, 'answer')} scored by all judges"
    for name, each in zip(names, measured, strict=True):
        yield from (f"{name}: {line}" for line in further_lines(each))
    yield ""
    rates = list(comparison.judges[0].estimates)

    def row(first: str, cells: Iterable[str]) -> str:
        return f"{first:<{width}}" + "".join(f"  {cell:<25}" for cell in cells)

    yield row("judge", (f"{rate} (95 %)" for rate in rates)) + "  cost"
    for name, each, judge in zip(names, measured, comparison.judges, strict=True):
        yield row(name, (_estimate(judge.estimates[rate]) for rate in rates)) + f"  {_cost(each)}"
    yield ""
    yield row(f"minus {comparison.best + 1}.", rates).rstrip()
    for name, judge in zip(names, comparison.judges, strict=True):
        if judge.differences:
            yield row(name, (_estimate(judge.differences[rate], sign="+") for rate in rates)).rstrip()
    yield ""
    yield f"best by {comparison.ranked_by}: {names[comparison.best]}"
    yield from _choice_lines(names, comparison)


def comparison_document(
    measured: Sequence[Measured], comparison: JudgeComparison, *, most_shown: int
) -> dict[str, Any]:
    return {
        "schema_version": "1",
        "n": comparison.n,
        "ranked_by": comparison.ranked_by,
        "margin": comparison.margin,
        "best": comparison.best,
        "cheapest": comparison.cheapest,
        "judges": [calibration_document(each, most_shown=most_shown) for each in measured],
        "compared": list(map(asdict, comparison.judges)),
    }


def _choice_lines(names: Sequence[str], comparison: JudgeComparison) -> Iterator[str]:
    within = f"within {comparison.margin:g}"
    others = [
        name
        for index, (name, judge) in enumerate(zip(names, comparison.judges, strict=True))
        if judge.as_good and index != comparison.best
    ]
    if not others:
        yield f"no other judge is shown to be as good {within}"
    elif comparison.cheapest == comparison.best:
        yield f"as good {within}, but not cheaper: {', '.join(others)}"
    elif comparison.cheapest is not None:
        yield f"cheapest that is as good {within}: {names[comparison.cheapest]}"
    else:
        yield f"as good {within}, at an unknown cost: {', '.join(others)}"


def _estimate(rate: RateEstimate, *, sign: str = "") -> str:
    return f"{rate.value:{sign}.3f} ({rate.low:{sign}.3f} to {rate.high:{sign}.3f})"


def _cost(measured: Measured) -> str:
    cost = measured.cost
    if cost.judge_usd is not None:
        return f"{cost.judge_usd:.4f} USD" if cost.judge_usd else "none"
    if cost.judge_input_tokens is None or cost.judge_output_tokens is None:
        return "unknown"
    return f"{cost.judge_input_tokens:,} tokens in, {cost.judge_output_tokens:,} out; price unknown"
