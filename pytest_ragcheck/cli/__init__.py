"""The `ragcheck` command: what a pytest option cannot do."""

from __future__ import annotations

import argparse
import io
import sys
from typing import TYPE_CHECKING

from pytest_ragcheck import __version__
from pytest_ragcheck.cli import (
    baseline,
    calibrate,
    cleanup,
    compare,
    convert,
    dataset,
    docs,
    init,
    merge,
    probe,
    rejudge,
    report,
    schema,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from _typeshed import ReadableBuffer


_COMMANDS = (
    baseline,
    calibrate,
    cleanup,
    compare,
    convert,
    dataset,
    docs,
    init,
    merge,
    probe,
    rejudge,
    report,
    schema,
)


class _Pipe(io.FileIO):
    """Standard output, whose reader may have seen enough: what is written then is nobody's loss."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            return memoryview(data).nbytes


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns its exit status, also where nobody reads to the end what it prints."""
    if sys.stdout is sys.__stdout__ and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout = _unbreakable(sys.stdout)
    parser = argparse.ArgumentParser(
        prog="ragcheck",
        description="Commands beside the pytest plugin. The questions themselves run with pytest: "
        "pytest --rag-url=URL --rag-judge=offline",
    )
    parser.add_argument("--version", action="version", version=f"pytest-ragcheck {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.add_to(commands)
    chosen = parser.parse_args(arguments)
    status: int = chosen.run(chosen)
    return status


def _unbreakable(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BufferedWriter(_Pipe(stream.fileno(), "w", closefd=False)),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
