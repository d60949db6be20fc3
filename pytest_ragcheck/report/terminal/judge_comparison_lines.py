"""Renders the comparison of several judges as lines or JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from pytest_ragcheck.report.counted import counted
from pytest_ragcheck.report.terminal.calibration_lines import Measured, calibration_document, further_lines
from pytest_ragcheck.summary.calibration.judge_comparison import JudgeComparison
from pytest_ragcheck.summary.calibration.score_intervals import RateEstimate


def comparison_lines(measured: Sequence[Measured], comparison: JudgeComparison) -> Iterator[str]:
    """Yield the rates of each judge, the paired differences from the best one, and the cheapest that is as good."""
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
