from __future__ import annotations

import hashlib
from dataclasses import replace

from pytest_ragcheck.questions.question import GoldPassage, Question


def text_digest(text: str) -> str:
    """12 hex digits, also of a text with lone surrogates."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def named(passage: GoldPassage, dataset_name: str) -> GoldPassage:
    """The passage with its own id, or with an id made from the dataset's name and the text."""
    if passage.doc_id is not None:
        return passage
    return replace(passage, doc_id=f"{dataset_name}:{text_digest(passage.text)}")


def documents_of(question: Question) -> list[GoldPassage]:
    """The passages, gold ones first, each once; several may belong to one document."""
    passages = (named(p, question.dataset_name) for p in (*question.gold_passages, *question.distractors))
    return list(dict.fromkeys(passages))


def context_of(question: Question) -> list[GoldPassage]:
    """
    The passages that a request carries in the tier `generation`: the gold passages, each once.

    A question without gold passages, such as an unanswerable question, carries all its passages.
    """
    return documents_of(replace(question, distractors=()) if question.gold_passages else question)
