"""Shortens failure texts so that all failures of a run fit on a few screens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import ceil

_ROWS = 46
"""Rows for all failures of a run. With pytest's own lines, ten failures take less than 80 rows."""

_FEWEST = 3
"""Minimum number of rows of a failure: reason, question and answer."""

_LABEL = re.compile(r"(blame|attack|turn \d+|question|expected|answer|see) +(?=\S)")
_DROPPED = (re.compile(r"contexts? |          \("), re.compile("see "))
"""Lines that are left out first, in this order."""


def rows_of_each(n_failures: int) -> int:
    """The maximum number of rows of each failure below its heading."""
    return max(_FEWEST, (_ROWS - n_failures) // max(1, n_failures))


def brief(lines: Sequence[str], *, rows: int, width: int) -> list[str]:
    """
    A failure text that fits into *rows*, as far as its first lines, question and answer allow.

    *rows* counts rows of the terminal, >= 3, and *width* the characters of a row, >= 20.
    """
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
