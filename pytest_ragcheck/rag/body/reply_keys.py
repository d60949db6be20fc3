"""Lists the keys under which RAG systems put answers and contexts, for suggestions in error texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_ragcheck.package_text import package_text

_LISTS = {
    title: words.split()
    for title, words in re.findall("^([a-z ]+) = (.*(?:\n .*)*)", package_text("rag/body/reply_keys.txt"), re.MULTILINE)
}
ANSWER_NAMES = _LISTS["answers"]
PIECE_NAMES = [*_LISTS["pieces before answers"], *ANSWER_NAMES, *_LISTS["pieces after answers"]]
CONTEXTS_NAMES = _LISTS["contexts"]
CONTEXT_PART_NAMES = [*CONTEXTS_NAMES, *_LISTS["further contexts"]]
TEXT_NAMES = _LISTS["texts"]
TEXT_OBJECT_NAMES = _LISTS["objects with a text"]
DOCUMENT_NAMES = _LISTS["documents"]
ID_NAMES = _LISTS["ids"]
ID_LIST_NAMES = _LISTS["arrays of ids"]
METADATA_NAMES = _LISTS["objects with a document"]
MESSAGE_NAMES = _LISTS["messages"]

_LONGEST_KEY = 60
"""Most characters of a key that is compared."""


def keys_among(value: Mapping[Any, Any], names: Sequence[str]) -> Iterator[str]:
    short = (key for key in value if isinstance(key, str) and len(key) <= _LONGEST_KEY)
    spelled = {re.sub(r"[\W_]", "", key).lower(): key for key in short}
    return (spelled[name] for name in names if name in spelled)
