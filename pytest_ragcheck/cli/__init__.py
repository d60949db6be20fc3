from __future__ import annotations

import argparse
import errno
import io
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_ragcheck._version import __version__
from pytest_ragcheck.cli import calibrate, rejudge
from pytest_ragcheck.cli.command_line import add_commands, complain
from pytest_ragcheck.cli.project import check_files, cleanup, dataset, docs, init, probe
from pytest_ragcheck.cli.results import baseline, comment, compare, convert, merge, report
from pytest_ragcheck.errors import RagcheckError, UsageError
from pytest_ragcheck.summary.predictions_reader import AS_WRITTEN

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


_COMMANDS = {
    "baseline": baseline.run,
    "calibrate": calibrate.run,
    "check": check_files.run,
    "cleanup": cleanup.run,
    "comment": comment.run,
    "compare": compare.run,
    "convert": convert.run,
    "dataset": dataset.run,
    "demo": docs.run_demo,
    "docs": docs.run,
    "init": init.run,
    "merge": merge.run,
    "probe": probe.run,
    "rejudge": rejudge.run,
    "report": report.run,
    "schema": docs.run_schema,
}


class _Pipe(io.FileIO):
    """Standard output that ignores a closed pipe, as in `ragcheck ... | head`, and fails only once."""

    _failed = False

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return memoryview(data).nbytes if self._failed else super().write(data)
        except OSError as error:
            self._failed = True
            if error.errno not in (errno.EPIPE, errno.EINVAL):  # the latter on Windows
                raise UsageError(f"standard output: {error.strerror}.") from None
            return memoryview(data).nbytes


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Run one command and return its exit status, even if the output pipe is closed early.

    The status is 2 for an error that names its remedy, and 130 for Ctrl-C.
    """
    if sys.stdout is sys.__stdout__ and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # texts may have characters that the terminal's encoding lacks
        if not sys.stdout.isatty():  # Windows' consoles take bytes in another encoding
            sys.stdout = _unbreakable(sys.stdout)
    parser = argparse.ArgumentParser(
        prog="ragcheck",
        description="Companion commands of the pytest plugin. pytest runs the questions: pytest --rag-url=URL "
        "--rag-judge=offline",
    )
    parser.add_argument("--version", action="version", version=f"pytest-ragcheck {__version__}")
    add_commands(parser)
    if sys.__stdout__ is None:
        parser.exit(2, "ragcheck: standard output is closed.\n")
    chosen = parser.parse_args(arguments)
    name = " ".join(filter(None, (chosen.command, getattr(chosen, "action", ""))))
    try:
        status: int = _COMMANDS[chosen.command](chosen)
        print(end="", flush=True)
    except RagcheckError as error:
        complain(name, error)
        return 2
    except KeyboardInterrupt:
        complain(name, "stopped")
        return 130
    except Exception:
        mistakes = list(check_files.result_mistakes(vars(chosen).values()))
        if not mistakes:
            raise
        complain(name, f"{mistakes[0]}. {AS_WRITTEN}")
        return 2
    return status


def _unbreakable(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BufferedWriter(_Pipe(stream.fileno(), "w", closefd=False)),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
