from __future__ import annotations

import pytest

from pytest_ragcheck.redaction.printable import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31m b\u202ec\u200bd", r"a\x1b[31m b\u202ec\u200bd"),
        ("a ##[error]b ##VSO[task.complete]c", r"a #\x23[error]b #\x23VSO[task.complete]c"),
        ("one\n  ::warning::two", "one\n  \\x3a:warning::two"),
        ("\u3000::warning::two", "\u3000\\x3a:warning::two"),
        ("\udcff \U000e0041", r"\udcff \U000e0041"),
    ],
)
def test_control_characters_and_runner_commands_are_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize("text", ["a\tb\nc", "a::b", "# heading", "می\u200cخواهم", "👩\u200d🔧"])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert printable(text) == text
