"""The words for values of JSON in sentences, and the names that RAG systems give to answers and contexts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.rag.excerpt import excerpt

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# In small letters without separators, the likeliest first: so each stands for every spelling of it.
ANSWER_NAMES = (
    *("answer", "response", "result", "output", "outputtext", "answertext", "finalanswer", "generatedtext"),
    *("generation", "text", "content", "message", "completion", "reply", "replies", "answers"),
)
CONTEXTS_NAMES = (
    *("contexts", "context", "chunks", "documents", "docs", "sources", "passages", "references", "snippets"),
    *("citations", "contexttexts", "retrievedcontexts", "retrieveddocuments", "retrievedchunks", "sourcedocuments"),
    *("sourcenodes", "retrievalresults", "retrievedreferences", "searchresults", "results", "hits"),
)
TEXT_NAMES = (
    *("text", "content", "pagecontent", "chunk", "snippet", "passage", "body", "value", "chunktext"),
    *("node", "document", "retrievedreferences"),
)


def keys_among(value: Mapping[Any, Any], names: Sequence[str]) -> Iterator[str]:
    """The keys that are spellings of one of *names*, in the order of the names."""
    spelled = {re.sub(r"[\W_]", "", key).lower(): key for key in value if isinstance(key, str)}
    return (spelled[name] for name in names if name in spelled)


def named(value: object) -> str:
    """The value's kind as a sentence has it, in the words of JSON where it has one."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return f"the number {value}"
    if isinstance(value, str):
        return f'the string "{excerpt(value, 60)}"'
    if isinstance(value, Mapping):
        return f"an object with {keys_of(value)}"
    if isinstance(value, (list, tuple)):
        return f"an array of {len(value)}" if value else "an empty array"
    return f"a {type(value).__name__}"


def keys_of(value: Mapping[Any, Any], longest: int = 6) -> str:
    """The first keys, in quotes, and how many more there are."""
    if not value:
        return "no keys"
    keys = ", ".join(f'"{excerpt(str(key), 40)}"' for key in list(value)[:longest])
    return keys if len(value) <= longest else f"{keys} and {len(value) - longest} more"
