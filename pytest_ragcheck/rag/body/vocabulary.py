"""Describes JSON values in words, and lists the keys under which RAG systems put answers and contexts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_ragcheck.rag.body.excerpt import excerpt

# In lower case without separators, the likeliest first, so that each entry covers all its spellings.
ANSWER_NAMES = (
    *("answer", "response", "result", "output", "outputtext", "answertext", "finalanswer", "generatedtext"),
    *("generation", "text", "content", "message", "completion", "reply", "replies", "answers", "generatedanswer"),
    *("summary", "textresponse", "parts", "data"),
)
PIECE_NAMES = ("token", "delta", "piece", *ANSWER_NAMES, "chunk", "generationchunk", "0")
"""Keys of a piece of the answer in an event of a stream, where a `message` beside it is the status."""

CONTEXTS_NAMES = (
    *("contexts", "context", "chunks", "documents", "docs", "sources", "passages", "references", "snippets"),
    *("topdocuments", "datapoints", "citations", "contexttexts", "retrievedcontexts", "retrieveddocuments"),
    *("retrievedchunks", "sourcedocuments", "sourcenodes", "retrievalresults", "retrievedreferences"),
    *("searchresults", "chunksearchresults", "results", "hits", "evidence", "groundingchunks"),
    *("retrieveddocs", "retrievedpassages", "retrieved", "relevantdocuments", "relevantdocs", "relevantchunks"),
    *("sourcechunks", "contextchunks", "nodes", "matches", "retrieverresources"),
)
CONTEXT_PART_NAMES = (*CONTEXTS_NAMES, "data", "output", "result", "points", "value", "children", "2", "8")
"""Keys of the contexts, in an event of a stream or in a reply without an answer."""

TEXT_NAMES = (
    *("text", "content", "pagecontent", "chunk", "snippet", "passage", "body", "value", "chunktext"),
    *("excerpt", "blurb", "retrievedcontext", "node", "document", "retrievedreferences", "chunkinfo", "payload"),
    *("textt", "contentt"),  # the fields text_t and content_t of Solr
)
TEXT_OBJECT_NAMES = ("source", "metadata", "fields", "data")
"""Keys of an object with the text, as in hits of Elasticsearch, Pinecone and Vespa, or documents of Cohere."""

DOCUMENT_NAMES = (
    *("documentid", "docid", "sourceid", "fileid", "filename", "documentname", "filepath", "source", "path"),
    *("file", "document", "url", "uri", "link", "title", "name", "doc"),
)
ID_NAMES = ("id", "chunkid", "passageid", "contextid", "nodeid")
ID_LIST_NAMES = ("sourceids", "documentids", "docids", "contextids", "chunkids", "ids", "sources")
METADATA_NAMES = (
    *("metadata", "meta", "location", "s3location", "document", "docmetadata", "documentmetadata", "payload"),
)
"""Keys of objects beside a text that name its document."""

MESSAGE_NAMES = ("message", "msg", "detail", "errormessage", "errormsg", "retmsg")
"""Keys of words about a failure."""

_MOST_KEYS = 6
"""Most keys of an object in a text."""

_LONGEST_KEY = 60
"""Most characters of a key that is compared."""


def keys_among(value: Mapping[Any, Any], names: Sequence[str]) -> Iterator[str]:
    short = (key for key in value if isinstance(key, str) and len(key) <= _LONGEST_KEY)
    spelled = {re.sub(r"[\W_]", "", key).lower(): key for key in short}
    return (spelled[name] for name in names if name in spelled)


def named(value: object) -> str:
    """The kind of the value in the words of a sentence, such as `the number 3` or `an empty array`."""
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
    return instance(value)


def instance(value: object) -> str:
    name = type(value).__qualname__
    return f"{'an' if name[0] in 'AEIOaeio' else 'a'} {name}"


def named_error(error: object) -> str:
    """The message of an error, or the first of an array; the kind of the error without a message."""
    if isinstance(error, list) and error:
        error = error[0]
    if isinstance(error, Mapping):
        error = error.get("message") or error.get("detail") or error.get("reason") or error
    return f'"{excerpt(error)}"' if isinstance(error, str) else named(error)


def keys_of(value: Mapping[Any, Any]) -> str:
    if not value:
        return "no keys"
    keys = ", ".join(f'"{excerpt(str(key), 40)}"' for key in list(value)[:_MOST_KEYS])
    return keys if len(value) <= _MOST_KEYS else f"{keys} and {len(value) - _MOST_KEYS} more"
