"""Checks the rows about comparisons on the metrics' page against the comparisons themselves."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "metrics-sources.md"
HEADING = "| metrics | compared with | cases | largest difference |"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One row of the table."""

    cases: int
    bound: float
    """No case differs by more."""


def program(module: str) -> Any:
    """The module that is compared with; without it the test is skipped, but not where it was to be installed."""
    if os.environ.get("RAGCHECK_ORACLES"):
        return import_module(module)
    return pytest.importorskip(module, reason="tox -e oracles has it")


def comparisons() -> dict[str, Comparison]:
    """By the cell that names the metrics."""
    page = PAGE.read_text(encoding="utf-8")
    lines = page[page.index(HEADING) :].partition("\n\n")[0].splitlines()[2:]
    found = {}
    for line in lines:
        metrics, _, cases, difference = (cell.strip() for cell in line.strip("|").split(" | "))
        found[metrics.replace("`", "")] = Comparison(cases=int(cases.replace(",", "")), bound=_bound(difference))
    return found


def check(metrics: str, *, cases: int, largest: float) -> None:
    """Fails unless the row has this number of cases, and the next power of ten above the largest difference."""
    said = comparisons()[metrics]
    assert said.cases == cases, f"{metrics}: the page says {said.cases:,} cases, there are {cases:,}"
    assert largest <= said.bound, f"{metrics}: the largest difference is {largest:.3g}, the page says {said.bound:g}"
    next_above = 0.0 if largest == 0 else 10.0 ** math.ceil(math.log10(largest))
    # The rounding of another machine may make the difference ten times smaller, or zero.
    assert said.bound <= max(next_above * 100, 1e-14), f"{metrics}: {said.bound:g} is far above {largest:.3g}"


def _bound(cell: str) -> float:
    """`none`, or `below 1e-15`."""
    match = re.fullmatch(r"none|below (1e-\d+)", cell)
    assert match, f"{cell!r} is no bound"
    return float(match[1]) if match[1] else 0.0
