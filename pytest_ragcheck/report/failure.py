"""What a person reads where a question failed or could not be measured: to be taken in without scrolling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_ragcheck.record import Record

_TEXT_LIMIT = 500
"""Characters of question, expected answer and answer that are shown."""

_CONTEXT_LIMIT = 200
"""Characters of one context that are shown."""

_CONTEXTS_SHOWN = 3


def failure_text(record: Record) -> str:
    """The whole text; its first line alone says which number is too low, or what went wrong, and why."""
    return "\n".join((first_line(record), *_details(record)))


def first_line(record: Record) -> str:
    """`groundedness 0.41 < 0.70: reason` on FAIL; on ERROR the reason."""
    if record.verdict is not Verdict.FAIL:
        return record.reason
    short = ", ".join(
        f"{metric} {below(value, record.thresholds[metric])}" for metric, value in record.shortfalls.items()
    )
    return f"{short}: {one_line(record.reason)}" if record.reason else short


def below(value: float, threshold: float) -> str:
    """`0.41 < 0.70`, with as many decimals as it takes to tell the two apart."""
    digits = next((d for d in range(2, 6) if f"{value:.{d}f}" != f"{threshold:.{d}f}"), 6)
    return f"{value:.{digits}f} < {threshold:.{digits}f}"


def one_line(text: str) -> str:
    """The text with every run of white space as one blank."""
    return " ".join(text.split())


def cut(text: str, limit: int) -> str:
    """The text on one line, cut at the limit, with how much was cut."""
    line = one_line(text)
    if len(line) <= limit:
        return line
    return f"{line[:limit].rstrip()} ... (+{len(line) - limit:,} characters)"


def _details(record: Record) -> Iterator[str]:
    question = record.question
    if record.scores and record.verdict is Verdict.FAIL:
        yield ""
        yield from _score_lines(record)
    yield ""
    yield f"question  {cut(question.question, _TEXT_LIMIT)}"
    if question.answerable:
        expected = " | ".join(question.acceptable_answers)
    else:
        expected = "(unanswerable: the system should decline to answer)"
    if expected:
        yield f"expected  {cut(expected, _TEXT_LIMIT)}"
    if record.answer is not None:
        yield f"answer    {cut(record.answer, _TEXT_LIMIT) or '(empty)'}"
        yield from _context_lines(record.contexts)


def _score_lines(record: Record) -> Iterator[str]:
    width = max(map(len, record.thresholds))
    for metric, threshold in record.thresholds.items():
        value = record.scores[metric].value
        if value is not None:
            comparison = below(value, threshold) if value < threshold else f"{value:.2f} >= {threshold:.2f}"
            yield f"{metric:<{width}}  {comparison}"


def _context_lines(contexts: tuple[str, ...]) -> Iterator[str]:
    if not contexts:
        yield "contexts  (none)"
    for number, context in enumerate(contexts[:_CONTEXTS_SHOWN], 1):
        yield f"context {number} {cut(context, _CONTEXT_LIMIT)}"
    rest = contexts[_CONTEXTS_SHOWN:]
    if rest:
        noun = "context" if len(rest) == 1 else "contexts"
        yield f"          (+{len(rest)} {noun} of {sum(map(len, rest)):,} characters)"
