"""Fits the failures of a run to the terminal, before pytest shows them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.report.terminal.brief_failures import brief, rows_of_each
from pytest_ragcheck.verdict.failure_text import crash_line, first_line

if TYPE_CHECKING:
    import pytest

    from pytest_ragcheck.verdict.record import Record


def shorten_failures(config: pytest.Config, failed: Sequence[tuple[pytest.TestReport, Sequence[Record]]]) -> list[str]:
    """
    Shorten the texts of the reports, unless `-v` is set, and put the reason first in the short summary.

    *config* is that of the process that shows the reports. Each failed report comes with the records of its item.

    Returns:
        A line that names the option for the whole texts; none if no text was shortened.
    """
    if not config.pluginmanager.has_plugin("terminalreporter"):
        return []
    # A log of CI has no width, and pytest cuts nothing there either.
    width = sys.maxsize if os.environ.get("CI") else config.get_terminal_writer().fullwidth
    rows = rows_of_each(len(failed))
    shortened = 0
    for report, records in failed:
        for record in records:
            for lines in _texts(report, record):
                if config.get_verbosity() <= 0 and (short := brief(lines, rows=rows, width=width)) != lines:
                    lines[:] = short
                    shortened += 1
    return [f"shortened: {shortened} of the failures above; -v shows them whole"] if shortened else []


def _texts(report: pytest.TestReport, record: Record) -> Iterator[list[str]]:
    # Yield the lines of the record's failure text in the report, and complete the line of the short summary.
    shown: Any = report.longrepr
    crash = getattr(shown, "reprcrash", None)
    first = first_line(record)
    if crash is None or crash.message != first.partition("\n")[0]:
        return
    crash.message = crash_line(record)
    for entry in shown.reprtraceback.reprentries:
        if entry.lines == record.text().splitlines():
            yield entry.lines
