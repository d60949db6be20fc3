"""Which of a question's gold passages stand in which of the contexts."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_ragcheck.questions.question import GoldPassage, Question
    from pytest_ragcheck.rag.answer import RagAnswer

CHUNK_WORDS = 4
"""A context of fewer words is a part of a passage by chance."""


def gold_keys(question: Question) -> frozenset[str]:
    """The question's gold passages, each once: by document id, or by text where they have none."""
    return frozenset(map(_key, question.gold_passages))


def found_gold(question: Question, answer: RagAnswer) -> tuple[frozenset[str], ...]:
    """
    For each context, in their order, the gold passages that it holds, as in `gold_keys`; mostly one or none.

    A context holds a passage if the endpoint gives the context the passage's document id. By their texts it does
    if one contains the other word for word, whatever the case, accents, punctuation and white space: the context is
    the passage, a chunk of it with four words or more, or a larger piece that has it whole.
    """
    if not question.gold_passages:
        return tuple(frozenset[str]() for _ in answer.contexts)
    passages = [(_key(passage), passage.doc_id, _folded(passage.text)) for passage in question.gold_passages]
    # The ids are in the contexts' order, but an endpoint may give more or fewer.
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
    """The words between blanks, so that no part of a word is found."""
    from pytest_ragcheck.judging.text import words  # noqa: PLC0415 - 0.01 s, and only where there are gold passages

    return f" {' '.join(words(text))} "


def _one_in_the_other(passage: str, context: str) -> bool:
    if not passage.strip():
        return False
    return passage in context or (context.count(" ") > CHUNK_WORDS and context in passage)
