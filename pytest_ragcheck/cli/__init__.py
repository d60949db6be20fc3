"""The `ragcheck` command: what a pytest option cannot do."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from pytest_ragcheck import __version__
from pytest_ragcheck.cli import calibrate, compare, init, probe, schema

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns its exit status."""
    parser = argparse.ArgumentParser(
        prog="ragcheck",
        description="Commands beside the pytest plugin. The questions themselves run with pytest: "
        "pytest --rag-url=URL --rag-judge=offline",
    )
    parser.add_argument("--version", action="version", version=f"pytest-ragcheck {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    calibrate.add_to(commands)
    compare.add_to(commands)
    init.add_to(commands)
    probe.add_to(commands)
    schema.add_to(commands)
    chosen = parser.parse_args(arguments)
    status: int = chosen.run(chosen)
    return status
