"""
Computes the four RAGAS metrics.

Source: the ragas library 0.4.3, `ragas.metrics.collections`. Where it returns 1.0 or NaN for an undefined value, these
functions raise a ValueError with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

FACTUALITY_WEIGHT = 0.75
"""The weight of the statements in `answer_correctness`; the similarity has the rest."""

HIGHEST_RATING = 2


def cosine_similarity(a: Sequence[float], b: Sequence[float]) -> float:
    """
    Cosine of the angle between two embeddings, -1..1.

    Raises:
        ValueError: An embedding is all zeros, or the lengths differ.
    """
    lengths = math.hypot(*a) * math.hypot(*b)
    if lengths == 0:
        raise ValueError("an embedding has no direction: all its numbers are 0")
    dot = math.fsum(x * y for x, y in zip(a, b, strict=True))
    return max(-1.0, min(1.0, dot / lengths))


def answer_relevancy(question: Sequence[float], generated: Sequence[Sequence[float]]) -> float:
    """
    Mean cosine similarity between the embeddings of the question and of questions that were generated from the answer.

    Returns:
        -1..1, rarely below 0.

    Raises:
        ValueError: An embedding is all zeros.

    Source: ragas 0.4.3, `AnswerRelevancy`, which gives 0.0 to an answer that evades the question.
    """
    return math.fsum(cosine_similarity(question, each) for each in generated) / len(generated)


def factuality(*, true_positives: int, false_positives: int, false_negatives: int) -> float:
    """
    F1 of the answer's statements against those of the reference, 0..1.

    The false positives are statements of the answer alone, the false negatives those of the reference alone.

    Raises:
        ValueError: There are no statements at all; ragas returns 1.0 then.

    Source: ragas 0.4.3, `AnswerCorrectness`.
    """
    errors = false_positives + false_negatives
    if true_positives + errors == 0:
        raise ValueError("neither the answer nor the expected answer makes a statement")
    return 2 * true_positives / (2 * true_positives + errors)


def answer_correctness(factual: float, similarity: float) -> float:
    """
    Weighted mean, -0.25..1, of factuality (0..1) and of the cosine similarity of answer and reference (-1..1).

    Source: ragas 0.4.3, `AnswerCorrectness`, with its weights of 0.75 and 0.25.
    """
    return FACTUALITY_WEIGHT * factual + (1 - FACTUALITY_WEIGHT) * similarity


def context_relevance(first: int, second: int) -> float:
    """
    Mean of two ratings of the contexts' relevance to the question, each 0, 1 or 2, divided by the highest rating.

    Returns:
        0, 0.25, 0.5, 0.75 or 1.

    Source: ragas 0.4.3, `ContextRelevance`.
    """
    return (first / HIGHEST_RATING + second / HIGHEST_RATING) / 2


def faithfulness(*, supported: int, statements: int) -> float:
    """
    Share of the answer's statements that the contexts support, 0..1.

    Raises:
        ValueError: There are no statements; ragas returns NaN then.

    Source: ragas 0.4.3, `Faithfulness`.
    """
    if not statements:
        raise ValueError("the answer makes no statement")
    return supported / statements
