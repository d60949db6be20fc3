"""Lists the keys under which RAG systems put answers and contexts, for suggestions in error texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.rag.body.excerpt import named_error

_LISTS = re.findall("(?m)^[a-z ]+ = (.*(?:\\n .*)*)", package_text("rag/reply_keys.txt"))

# In the order of the file, whose titles explain them.
(
    ANSWER_NAMES, _BEFORE, _AFTER, CONTEXTS_NAMES, _FURTHER, TEXT_NAMES, TEXT_OBJECT_NAMES, DOCUMENT_NAMES, ID_NAMES,
    ID_LIST_NAMES, METADATA_NAMES, _MESSAGES, _PARTS,
) = map(str.split, _LISTS)  # fmt: skip
PIECE_NAMES = [*_BEFORE, *ANSWER_NAMES, *_AFTER]
CONTEXT_PART_NAMES = [*CONTEXTS_NAMES, *_FURTHER]
KNOWN_SETTINGS = list(map(" ".join, zip(*[iter(_PARTS)] * 3, strict=True)))


def keys_among(value: Mapping[Any, Any], names: Sequence[str]) -> Iterator[str]:
    spelled = {re.sub(r"[\W_]", "", key).lower(): key for key in value if isinstance(key, str) and len(key) <= 60}
    return map(spelled.__getitem__, filter(spelled.__contains__, names))


def with_messages(found: str, reply: object) -> str:
    """The text with the words beside the missing part, which may tell of a failure."""
    keys = reply if isinstance(reply, Mapping) else {}
    for key in keys_among(keys, _MESSAGES):
        if isinstance(keys[key], str):
            found += f'; "{key}" is {named_error(keys[key])}'
    return found
