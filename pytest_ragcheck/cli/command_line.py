"""Reads the arguments of commands, and prints texts that may hold commands to terminals and CI runners without them."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.config.table import TABLE, Given
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.redaction.printable import printable


def _path(text: str) -> Path:
    if not text.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is blank; write a path")
    return Path(text)


_TYPES: Mapping[str, Any] = {"path": _path, "int": int, "float": float}


def add_commands(parser: argparse.ArgumentParser) -> None:
    """Add the commands of `commands.json`, in which a text among the arguments names a shared group."""
    described = json.loads(package_text("cli/commands.json"))
    _add_parsers(parser, "command", described["commands"], described["shared"])


def _add_parsers(
    parser: argparse.ArgumentParser, kind: str, described: Mapping[str, Any], shared: Mapping[str, Any]
) -> None:
    parsers = parser.add_subparsers(title=f"{kind}s", metavar=kind.upper(), required=True, dest=kind)
    for name, texts in described.items():
        command = parsers.add_parser(name, help=texts["help"], description=texts["description"])
        for argument in texts.get("arguments", ()):
            for each in shared[argument] if isinstance(argument, str) else [argument]:
                options = {key: _TYPES[value] if key == "type" else value for key, value in each.items()}
                command.add_argument(*options.pop("names").split(), **options)
        if "actions" in texts:
            _add_parsers(command, "action", texts["actions"], shared)


def ini_values(typed: Iterable[str], names: Collection[str] = ()) -> dict[str, Given]:
    """The values of `-o NAME=VALUE` by name; a `UsageError` for a name beside *names*, by default all options."""
    kinds = {option.name: option.kind for option in TABLE}
    found: dict[str, Given] = {}
    for setting in typed:
        name, equals, text = setting.partition("=")
        if not equals or name not in (names or kinds):
            wanted = f"one of {', '.join(names)}" if names else "an ini value of pytest-ragcheck"
            raise UsageError(f"-o: {setting!r} is not a setting. Write NAME=VALUE with {wanted}.")
        found[name] = Given({"words": text.split(), "lines": [text]}.get(kinds[name], text), f"-o {name}")
    return found


def settings_as_typed(typed: Mapping[str, Given], *, variables: Collection[str] = ()) -> Settings:
    """
    The settings of a command that runs no tests; a `UsageError` for an invalid value.

    *typed* has None for an omitted one. From the environment come only the secrets and the *variables*, because its
    other settings are for test runs.
    """
    from pytest_ragcheck.config.resolve import read_settings

    others = {option.environment for option in TABLE}.difference(variables)
    return read_settings(
        {name: given for name, given in typed.items() if given.value is not None},
        environment={name: value for name, value in os.environ.items() if name not in others},
    )


def say(*lines: object) -> None:
    for line in lines:
        print(printable(str(line)))


def complain(command: str, error: object) -> None:
    print(printable(f"ragcheck {command}: {error}"), file=sys.stderr)


def json_text(document: Any) -> str:
    """The document as ASCII JSON without commands to CI runners, with a final line break."""
    return json.dumps(document, indent=2).replace("##", r"#\u0023") + "\n"
