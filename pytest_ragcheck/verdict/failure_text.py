"""Writes the text about a question that failed or could not be measured, which fits on one screen."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.redaction.printable import printable
from pytest_ragcheck.scores.catalogue import OVERALL
from pytest_ragcheck.scores.score import Score
from pytest_ragcheck.verdict.blame import BLAMES, attack_outcomes
from pytest_ragcheck.verdict.verdict import Verdict, shortfalls

_OF_DOCUMENT = "; the contexts support it, so their document may have changed"
_TEXT_LIMIT = 500
"""Longest shown reason, question, expected answer and answer, in characters."""

_CONTEXT_LIMIT = 200

_CONTEXTS_SHOWN = 2

_TURNS_SHOWN = 3
"""Most earlier turns of a conversation that are shown, the last ones."""

_LINES_SHOWN = 10

_QUOTED_START = 20
_WITH_DIGITS = re.compile(r"[\w.:-]*\d[\w.:-]*")

_PAGES = {
    "endpoint": "errors/endpoint",
    "endpoint_reply": "errors/endpoint-replies",
    "endpoint_stream": "errors/endpoint-replies",
    "judge": "errors/judge",
    "judge_reply": "errors/judge-replies",
    "nothing": "outcomes",
    "unscored": "outcomes",
    "replay": "how-to/replay",
}
"""The docs page about an ERROR, by its kind or the first word of the kind."""


class Shown:
    """The part of a `Record` that its failure text shows; `Record` documents the fields."""

    __slots__ = ()

    question: Question
    verdict: Verdict
    answer: str | None
    contexts: tuple[str, ...]
    source_ids: tuple[str, ...] | None
    server_source_ids: tuple[str, ...] | None
    latency_seconds: float | None
    first_token_seconds: float | None
    scores: Mapping[str, Score]
    overall_lacks: tuple[str, ...]
    thresholds: Mapping[str, float]
    reason: str
    blame: str
    error_kind: str
    repeated: Mapping[str, tuple[tuple[float, ...], ...]]
    unstable: Mapping[str, float]

    @property
    def has_reply(self) -> bool:
        """True if the system replied: with an answer, or in the tier `retrieval` with contexts to measure."""
        return self.answer is not None or (not self.question.is_answered and bool(self.scores))

    @property
    def reply(self) -> RagAnswer:
        """The recorded parts of the system's reply; the text is empty without an answer."""
        return RagAnswer(
            text=self.answer or "",
            contexts=self.contexts,
            source_ids=self.source_ids,
            server_source_ids=self.server_source_ids,
            latency_seconds=self.latency_seconds,
            first_token_seconds=self.first_token_seconds,
        )

    @property
    def shortfalls(self) -> dict[str, float]:
        """The asserted metrics below their threshold, with their values."""
        return shortfalls(self.scores, self.thresholds)


def failure_text(record: Shown) -> str:
    """The whole text; its first line names the score that is too low, or the failure, and the reason."""
    return "\n".join((first_line(record), *_details(record)))


def first_line(record: Shown) -> str:
    """`groundedness 0.41 < 0.70: reason` on FAIL, and the lines of the reason on ERROR."""
    if record.verdict is not Verdict.FAIL:
        lines = [cut(line, _TEXT_LIMIT) for line in record.reason.splitlines() if line.strip()]
        return "\n".join(lines[:_LINES_SHOWN]) or f"{record.error_kind}, without a message"
    return ": ".join(filter(None, (_shortfalls(record), record.reason and cut(record.reason, _TEXT_LIMIT))))


def crash_line(record: Shown) -> str:
    """The first line with the reason before the scores, since pytest's short summary cuts its end."""
    if record.verdict is not Verdict.FAIL or not record.reason or not record.shortfalls:
        return first_line(record).partition("\n")[0]
    return f"{cut(record.reason, _TEXT_LIMIT)} ({_shortfalls(record)})"


def cause_of(record: Shown) -> str:
    """The reason of an ERROR without the ids, the times and the question that a quoted reply may have."""
    cause, _, quoted = record.reason.partition(" (")
    return f"{cause} ({_WITH_DIGITS.sub('', quoted.partition(record.question.question[:_QUOTED_START])[0])}"


def _shortfalls(record: Shown) -> str:
    lacks = f" (without {', '.join(record.overall_lacks)})" if record.overall_lacks else ""
    return ", ".join(
        f"{metric} {unequal(value, record.thresholds[metric], '<')}{lacks if metric == OVERALL else ''}"
        for metric, value in record.shortfalls.items()
    )


