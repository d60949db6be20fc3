"""
Replaces the four RAGAS metrics without a model, by counting words.

Their names begin with `offline_`, because their numbers cannot be compared with those of RAGAS.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from pytest_ragcheck.judging.judgement import grounding_contexts
from pytest_ragcheck.judging.offline.grounding.groundedness import PASS_LINE, groundedness
from pytest_ragcheck.judging.offline.grounding.read_context import ContextCache
from pytest_ragcheck.judging.offline.offline_judge import ANSWER_READ, beginnings
from pytest_ragcheck.judging.offline.refusals import is_refusal
from pytest_ragcheck.judging.offline.words.normalized_text import beginning
from pytest_ragcheck.judging.offline.words.sentences import sentences
from pytest_ragcheck.judging.offline.words.terms import TermDictionary, content_of
from pytest_ragcheck.metrics.ragas.formulas import answer_correctness, cosine_similarity, factuality, faithfulness
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.rag.cited_answer import cited_answer
from pytest_ragcheck.scores import RAGAS_STAND_INS, Score

RELEVANCY, CORRECTNESS, CONTEXT, FAITHFULNESS = RAGAS_STAND_INS


class RagasStandIns:
    """Measures the same questions as `RagasMetrics`, by words alone."""

    names = RAGAS_STAND_INS
    local = True

    async def score(self, question: Question, answer: RagAnswer) -> dict[str, Score]:
        if not question.answerable:
            return {}
        acceptable = question.acceptable_answers
        if not answer.text.strip():
            return {RELEVANCY: Score(0.0), **({CORRECTNESS: Score(0.0)} if acceptable else {})}
        grounding, contexts = beginnings(grounding_contexts(question, answer)), beginnings(answer.contexts)
        answer = replace(answer, text=beginning(answer.text, ANSWER_READ))
        text = cited_answer(answer).marked.blanked(answer.text)
        scores = {
            RELEVANCY: Score.of(partial(stand_in_relevancy, question.question, text, contexts)),
            CONTEXT: Score.of(partial(stand_in_context_relevance, question.question, contexts)),
            FAITHFULNESS: Score.of(partial(stand_in_faithfulness, question.question, text, grounding)),
        }
        if acceptable:
            scores[CORRECTNESS] = Score.of(partial(stand_in_correctness, text, acceptable))
        return scores


def stand_in_relevancy(question: str, answer: str, contexts: Sequence[str]) -> float:
    """
    Share of the question's content words in the answer, or in the sentence of the contexts nearest to the answer.

    Returns:
        0..1; 0.0 for an answer that declines.

    Raises:
        ValueError: The question has no content words.

    Source: our own.
    """
    asked = _asked(question)
    if is_refusal(answer):
        return 0.0
    given = set(_content(answer))
    around: set[str] = set()
    for context in contexts:
        # The first of equal sentences stays, so that the score is deterministic.
        for sentence in (set(_content(each)) for each in sentences(context)):
            if len(sentence & given) > len(around & given):
                around = sentence
    return len(asked & (given | around)) / len(asked)


def stand_in_correctness(answer: str, acceptable: Sequence[str]) -> float:
    """
    RAGAS' answer correctness with content words in place of statements, and word counts in place of embeddings.

    There is at least one accepted answer, and the nearest counts.

    Returns:
        0..1.

    Raises:
        ValueError: The answer, or every accepted answer, has no content words.

    Source: our own.
    """
    given = Counter(_content(answer))
    expected = list(filter(None, (Counter(_content(accepted)) for accepted in acceptable)))
    if not given or not expected:
        raise ValueError("the answer or the expected answer has no words that could be compared")
    return max(_agreement(given, each) for each in expected)


def stand_in_context_relevance(question: str, contexts: Sequence[str]) -> float:
    """
    Mean of two shares of the question's content words: those in all contexts, and those in the best context.

    Returns:
        0..1; 0.0 without contexts.

    Raises:
        ValueError: The question has no content words.

    Source: our own.
    """
    asked = _asked(question)
    found = [asked.intersection(_content(context)) for context in contexts]
    together, best = set().union(*found), max(map(len, found), default=0)
    return (len(together) + best) / (2 * len(asked))


def stand_in_faithfulness(question: str, answer: str, contexts: Sequence[str]) -> float:
    """
    Share of the answer's sentences that the contexts support by the rules of the offline judge.

    Returns:
        0..1; 0.0 without contexts.

    Raises:
        ValueError: The answer makes no statement.

    Source: our own.
    """
    contexts_read = ContextCache(TermDictionary())
    found = groundedness(answer, question=question, contexts=contexts, contexts_read=contexts_read).sentences
    given = any(map(str.strip, contexts))
    supported = sum(each.score >= PASS_LINE for each in found) if given else 0
    return faithfulness(supported=supported, statements=len(found))


def _agreement(given: Counter[str], expected: Counter[str]) -> float:
    common = len(given.keys() & expected.keys())
    factual = factuality(
        true_positives=common, false_positives=len(given) - common, false_negatives=len(expected) - common
    )
    both = sorted(given.keys() | expected.keys())
    return answer_correctness(factual, cosine_similarity([given[t] for t in both], [expected[t] for t in both]))


def _asked(question: str) -> set[str]:
    asked = set(_content(question))
    if not asked:
        raise ValueError("the question has no words that could be compared")
    return asked


def _content(text: str) -> list[str]:
    return content_of(TermDictionary().of(text))
