"""The page about statistics says what the tests compute."""

from __future__ import annotations

import re

from pytest_ragcheck.summary.streaks import Streak, streak_bound, together_p

from .pages import DOCS

PAGE = DOCS / "explanation" / "statistics.md"


def test_the_numbers_of_streaks_are_those_of_the_function() -> None:
    text = PAGE.read_text(encoding="utf-8")
    one, twenty, several = re.findall(r"give (0\.\d+[1-9])", text)
    assert float(one) == round(streak_bound(1, 3), 3)
    assert float(twenty) == round(streak_bound(20, 3), 5)
    thirty = [Streak(unit=unit, before=5, now=3, broke=unit < 3) for unit in range(30)]
    assert float(several) == round(together_p(thirty), 4)
