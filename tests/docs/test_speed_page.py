"""The page about speed names the existing benchmarks and their rows."""

from __future__ import annotations

import re
from importlib.util import find_spec

from tests.benchmarks import faults
from tests.benchmarks.speed import ROWS
from tests.docs.pages import DOCS, page

NAME = "explanation/speed.md"


def test_its_commands_are_there() -> None:
    commands = [block.text.removeprefix("$ ").split() for block in page(NAME)]
    assert commands
    for python, option, module in commands:
        assert (python, option) == ("python", "-m")
        assert find_spec(module) is not None


def test_every_row_is_explained() -> None:
    text = (DOCS / NAME).read_text(encoding="utf-8")
    assert ROWS.keys() <= set(re.findall(r"`(\w+)`", text))


def test_every_fault_has_its_row() -> None:
    text = (DOCS / NAME).read_text(encoding="utf-8")
    shown = re.findall(r"^\| ([^|]+?) \|.*\| \d+ \| [\d.]+ \|$", text, re.MULTILINE)
    assert shown == [row.says for row in faults.ROWS.values()]