def unequal(value: float, limit: float, sign: Literal["<", ">"]) -> str:
    """`0.41 < 0.70` or `3.201 > 2.125`; see `distinct` for the decimals."""
    shown = distinct(value, limit)
    if shown[0] == shown[1]:
        rounded = math.floor if sign == "<" else math.ceil
        shown[0] = f"{rounded(value * 1e6) / 1e6:.6f}"
    return f" {sign} ".join(shown)


def distinct(*numbers: float) -> list[str]:
    """The numbers with 2 to 6 decimals: all of the last number, and enough to distinguish unequal ones."""
    shown: list[str] = []
    for digits in range(2, 7):
        shown = [f"{number:.{digits}f}" for number in numbers]
        if len(set(shown)) == len(set(numbers)) and float(shown[-1]) == round(numbers[-1], 6):
            break
    return shown


def cut(text: str, limit: int) -> str:
    """The text on one printable line, cut at *limit* with a count of the rest; `(empty)` for no text."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return printable(line) or "(empty)"
    return f"{printable(line[:limit].rstrip())} ... (+{len(line) - limit:,} characters)"


def some(names: Iterable[str], most: int, *, joint: str = ", ") -> str:
    """The first names and the number of the others: `a, b, 3 more`."""
    listed = list(names)
    shown = ", ".join(listed[:most])
    return f"{shown}{joint}{len(listed) - most} more" if len(listed) > most else shown


def _may_be_of_document(record: Shown) -> bool:
    # True if the contexts support the wrong answer and only the ids of the gold passages are known.
    is_wrong = record.blame == "generation" and "answer_correctness" in record.shortfalls
    is_grounded = "groundedness" in record.thresholds.keys() - record.shortfalls.keys()
    # An answer that declines scores 0.
    declines = record.shortfalls.get("answer_correctness") == 0
    has_text = any(passage.text for passage in record.question.gold_passages)
    return is_wrong and is_grounded and not declines and not has_text


def _details(record: Shown) -> Iterator[str]:
    question, reply = record.question, record.reply
    if record.verdict is Verdict.FAIL:
        yield from (unstable_line(metric, record.repeated[metric]) for metric in record.unstable)
    if record.blame:
        yield f"blame     {record.blame}: {BLAMES[record.blame]}{_OF_DOCUMENT if _may_be_of_document(record) else ''}"
    yield from (f"attack    {each}" for each in attack_outcomes(question, reply) if each.got_through)
    for number, turn in list(enumerate(question.history, 1))[-_TURNS_SHOWN:]:
        answer = "" if turn.answer is None else f" -> {cut(turn.answer, _CONTEXT_LIMIT)}"
        yield f"turn {number:<4} {cut(turn.question, _CONTEXT_LIMIT)}{answer}"
    if question.identity:
        yield f"as        {cut(question.identity, _TEXT_LIMIT)}"
    yield f"question  {cut(question.question, _TEXT_LIMIT)}"
    if question.answerable:
        expected = " | ".join(question.acceptable_answers)
    else:
        expected = "(unanswerable: the system should decline to answer)"
    if expected and record.verdict is not Verdict.ERROR:
        yield f"expected  {cut(expected, _TEXT_LIMIT)}"
    if record.answer is not None:
        yield f"answer    {cut(record.answer, _TEXT_LIMIT)}"
    if record.has_reply:
        yield from _context_lines(reply.contexts)
    if page := _PAGES.get(record.error_kind) or _PAGES.get(record.error_kind.partition("_")[0]):
        yield f"see       ragcheck docs {page}"


def unstable_line(metric: str, answers: Sequence[Sequence[float]]) -> str:
    values = [value for judgements in answers for value in judgements]
    of = f" of {len(answers)} answers" if len(answers) > 1 else ""
    return f"unstable: {metric} is {min(values):.2f} to {max(values):.2f} in {len(values)} judgements{of}"


def _context_lines(contexts: tuple[str, ...]) -> Iterator[str]:
    if not contexts:
        yield "contexts  (none)"
    for number, context in enumerate(contexts[:_CONTEXTS_SHOWN], 1):
        yield f"context {number} {cut(context, _CONTEXT_LIMIT)}"
    rest = contexts[_CONTEXTS_SHOWN:]
    if rest:
        noun = "context" if len(rest) == 1 else "contexts"
        yield f"          (+{len(rest)} {noun} of {sum(map(len, rest)):,} characters)"
