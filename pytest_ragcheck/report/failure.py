"""What a person reads where a question failed or could not be measured: to be taken in without scrolling."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from pytest_ragcheck.metrics.blame import BLAMES
from pytest_ragcheck.metrics.catalogue import OVERALL
from pytest_ragcheck.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_ragcheck.record import Record

_TEXT_LIMIT = 500
"""Characters of reason, question, expected answer and answer that are shown."""

_CONTEXT_LIMIT = 200
"""Characters of one context that are shown."""

_CONTEXTS_SHOWN = 3

_LINES_SHOWN = 10
"""Lines of an ERROR's reason that are shown."""

_PAGES = {
    "endpoint": "errors/endpoint",
    "judge": "errors/judge",
    "nothing": "outcomes",
    "unscored": "outcomes",
    "replay": "how-to/replay",
}
"""The page that has each text of an ERROR and what to do, by the first word of its kind."""

# What would colour, move or reverse what a terminal shows, and what no terminal can show. Tabs and line ends are left.
_UNSHOWABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def failure_text(record: Record) -> str:
    """The whole text; its first line alone says which number is too low, or what went wrong, and why."""
    return "\n".join((first_line(record), *_details(record)))


def first_line(record: Record) -> str:
    """`groundedness 0.41 < 0.70: reason` on FAIL; on ERROR the reason, whose further lines stand below it."""
    if record.verdict is not Verdict.FAIL:
        lines = [cut(line, _TEXT_LIMIT) for line in record.reason.splitlines() if line.strip()]
        return "\n".join(lines[:_LINES_SHOWN]) or f"{record.error_kind}, and nothing was said about it"
    short = ", ".join(
        f"{metric} {below(value, record.thresholds[metric])}" for metric, value in record.shortfalls.items()
    )
    return f"{short}: {cut(record.reason, _TEXT_LIMIT)}" if record.reason else short


def below(value: float, threshold: float) -> str:
    """`0.41 < 0.70`, with as many decimals as it takes to tell the two apart."""
    for digits in range(2, 7):
        shown = f"{value:.{digits}f}", f"{threshold:.{digits}f}"
        if shown[0] != shown[1]:
            return " < ".join(shown)
    return f"{math.floor(value * 1e6) / 1e6:.6f} < {threshold:.6f}"


def one_line(text: str) -> str:
    """The text with every run of white space as one blank."""
    return " ".join(text.split())


def printable(text: str) -> str:
    """The text with each control character as its escape of four or six ASCII characters."""
    return _UNSHOWABLE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def cut(text: str, limit: int) -> str:
    """The text on one line, printable, cut at the limit, with how much was cut; `(empty)` where there is none."""
    line = one_line(text)
    if len(line) <= limit:
        return printable(line) or "(empty)"
    return f"{printable(line[:limit].rstrip())} ... (+{len(line) - limit:,} characters)"


def _details(record: Record) -> Iterator[str]:
    question = record.question
    if record.scores and record.verdict is Verdict.FAIL:
        yield ""
        yield from _score_lines(record)
        yield from _unstable_lines(record)
    if record.blame:
        yield ""
        yield f"blame     {record.blame}: {BLAMES[record.blame]}"
    yield ""
    yield f"question  {cut(question.question, _TEXT_LIMIT)}"
    if question.answerable:
        expected = " | ".join(question.acceptable_answers)
    else:
        expected = "(unanswerable: the system should decline to answer)"
    if expected:
        yield f"expected  {cut(expected, _TEXT_LIMIT)}"
    if record.answer is not None:
        yield f"answer    {cut(record.answer, _TEXT_LIMIT)}"
        yield from _context_lines(record.contexts)
    if page := _PAGES.get(record.error_kind.partition("_")[0]):
        yield f"see       ragcheck docs {page}"


def _score_lines(record: Record) -> Iterator[str]:
    width = max(map(len, record.thresholds))
    for metric, threshold in record.thresholds.items():
        value = record.scores[metric].value
        if value is not None:
            comparison = below(value, threshold) if value < threshold else f"{value:.2f} >= {threshold:.2f}"
            lacks = (
                f" (without {', '.join(record.overall_lacks)})" if metric == OVERALL and record.overall_lacks else ""
            )
            yield f"{metric:<{width}}  {comparison}{lacks}"


def _unstable_lines(record: Record) -> Iterator[str]:
    for metric in record.unstable:
        answers = record.repeated[metric]
        values = [value for judgements in answers for value in judgements]
        of = f" of {len(answers)} answers" if len(answers) > 1 else ""
        yield f"unstable: {metric} is {min(values):.2f} to {max(values):.2f} in {len(values)} judgements{of}"


def _context_lines(contexts: tuple[str, ...]) -> Iterator[str]:
    if not contexts:
        yield "contexts  (none)"
    for number, context in enumerate(contexts[:_CONTEXTS_SHOWN], 1):
        yield f"context {number} {cut(context, _CONTEXT_LIMIT)}"
    rest = contexts[_CONTEXTS_SHOWN:]
    if rest:
        noun = "context" if len(rest) == 1 else "contexts"
        yield f"          (+{len(rest)} {noun} of {sum(map(len, rest)):,} characters)"
