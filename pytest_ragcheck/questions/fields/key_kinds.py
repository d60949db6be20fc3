"""`KINDS` lists the type of each key of a question, for the JSON Schema and the CSV reader."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum


class KeyKind(Enum):
    """A type of value in a question; the value of the member is the type's name in the schema."""

    ID = "id"
    TEXT = "text"
    TEXTS = "texts"
    MENTIONS = "mentions"
    PASSAGES = "passages"
    FLAG = "flag"
    REASON = "reason"
    COUNT = "count"
    THRESHOLDS = "thresholds"
    TAGS = "tags"
    MAPPING = "mapping"


KINDS: Mapping[str, KeyKind] = {
    "id": KeyKind.ID,
    "question": KeyKind.TEXT,
    "expected_answer": KeyKind.TEXT,
    "all_acceptable_answers": KeyKind.TEXTS,
    "must_mention": KeyKind.MENTIONS,
    "must_not_mention": KeyKind.MENTIONS,
    "must_cite": KeyKind.TEXTS,
    "must_not_retrieve": KeyKind.TEXTS,
    "gold_passages": KeyKind.PASSAGES,
    "distractors": KeyKind.PASSAGES,
    "as": KeyKind.TEXT,
    "answerable": KeyKind.FLAG,
    "thresholds": KeyKind.THRESHOLDS,
    "top_k": KeyKind.COUNT,
    "tags": KeyKind.TAGS,
    "skip": KeyKind.REASON,
    "xfail": KeyKind.REASON,
    "quarantine": KeyKind.REASON,
    "metadata": KeyKind.MAPPING,
}
"""The kind of each key of a question."""
