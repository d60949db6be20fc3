"""States the reason of a FAIL or an ERROR, one clause for each cause."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from pytest_ragcheck.judging.judgement import Judgement, grounding_contexts
from pytest_ragcheck.metrics.gold import found_gold, gold_keys
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.scores.catalogue import (
    ABSTAINED,
    CITATION_SUPPORT,
    CITATION_VALIDITY,
    DEMANDED,
    JUDGED,
    LEXICAL,
    OVERLAP,
    RETRIEVAL,
)
from pytest_ragcheck.scores.score import Score
from pytest_ragcheck.verdict.failure_text import some
from pytest_ragcheck.verdict.verdict import ScoredVerdict, Verdict, shortfalls

DECLINED = "the system declined to answer, although the question is answerable"
ANSWERED = "the system answered, although the question is unanswerable"
NO_CONTEXTS = "no contexts were returned"
_UNSUPPORTED = {
    "citation_precision": "a cited context does not support its sentence",
    "citation_recall": "no cited context supports a sentence",
}


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
            shown = findings if text == "leaks" else map(repr, findings)
            found = f"the answer {text}" if question.is_answered else "the contexts leak"
            reasons.append(f"{found} {', '.join(shown)}")
    wrong = (scores[metric].findings for metric in (CITATION_VALIDITY, *CITATION_SUPPORT) if metric in short)
    reasons += dict.fromkeys(chain.from_iterable(wrong))
    # A recording has the scores without the sentences.
    reasons += [text for metric, text in _UNSUPPORTED.items() if metric in short and not scores[metric].findings]
    if short.keys() & {*OVERLAP, *LEXICAL} and question.expected_answer is not None:
        reasons.append(f"expected {question.expected_answer!r}")
    if not short.keys().isdisjoint(RETRIEVAL):
        reasons.append(_retrieval_reason(question, answer))
    return "; ".join(filter(None, (*reasons, decision.error)))


def _retrieval_reason(question: Question, answer: RagAnswer) -> str:
    if question.lacks_gold:
        return "the question has no gold passages, but others of its dataset have"
    found, gold = frozenset().union(*found_gold(question, answer)), gold_keys(question)
    counted = f"{len(found)} of {len(gold)} gold passages {'is' if len(found) == 1 else 'are'} among the contexts"
    ids = [repr(key.removeprefix("id ")) for key in sorted(gold - found) if key.startswith("id ")]
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
