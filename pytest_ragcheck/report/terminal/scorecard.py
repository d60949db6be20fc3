from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_ragcheck.summary.aggregate import Summary, Totals

_BESIDE = 6
"""Most datasets side by side, for the width of most terminals."""

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
    columns = list(map(_cells, datasets.values()))
    rates = ("unanswerable_accuracy", "fpr", "fnr")
    counts = ("PASS", "FAIL", "ERROR", "skipped")
    rows = [row for row in (*metrics, *rates, *counts) if any(row in cells for cells in columns)]
    cells = [[row, *(each.get(row, "") for each in columns)] for row in rows]
    yield from aligned([["by dataset", *(f"{_shortened(name):>5}" for name in datasets)], *cells])


def aligned(table: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the rows, with the cells of the first column on the left and the others on the right."""
    first, *widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for name, *cells in table:
        right = (f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        yield "  ".join([f"{name:<{first}}", *right]).rstrip()


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
    # The name, or the end of a long name, since names of files differ at their end.
    return name if len(name) <= _LONGEST_NAME else f"...{name[3 - _LONGEST_NAME :]}"
