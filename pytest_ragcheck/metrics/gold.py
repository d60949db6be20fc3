"""Finds a question's gold passages in the contexts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_ragcheck.questions.question import GoldPassage, Question
    from pytest_ragcheck.rag.answer import RagAnswer

CHUNK_WORDS = 4
"""A context of fewer words may be part of a passage by chance."""


def gold_keys(question: Question) -> frozenset[str]:
    """The distinct gold passages of the question, by document id, or by text without one."""
    return frozenset(map(_key, question.gold_passages))


def found_gold(question: Question, answer: RagAnswer) -> tuple[frozenset[str], ...]:
    """
    The gold passages that each context contains, as in `gold_keys`; mostly one or none.

    A context contains a passage if the endpoint gives it the passage's document id. It also does if one text
    contains the other word for word, regardless of case, accents, punctuation and white space. The context then is
    the passage, a part of it with four words or more, or a larger text with the whole passage.
    """
    if not question.gold_passages:
        return tuple(frozenset[str]() for _ in answer.contexts)
    passages = [(_key(passage), passage.doc_id, _folded(passage.text)) for passage in question.gold_passages]
    # An endpoint may give more or fewer ids than contexts.
    ids = (*(answer.source_ids or ()), *(None,) * len(answer.contexts))
    return tuple(
        frozenset(
            key
            for key, doc_id, text in passages
            if (doc_id is not None and doc_id == source_id) or _one_in_the_other(text, folded)
        )
        for source_id, folded in zip(ids, map(_folded, answer.contexts), strict=False)
    )


def _key(passage: GoldPassage) -> str:
    return f"id {passage.doc_id}" if passage.doc_id is not None else f"text {_folded(passage.text)}"


def _folded(text: str) -> str:
    """The words, each between spaces, so that parts of words are not found."""
    from pytest_ragcheck.judging.offline.normalized_text import words

    return f" {' '.join(words(text))} "


def _one_in_the_other(passage: str, context: str) -> bool:
    if not passage.strip():
        return False
    return passage in context or (context.count(" ") > CHUNK_WORDS and context in passage)
