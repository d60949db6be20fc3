"""Renders several datasets side by side as a table for the terminal."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_ragcheck.summary.aggregate import Summary, Totals

_BESIDE = 6
"""Maximum number of datasets side by side, for the width of most terminals."""

_MOST = 2 * _BESIDE
_LONGEST_NAME = 20


def scorecard_lines(summary: Summary, shown: Collection[str]) -> Iterator[str]:
    """
    Yield a table with a column for each dataset: means, rates of abstention, counts.

    A metric that does not apply to a dataset has a blank cell. One dataset alone has no scorecard. More than `_MOST`
    datasets are in the summary file only.
    """
    datasets = summary.datasets
    if len(datasets) < 2:
        return
    if len(datasets) > _MOST:
        yield f"by dataset: the numbers of each of the {len(datasets)} datasets are in the summary file"
        return
    names = list(datasets)
    for start in range(0, len(names), _BESIDE):
        beside = names[start : start + _BESIDE]
        yield from _block(
            {name: datasets[name] for name in beside}, [metric for metric in summary.totals.metrics if metric in shown]
        )


def _block(datasets: Mapping[str, Totals], metrics: list[str]) -> Iterator[str]:
    columns = {name: _cells(totals) for name, totals in datasets.items()}
    rates = ("unanswerable_accuracy", "fpr", "fnr")
    counts = ("PASS", "FAIL", "ERROR", "skipped")
    rows = [row for row in (*metrics, *rates, *counts) if any(row in cells for cells in columns.values())]
    first = max(map(len, ("by dataset", *rows)))
    widths = {name: max(len(_shortened(name)), len("0.000")) for name in columns}
    yield "  ".join([f"{'by dataset':<{first}}", *(f"{_shortened(name):>{widths[name]}}" for name in columns)])
    for row in rows:
        cells = (f"{each.get(row, ''):>{widths[name]}}" for name, each in columns.items())
        yield "  ".join([f"{row:<{first}}", *cells]).rstrip()


def _cells(totals: Totals) -> dict[str, str]:
    counts = totals.counts
    return {
        **{metric: f"{statistics.mean:.3f}" for metric, statistics in totals.metrics.items()},
        **{rate: f"{value:.3f}" for rate, value in totals.abstention.items()},
        "PASS": str(counts.passed),
        "FAIL": str(counts.failed),
        "ERROR": str(counts.errors),
        **({"skipped": str(counts.skipped)} if counts.skipped else {}),
    }


def _shortened(name: str) -> str:
    """The name, or the end of a long name, since names of files differ at their end."""
    return name if len(name) <= _LONGEST_NAME else f"...{name[3 - _LONGEST_NAME :]}"
