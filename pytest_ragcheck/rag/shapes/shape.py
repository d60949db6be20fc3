"""Builds the shape of an endpoint, the form of its requests and of its replies, and reads the contract's reply."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.rag.body.json_body import ReplyMismatch, keys_of
from pytest_ragcheck.rag.shapes.expression import Expression
from pytest_ragcheck.rag.shapes.reading import IdsMismatch, NotFound, Reading
from pytest_ragcheck.rag.shapes.request_template import RequestTemplate, read_template

CONTRACT = "query"
CHAT = '"messages": ["{history}", {"role": "user", "content": "{query}"}]'
"""The conversation in a request of OpenAI's API."""


@frozen
class NamedShape:
    """The texts of a named shape, which `read_shape` parses; the last four are those of `StreamReading`."""

    request: str
    response: str
    event: str | None = None
    """The response in each event of a streamed reply; None if it is the same as for a whole reply."""

    stream_end: str | None = None
    stream_error: str | None = None
    stream_replacement: str | None = None
    leaves_out_contexts: bool = False


def _shapes() -> Iterator[tuple[str, NamedShape]]:
    for section in package_text("rag/shapes.txt").replace("<CHAT>", CHAT).split("\n[")[1:]:
        name, *lines = section.splitlines()
        fields: dict[str, Any] = dict(line.split(" = ", 1) for line in lines if line and line[0] != "#")
        fields["leaves_out_contexts"] = "leaves_out_contexts" in fields
        yield name.rstrip("]"), NamedShape(**fields)


NAMED_SHAPES = dict(_shapes())


def read_name(text: str) -> NamedShape:
    """
    The shape with this name.

    Raises:
        ValueError: The name is unknown; the message continues a sentence that starts with the name.
    """
    if text not in NAMED_SHAPES:
        raise ValueError(
            f"is not a shape; choose one of {', '.join(NAMED_SHAPES)}, "
            "or describe another by rag_request and rag_response"
        )
    return NAMED_SHAPES[text]


T = TypeVar("T")


@frozen
class StreamReading:
    """The expressions for the events of a streamed reply."""

    parts: Reading
    end: Expression | None
    """True in the event that ends the stream; None if the stream ends with the reply."""

    error: Expression | None
    """The error that an event reports, beyond the key `error` and events of the type `error`."""

    replacement: Expression | None
    """True in an event whose answer replaces the pieces before it."""

    leaves_out_contexts: bool
    """True if a stream without contexts means that nothing was retrieved."""


@frozen
class Shape:
    request: RequestTemplate
    reading: Reading
    stream: StreamReading
    reads_the_contract: bool
    """True if replies have to keep the contract, false if a setting describes other replies."""

    @property
    def without_answer(self) -> Shape:
        parts = replace(self.stream.parts, answer=None)
        return replace(self, reading=replace(self.reading, answer=None), stream=replace(self.stream, parts=parts))


def read_shape(name: str = CONTRACT, request: str | None = None, response: str | None = None) -> Shape:
    """
    The named shape; a user's *request* or *response* replaces that of the shape.

    Raises:
        UsageError: An argument is invalid; the text gives the remedy.
    """
    named = _read("shape", name, read_name)
    template = _read("request", named.request if request is None else request, read_template)
    reading = _read("response", named.response if response is None else response, Reading.from_text)
    stream = StreamReading(
        parts=Reading.from_text(named.event) if named.event is not None and response is None else reading,
        end=_expression(named.stream_end),
        error=_expression(named.stream_error),
        replacement=_expression(named.stream_replacement),
        leaves_out_contexts=named.leaves_out_contexts and response is None,
    )
    return Shape(
        request=template, reading=reading, stream=stream, reads_the_contract=response is None and name == CONTRACT
    )


def _expression(text: str | None) -> Expression | None:
    return None if text is None else Expression(text)


def _read(what: str, text: Any, read: Callable[[str], T]) -> T:
    if not isinstance(text, str):
        raise UsageError(f"{what} is {type(text).__name__}, not str. Write it as text, as in the setting rag_{what}.")
    try:
        return read(text.strip())
    except ValueError as error:
        raise UsageError(f"{what}: {text!r} {error}") from None


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
