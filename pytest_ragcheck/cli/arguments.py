"""Adds the arguments that several commands share, and returns the settings of a command."""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection, Mapping
from pathlib import Path

from pytest_ragcheck.config.given import Given
from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.config.table import TABLE


def add_output(parser: argparse.ArgumentParser, *, default: str, text: str, metavar: str = "FILE") -> None:
    parser.add_argument(
        "-o", "--output", metavar=metavar, type=Path, default=Path(default), help=f"{text} (default: {default})"
    )


def add_headers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--header",
        metavar="HEADER",
        action="append",
        help="header of every request, such as 'Authorization: Bearer {env:RAG_TOKEN}'; may be given several times;"
        " its value is never shown",
    )


def settings_as_typed(typed: Mapping[str, Given], *, variables: Collection[str] = ()) -> Settings:
    """
    The settings of a command that runs no tests.

    *typed* has the arguments by setting, with the value None for an omitted one. From the environment come only the
    secrets and the *variables*, because its other settings are for test runs.

    Raises:
        UsageError: A value is invalid.
    """
    from pytest_ragcheck.config.resolve import read_settings

    others = {option.environment for option in TABLE}.difference(variables)
    return read_settings(
        {name: given for name, given in typed.items() if given.value is not None},
        environment={name: value for name, value in os.environ.items() if name not in others},
    )
