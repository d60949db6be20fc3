"""CSV that no spreadsheet runs."""

from __future__ import annotations

import pytest

from pytest_ragcheck.report.write_report import csv_text


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_a_text_that_begins_like_a_formula_gets_an_apostrophe(cell: str) -> None:
    assert csv_text([cell], [{cell: cell}]).count(f"'{cell}") == 2


def test_numbers_and_other_texts_stay_as_they_are() -> None:
    assert csv_text(["a", "b", "c"], [{"a": -1.5, "b": "1=1", "c": None}, {}]) == "a,b,c\n-1.5,1=1,\n,,\n"
