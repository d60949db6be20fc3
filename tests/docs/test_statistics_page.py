"""The numbers on the page about statistics are those of the code."""

from __future__ import annotations

import math
import re

from pytest_ragcheck.summary.gate.procedure.candidate import ASKS, LEVEL, MORE_ASKS
from pytest_ragcheck.summary.gate.procedure.count_test import critical_value
from pytest_ragcheck.summary.gate.procedure.gate_session import COUNT_SHARE, FEWEST_QUESTIONS
from tests.docs.pages import DOCS

PAGE = (DOCS / "explanation" / "statistics.md").read_text(encoding="utf-8")


def test_the_critical_values_are_those_of_the_function() -> None:
    rows = re.findall(r"(?m)^\| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", PAGE)
    assert len(rows) == 5
    for known, *values in rows:
        assert list(map(int, values)) == [critical_value(int(known), u, 0.01 * COUNT_SHARE) for u in range(3)]


def test_the_numbers_of_the_procedure_are_those_of_the_code() -> None:
    assert (ASKS, MORE_ASKS, FEWEST_QUESTIONS) == (2, 4, 10)
    assert "twice, or four times under `confirmed`" in PAGE
    assert "fewer than 10 questions that can be compared" in PAGE
    assert (COUNT_SHARE, LEVEL) == (0.6, 0.01)
    assert "six tenths" in PAGE
    assert "at most 1 of 100 cases" in PAGE
    assert f"1/{math.comb(10, 5)}" in PAGE
    # The second round has the rest of the level of the first.
    assert f"p of at most {LEVEL - 1 / math.comb(10, 5):.3f}" in PAGE
