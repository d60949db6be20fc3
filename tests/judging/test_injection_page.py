"""
The page of attacks on the judge, whose table is written from them:

    python -m tests.judging.test_injection_page
"""

from __future__ import annotations

from pathlib import Path

from pytest_ragcheck.judging.prompts.fence import fenced
from tests.judging.attacks import ATTACKS, BOMBS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "injection.md"
HEADING = "## The attacks\n"

_LONGEST_SHOWN = 100


def table() -> str:
    """The attacks as the page shows them: each as it stands in the message to the judge."""
    rows = [
        "| the material | as the judge's model is sent it |",
        "| --- | --- |",
        *(f"| {name} | {_shown(text)} |" for name, text in {**ATTACKS, **BOMBS}.items()),
    ]
    return "\n".join(rows) + "\n"


def _shown(text: str) -> str:
    sent = fenced("answer", text, nonce="").split("\n")[1]
    cut = sent if len(sent) <= _LONGEST_SHOWN else f"{sent[: _LONGEST_SHOWN - 1]}…"
    # A run of backticks that the text does not have; a bar would end the cell, in code too.
    marks = next(marks for marks in ("`", "````") if marks not in cut)
    return f"{marks} {cut} {marks}".replace("|", "\\|")


def test_the_page_shows_all_attacks_as_they_are_sent() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page[page.index(HEADING) :] == f"{HEADING}\n{table()}", "run: python -m tests.judging.test_injection_page"


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(f"{page[: page.index(HEADING)]}{HEADING}\n{table()}", encoding="utf-8")
