"""`read_reply` reads the contract's reply, `{"answer": str, "contexts": [str, ...]}`, as a `RagAnswer`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.rag.body.json_body import ReplyMismatch, keys_of
from pytest_ragcheck.rag.shapes.expression import Expression
from pytest_ragcheck.rag.shapes.named_shapes import CONTRACT, NAMED_SHAPES
from pytest_ragcheck.rag.shapes.reading import IdsMismatch, NotFound, Reading

REPLY = '{"answer": "...", "contexts": ["...", ...]}'
REPLY_WITHOUT_ANSWER = '{"contexts": ["...", ...]}'
"""The reply of the contract in the tier `retrieval`."""

_READING = Reading.from_text(NAMED_SHAPES[CONTRACT].response)
_SESSION = Expression("session")


def read_reply(reply: object, *, answers: bool = True, sessions: bool = False) -> RagAnswer:
    """
    The answer in a reply of the contract's shape; further keys of the reply go to `extra`.

    Answer and contexts may be empty. Without *answers*, as in the tier `retrieval`, none is needed; with *sessions*, a
    key `session` names the conversation.

    Raises:
        ReplyMismatch: The reply has another shape; the text describes the reply and the contract.
    """
    reading = replace(_READING, answer=_READING.answer if answers else None, session=_SESSION if sessions else None)
    try:
        return reading.read(reply)
    except ReplyMismatch as mismatch:
        raise with_contract_remedy(mismatch, reply) from None


def with_contract_remedy(mismatch: ReplyMismatch, reply: object) -> ReplyMismatch:
    if isinstance(mismatch, IdsMismatch):
        return ReplyMismatch(mismatch.found, "Return a text for each context, in their order, or no source_ids.")
    if not isinstance(mismatch, NotFound):
        return mismatch
    if not isinstance(reply, Mapping):
        wanted = REPLY if mismatch.field == "answer" else REPLY_WITHOUT_ANSWER
        return ReplyMismatch(mismatch.found, f"Return an object, {wanted}.")
    return _no_answer(mismatch.found, reply) if mismatch.field == "answer" else _no_contexts(mismatch.found, reply)


def _no_answer(found: str, reply: Mapping[str, Any]) -> ReplyMismatch:
    from pytest_ragcheck.rag.shapes.reply_search import ANSWER_NAMES, keys_among

    if isinstance(reply.get("choices"), list):
        return ReplyMismatch(
            f"the reply is an OpenAI chat completion (found {keys_of(reply)})",
            f"Return {REPLY}: the text of the message, and the passages that it was made from.",
        )
    for key, inner in reply.items():
        if isinstance(inner, Mapping) and "answer" in inner:
            return ReplyMismatch(found, f'Return what "{key}" holds, without the object around it.')
    for other in keys_among(reply, ANSWER_NAMES):
        if isinstance(reply[other], str):
            return ReplyMismatch(found, f'Rename "{other}" to "answer".')
    return ReplyMismatch(found, f"Return {REPLY}.")


def _no_contexts(found: str, reply: Mapping[str, Any]) -> ReplyMismatch:
    from pytest_ragcheck.rag.shapes.reply_search import CONTEXTS_NAMES, keys_among

    if other := next(keys_among(reply, CONTEXTS_NAMES), None):
        return ReplyMismatch(found, f'Return the texts of "{other}" as "contexts", an array of strings.')
    to_do = 'Return the retrieved texts as "contexts", an array of strings, [] where nothing was retrieved.'
    return ReplyMismatch(found, to_do)
