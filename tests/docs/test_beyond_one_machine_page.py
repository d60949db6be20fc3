"""The page about several processes names the rows of its benchmark and settings that exist."""

from __future__ import annotations

import re
from importlib.util import find_spec

from pytest_ragcheck.config.table import TABLE
from tests.benchmarks.machines import DELAYS, PAYLOADS, WAYS
from tests.docs.pages import DOCS, page

NAME = "how-to/beyond-one-machine.md"
PAGE = (DOCS / "how-to" / "beyond-one-machine.md").read_text(encoding="utf-8")


def test_its_command_is_there() -> None:
    (command,) = [block.text.removeprefix("$ ").split() for block in page(NAME) if block.language == "console"]
    assert command[:2] == ["python", "-m"]
    assert find_spec(command[2]) is not None


def test_the_table_has_the_rows_and_columns_of_the_benchmark() -> None:
    table = re.findall(r"^\| (.+) \|$", PAGE, re.MULTILINE)
    assert table[0].split(" | ")[1:5] == [f"{delay}, {payload}" for delay in DELAYS for payload in PAYLOADS]
    assert [row.split(" | ")[0] for row in table[2 : 2 + len(WAYS)]] == [f"`{way}`" for way in WAYS]


def test_the_settings_that_it_names_are_there() -> None:
    named = set(re.findall(r"`(?:--)?(rag[_-]\w+(?:-\w+)*)", PAGE))
    assert {"rag_delay", "rag-max-cost", "rag-concurrency"} <= named
    assert {name.replace("-", "_") for name in named} <= {option.name for option in TABLE}
