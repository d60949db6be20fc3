"""Lists the type of each key of a question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

KeyKind: TypeAlias = Literal[
    "id", "text", "texts", "mentions", "passages", "flag", "reason", "count", "thresholds", "tags", "mapping"
]
"""A type of value in a question, by its name in the schema."""

KINDS: Mapping[str, KeyKind] = {
    "id": "id",
    "question": "text",
    "expected_answer": "text",
    "all_acceptable_answers": "texts",
    "must_mention": "mentions",
    "must_not_mention": "mentions",
    "must_cite": "texts",
    "must_not_retrieve": "texts",
    "gold_passages": "passages",
    "distractors": "passages",
    "as": "text",
    "answerable": "flag",
    "thresholds": "thresholds",
    "top_k": "count",
    "tags": "tags",
    "skip": "reason",
    "xfail": "reason",
    "quarantine": "reason",
    "metadata": "mapping",
}
