"""The page of the command shows its real output."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.rag.probe.first_reply import Check

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
PAGE, ON_RESULTS, PROBE = (
    (REFERENCE / name).read_text(encoding="utf-8") for name in ("command-line.md", "results-commands.md", "probe.md")
)


def test_the_page_shows_the_commands(
    ragcheck: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ((arguments, output),) = re.findall(r"(?ms)^```console\n\$ ragcheck (.*?)\n(.*?)^```$", PAGE)
    assert ragcheck(*shlex.split(arguments)) == (0, output, "")


def test_every_command_has_a_section_with_its_description(ragcheck: Callable[..., tuple[int, str, str]]) -> None:
    _, printed, _ = ragcheck("--help")
    commands = re.findall(r"(?m)^    (\w+)(?: |$)", printed)
    described = dict(re.findall(r"(?ms)^##? ragcheck (\w+)\n\n(.+?)\n\n", PAGE + "\n" + ON_RESULTS + "\n" + PROBE))
    assert sorted(described) == sorted(commands)
    for command, text in described.items():
        _, help_text, _ = ragcheck(command, "--help")
        assert text.split() == help_text.split("\n\n")[1].split()


def test_every_point_of_the_probe_stands_on_the_page() -> None:
    rows = re.findall(r"(?m)^\| `(\w+)` \| (.*?) \| (yes|no) \|$", PROBE)
    assert rows == [(check.name.lower(), check.title, "yes" if check.required else "no") for check in Check]
