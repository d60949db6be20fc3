"""What each key of a question takes, for whoever has to know it before the value is read."""

from __future__ import annotations

from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Kind(Enum):
    """A type of value; the value of the member is its name in the schema."""

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


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "id": Kind.ID,
        "question": Kind.TEXT,
        "expected_answer": Kind.TEXT,
        "all_acceptable_answers": Kind.TEXTS,
        "must_mention": Kind.MENTIONS,
        "must_not_mention": Kind.MENTIONS,
        "gold_passages": Kind.PASSAGES,
        "distractors": Kind.PASSAGES,
        "answerable": Kind.FLAG,
        "thresholds": Kind.THRESHOLDS,
        "top_k": Kind.COUNT,
        "tags": Kind.TAGS,
        "skip": Kind.REASON,
        "xfail": Kind.REASON,
        "quarantine": Kind.REASON,
        "metadata": Kind.MAPPING,
    }
)
"""By key of a question."""
