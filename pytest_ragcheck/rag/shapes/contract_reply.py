"""`read_reply` reads the contract's reply, `{"answer": str, "contexts": [str, ...]}`, as a `RagAnswer`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.rag.body.json_body import ReplyMismatch
from pytest_ragcheck.rag.body.vocabulary import ANSWER_NAMES, CONTEXTS_NAMES, keys_among, keys_of
from pytest_ragcheck.rag.shapes.reading import NotFound, Reading

if TYPE_CHECKING:
    from pytest_ragcheck.rag.answer import RagAnswer

CONTRACT = '{"answer": "...", "contexts": ["...", ...]}'

_READING = Reading.from_text("answer=answer contexts=contexts")


def read_reply(reply: object) -> RagAnswer:
    """
    Return the answer in a reply of the contract's shape; further keys of the reply go to `extra`.

    An empty answer is valid (the system abstained), and so is an empty list of contexts.

    Raises:
        ReplyMismatch: The reply has another shape; the text describes the reply and the contract.
    """
    try:
        return _READING.read(reply)
    except NotFound as missing:
        raise in_the_contracts_words(missing, reply) from None


def in_the_contracts_words(missing: NotFound, reply: object) -> ReplyMismatch:
    """Return the mismatch with instructions for a reply that keeps the contract."""
    if not isinstance(reply, Mapping):
        return ReplyMismatch(missing.found, f"Return an object, {CONTRACT}.")
    return _no_answer(missing.found, reply) if missing.field == "answer" else _no_contexts(missing.found, reply)


def _no_answer(found: str, reply: Mapping[str, Any]) -> ReplyMismatch:
    if isinstance(reply.get("choices"), list):
        return ReplyMismatch(
            f"the reply is an OpenAI chat completion (found {keys_of(reply)})",
            f"Return {CONTRACT}: the text of the message, and the passages that it was made from.",
        )
    for other in keys_among(reply, ANSWER_NAMES):
        if isinstance(reply[other], str):
            return ReplyMismatch(found, f'Rename "{other}" to "answer".')
    for key, inner in reply.items():
        if isinstance(inner, Mapping) and "answer" in inner:
            return ReplyMismatch(found, f'Return what "{key}" holds, without the object around it.')
    return ReplyMismatch(found, f"Return {CONTRACT}.")


def _no_contexts(found: str, reply: Mapping[str, Any]) -> ReplyMismatch:
    if other := next(keys_among(reply, CONTEXTS_NAMES), None):
        return ReplyMismatch(found, f'Return the texts of "{other}" as "contexts", an array of strings.')
    to_do = 'Return the retrieved texts as "contexts", an array of strings, [] where nothing was retrieved.'
    return ReplyMismatch(found, to_do)
