"""
The page of attacks on the judge, whose list is written from them:

    python -m tests.judging.test_injection_page
"""

from __future__ import annotations

from pathlib import Path

from tests.judging.attacks import ATTACKS, BOMBS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "injection.md"
HEADING = "## The attacks\n"


def listed() -> str:
    """The names of the attacks."""
    return "".join(f"- {name}\n" for name in {**ATTACKS, **BOMBS})


def test_the_page_lists_all_attacks() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page[page.index(HEADING) :] == f"{HEADING}\n{listed()}", "run: python -m tests.judging.test_injection_page"


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(f"{page[: page.index(HEADING)]}{HEADING}\n{listed()}", encoding="utf-8")
