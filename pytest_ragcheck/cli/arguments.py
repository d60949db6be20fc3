"""Arguments that several commands share."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_output(parser: argparse.ArgumentParser, *, default: str, text: str, metavar: str = "FILE") -> None:
    """Add `-o` and `--output` with the help text and the default."""
    parser.add_argument(
        "-o", "--output", metavar=metavar, type=Path, default=Path(default), help=f"{text} (default: {default})"
    )


def add_headers(parser: argparse.ArgumentParser) -> None:
    """Add `--header`, for a command that sends requests to the endpoint."""
    parser.add_argument(
        "--header",
        metavar="HEADER",
        action="append",
        help="header of every request, such as 'Authorization: Bearer {env:RAG_TOKEN}'; may be given several times;"
        " its value is never shown",
    )
