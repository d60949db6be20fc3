"""The page of the command shows what the command prints."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.rag.probe.check_point import CHECKLIST

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"(?ms)^```console\n\$ ragcheck (.*?)\n(.*?)^```$", PAGE)


@pytest.mark.parametrize(("arguments", "output"), SHOWN)
def test_the_page_shows_what_a_command_prints(
    arguments: str, output: str, ragcheck: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert ragcheck(*shlex.split(arguments)) == (0, output, "")


def test_every_command_has_its_help_on_the_page(ragcheck: Callable[..., tuple[int, str, str]]) -> None:
    _, printed, _ = ragcheck("--help")
    commands = re.findall(r"(?m)^    (\w+)(?: |$)", printed)
    assert [arguments for arguments, _ in SHOWN] == ["--help", *(f"{command} --help" for command in commands)]


def test_every_point_of_the_probe_stands_on_the_page() -> None:
    rows = re.findall(r"(?m)^\| `(\w+)` \| (.*?) \| (yes|no) \|$", PAGE)
    assert rows == [(check.name, check.title, "yes" if check.required else "no") for check in CHECKLIST]
