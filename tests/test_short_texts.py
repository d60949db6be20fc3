"""The short forms of texts."""

from __future__ import annotations

import pytest

from pytest_ragcheck.short_texts import from_difference

SAME = "x" * 50
LAST = "y" * 60
"""The part of the same beginning that stays."""


@pytest.mark.parametrize(
    ("text", "other", "shown"),
    [
        ("30\ndays", "60 days", "30 days"),
        (f"{SAME}30", f"{SAME}60", f"{SAME}30"),
        (f"{SAME}{LAST}30", f"{SAME}{LAST}60", f"... {LAST}30"),
        (f"{SAME}{LAST}", f"{SAME}{LAST}60", f"... {LAST}"),
        (f"{SAME}y {LAST[2:]}30", f"{SAME}y {LAST[2:]}60", f"... {LAST[2:]}30"),
        (f"{SAME}{LAST}", f"{SAME} {LAST}", f"{SAME}{LAST}"),
        (f"{SAME}{LAST} ", f"{SAME}{LAST}", f"{SAME}{LAST}"),
        (f"{SAME}{LAST}", "", f"{SAME}{LAST}"),
    ],
)
def test_a_text_begins_before_its_difference_if_that_would_be_cut_off(text: str, other: str, shown: str) -> None:
    assert from_difference(text, other, 100) == shown
