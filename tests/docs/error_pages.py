"""Reads the pages of mistakes: the text block under each heading of level three, as a user sees it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def shown_on(page: Path) -> dict[str, str]:
    """By heading the text block below it, in the order of the page."""
    parts = re.split(r"^### (.+)\n", page.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    blocks: dict[str, str] = {}
    for heading, body in zip(parts[::2], parts[1::2], strict=True):
        assert heading not in blocks, f"{page.name}: the heading {heading!r} stands twice"
        (blocks[heading],) = re.findall(r"^```text\n(.*?)\n```$", body, flags=re.MULTILINE | re.DOTALL)
    return blocks
