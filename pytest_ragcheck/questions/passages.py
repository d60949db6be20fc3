"""The passages of a question as documents: what they are called, and which go along with the question."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_ragcheck.questions.question import GoldPassage, Question

_DIGITS = 12


def text_digest(text: str) -> str:
    """12 hex digits of the text's SHA-256: equal texts have equal ones."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def named(passage: GoldPassage, dataset_name: str) -> GoldPassage:
    """The passage with an id: its own, else one made of the dataset's name and the text."""
    if passage.doc_id is not None:
        return passage
    return replace(passage, doc_id=f"{dataset_name}:{text_digest(passage.text)}")


def documents_of(question: Question) -> list[GoldPassage]:
    """All passages of the question, gold ones first, each id once."""
    passages = (named(p, question.dataset_name) for p in (*question.gold_passages, *question.distractors))
    by_id: dict[str | None, GoldPassage] = {}
    for passage in passages:
        by_id.setdefault(passage.doc_id, passage)
    return list(by_id.values())


def context_of(question: Question) -> list[GoldPassage]:
    """
    What goes along with the question in the tier `generation`: its gold passages, each id once.

    Without gold, as of an unanswerable question, all of its passages; empty where it has none.
    """
    gold = {named(p, question.dataset_name) for p in question.gold_passages}
    return [passage for passage in documents_of(question) if not gold or passage in gold]
