"""The page about statistics says what the tests compute."""

from __future__ import annotations

import re

from pytest_ragcheck.summary.sign_flips import streak_bound

from .pages import DOCS

PAGE = DOCS / "explanation" / "statistics.md"


def test_the_numbers_of_streaks_are_those_of_the_function() -> None:
    text = PAGE.read_text(encoding="utf-8")
    one, twenty = re.findall(r"give (0\.\d+[1-9])", text)
    assert float(one) == round(streak_bound(1, 3), 3)
    assert float(twenty) == round(streak_bound(20, 3), 5)
