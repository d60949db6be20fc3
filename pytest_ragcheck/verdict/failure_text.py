"""States the reason of a FAIL or an ERROR, and writes the text about its question, which fits on one screen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from pytest_ragcheck.judging.judgement import Judgement, grounding_contexts
from pytest_ragcheck.metrics.retrieval import found_gold, gold_keys
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.scores import (
    ABSTAINED,
    CITATION_SUPPORT,
    CITATION_VALIDITY,
    DEMANDED,
    JUDGED,
    LEXICAL,
    OVERALL,
    OVERLAP,
    RETRIEVAL,
    Score,
)
from pytest_ragcheck.short_texts import cut, some, unequal
from pytest_ragcheck.verdict.verdict import BLAMES, ScoredVerdict, Verdict, attack_outcomes, shortfalls

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

DECLINED = "the system declined to answer, although the question is answerable"
ANSWERED = "the system answered, although the question is unanswerable"
NO_CONTEXTS = "no contexts were returned"
_UNSUPPORTED = {
    "citation_precision": "a cited context does not support its sentence",
    "citation_recall": "no cited context supports a sentence",
}


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


def reason_for(
    decision: ScoredVerdict, question: Question, answer: RagAnswer, judgement: Judgement, scores: Mapping[str, Score]
) -> str:
    """The main weaknesses on FAIL, the failure on ERROR, and an empty text on PASS."""
    if decision.verdict is Verdict.ERROR:
        return decision.error
    reasons: list[str] = []
    short = shortfalls(scores, decision.thresholds)
    if ABSTAINED in short or not short.keys().isdisjoint(JUDGED):
        reasons += _judged_reasons(question, answer, judgement, short)
    for metric, text in zip(DEMANDED, ("does not mention", "mentions", "leaks", "does not cite"), strict=True):
        if metric in scores and (findings := scores[metric].findings):
            shown = findings if text == "leaks" else [*map(repr, findings)]
            is_said = text != "leaks" or any(each.endswith("in the answer)") for each in findings)
            found = f"the answer {text}" if is_said else "the contexts leak"
            reasons.append(f"{found} {', '.join(shown)}")
    wrong = (scores[metric].findings for metric in (CITATION_VALIDITY, *CITATION_SUPPORT) if metric in short)
    reasons += dict.fromkeys(chain.from_iterable(wrong))
    # A recording has the scores without the sentences.
    reasons += [text for metric, text in _UNSUPPORTED.items() if metric in short and not scores[metric].findings]
    if short.keys() & {*OVERLAP, *LEXICAL} and question.expected_answer is not None:
        reasons.append(f"expected {question.expected_answer!r}")
    if not short.keys().isdisjoint(RETRIEVAL):
        reasons.append(_retrieval_reason(question, answer))
    if short and answer.unfinished:
        reasons.append(f"the reply is unfinished: {answer.unfinished}")
    return "; ".join(filter(None, (*reasons, decision.error)))


def _retrieval_reason(question: Question, answer: RagAnswer) -> str:
    if question.lacks_gold:
        return "the question has no gold passages, but others of its dataset have"
    found: dict[str, int] = {}
    for rank, keys in enumerate(found_gold(question, answer), 1):
        found = dict.fromkeys(keys, rank) | found
    gold = gold_keys(question)
    counted = f"{len(found)} of {len(gold)} gold passages {'is' if len(found) == 1 else 'are'} among the contexts"
    if found:
        counted += f", at rank {some(map(str, sorted(found.values())), 5, joint=' and ')}"
    ids = [repr(key.removeprefix("id ")) for key in sorted(gold - found.keys()) if key.startswith("id ")]
    if not (ids and answer.source_ids):
        return counted
    given = dict.fromkeys(repr(each) for each in answer.source_ids if each)
    return f"{counted} (no id is {some(ids, 3, joint=' or ')}: the ids are {some(given, 5)})"


def _judged_reasons(question: Question, answer: RagAnswer, judgement: Judgement, short: dict[str, float]) -> list[str]:
    known: list[str] = []
    if ABSTAINED in short:
        known.append(ANSWERED)
    elif judgement.abstained and "answer_correctness" in short:
        known.append(DECLINED + (" (the answer is empty)" if not answer.text.strip() else ""))
    elif "groundedness" in short and not grounding_contexts(question, answer):
        known.append(NO_CONTEXTS)
    weakness = judgement.error_message
    # The offline judge has the same words for the same causes.
    if weakness and not any(weakness in text for text in known):
        known.append(weakness)
    return known or ["the judge named no weakness"]
