"""Shortens the failures of a run to a few screens of the terminal, before pytest shows them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.verdict.failure_text import crash_line, first_line

if TYPE_CHECKING:
    import pytest

    from pytest_ragcheck.verdict.record import Record


_ROWS = 46
"""Rows for all failures of a run. With pytest's own lines, ten failures take less than 80 rows."""

_FEWEST = 3
"""Minimum number of rows of a failure below its heading: reason, question and answer."""

_LABEL = re.compile(r"(blame|attack|turn \d+|question|expected|answer|see) +(?=\S)")
_DROPPED = (re.compile(r"contexts? |          \("), re.compile("see "))
"""Lines that are left out first, in this order."""


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
    rows = max(_FEWEST, (_ROWS - len(failed)) // max(1, len(failed)))
    shortened = 0
    for report, records in failed:
        for record in records:
            for lines in _texts(report, record):
                if config.get_verbosity() <= 0 and (short := _brief(lines, rows=rows, width=width)) != lines:
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


def _brief(lines: Sequence[str], *, rows: int, width: int) -> list[str]:
    # A failure text that fits into *rows*, as far as its first lines, question and answer allow.
    # *rows* counts rows of the terminal, >= 3, and *width* the characters of a row, >= 20.
    shown = list(lines)
    for dropped in _DROPPED:
        if _height(shown, width) <= rows:
            return shown
        shown = [line for line in shown if not dropped.match(line)]
    if _height(shown, width) <= rows:
        return shown
    reason = [line for line in shown if not _LABEL.match(line)]
    labelled = [_cut(line, width) for line in shown if _LABEL.match(line)]
    if 1 + len(labelled) > rows:
        labelled = _merged(labelled, width)
    left = max(1, rows - len(labelled))
    first, *further = reason or [""]
    if _height([first], width) > left:
        # The header of the run has the minimums.
        first = re.sub(r" < [\d.]+(?=(, \w+ [\d.]+ < [\d.]+)*: )", "", first)
    shown = [_cut(first, left * width)]
    for line in further:
        if _height([*shown, line], width) <= left:
            shown.append(line)
    return [*shown, *labelled]


def _height(lines: Iterable[str], width: int) -> int:
    return sum(max(1, ceil(len(line) / width)) for line in lines)


def _merged(labelled: Sequence[str], width: int) -> list[str]:
    texts = {line.split()[0]: line for line in labelled if line.split()[0] in {"question", "expected", "answer"}}
    if "question" in texts and "expected" in texts:
        expected = _cut(f"  expected: {texts.pop('expected')[10:]}", width // 2)
        texts["question"] = _cut(texts["question"], width - len(expected)) + expected
    return list(texts.values())


def _cut(line: str, length: int) -> str:
    return line if len(line) <= length else f"{line[: length - 3].rstrip()}..."
