from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck import __version__
from pytest_ragcheck.cli import main
from pytest_ragcheck.cli.schema import SCHEMAS, read_schema

if TYPE_CHECKING:
    from collections.abc import Callable

    Ragcheck = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_printed_as_it_ships(name: str, ragcheck: Ragcheck) -> None:
    status, printed, errors = ragcheck("schema", name)
    assert (status, printed, errors) == (0, read_schema(name), "")
    assert json.loads(printed)["$schema"].startswith(("https://json-schema.org/", "http://json-schema.org/"))


def test_an_unknown_schema_is_refused_with_those_that_there_are(ragcheck: Ragcheck) -> None:
    status, printed, errors = ragcheck("schema", "baseline")
    assert (status, printed) == (2, "")
    assert errors.splitlines()[-1].startswith("ragcheck schema: error: argument name: invalid choice: 'baseline'")
    assert all(name in errors for name in SCHEMAS)


def test_without_a_command_the_usage_is_shown(ragcheck: Ragcheck) -> None:
    status, _, errors = ragcheck()
    assert status == 2
    assert errors.splitlines()[-1] == "ragcheck: error: the following arguments are required: COMMAND"


def test_the_version_is_the_packages(ragcheck: Ragcheck) -> None:
    assert ragcheck("--version") == (0, f"pytest-ragcheck {__version__}\n", "")


def test_the_command_is_installed() -> None:
    (command,) = entry_points(group="console_scripts", name="ragcheck")
    assert command.load() is main


def test_printing_a_schema_loads_no_heavy_package() -> None:
    code = "import sys; from pytest_ragcheck.cli import main; main(['schema', 'summary']); print(*sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not set(printed.splitlines()[-1].split()) & {"openai", "httpx", "httpx2", "pydantic", "yaml", "pytest"}
