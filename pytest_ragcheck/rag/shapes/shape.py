"""Builds the shape of an endpoint, the form of its requests and of its replies, and reads the contract's reply."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, TypeVar
from urllib.parse import quote, urlsplit

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.rag.ask import NO_CONVERSATION, ConversationState
from pytest_ragcheck.rag.body.json_body import ReplyMismatch, excerpt, keys_of
from pytest_ragcheck.rag.shapes.expression import Expression
from pytest_ragcheck.rag.shapes.reading import IdsMismatch, NotFound, Reading

_PLACEHOLDER = re.compile(r"\{(query|top_k|history|session)\}")
_GET = re.compile(r"GET\s+")
_EXAMPLE = '{"input": "{query}", "k": "{top_k}"}'


def read_template(text: str) -> RequestTemplate:
    """
    The template of JSON, or of `GET name=value&name=value`.

    Raises:
        ValueError: The text is neither, or lacks `{query}`; the message continues a sentence that starts with the text.
    """
    get = _GET.match(text)
    template = QueryStringTemplate(text[get.end() :]) if get else JsonTemplate(text)
    if "{query}" not in text:
        raise ValueError(f"has no place for the question; write {{query}} where it goes, such as {_EXAMPLE}")
    return template


class JsonTemplate:
    method: ClassVar[str] = "POST"

    def __init__(self, text: str) -> None:
        try:
            self._value = json.loads(text)
        except ValueError as error:
            where = f", from character {error.pos + 1} on," if isinstance(error, json.JSONDecodeError) else ""
            raise ValueError(
                f"is neither JSON{where} nor a query string after GET; write {_EXAMPLE} or GET q={{query}}"
                + ("" if text[:1] == "{" else "; a form needs a function (ragcheck docs how-to/own-endpoint-shape)")
            ) from None
        self.shown = f"POST with the JSON {excerpt(text, 200)}"
        """The request in words, for error texts."""

        self.carried: Collection[str] = frozenset(_PLACEHOLDER.findall(text))
        """The names of the template's placeholders."""

    def fill(self, query: str, top_k: int, conversation: ConversationState = NO_CONVERSATION) -> Any:
        """
        The JSON value; a string that is only a placeholder becomes the value itself.

        The messages of `{history}` in an array become its elements. Without a session, a key or an element that is only
        `{session}` is left out, because many servers reject null.
        """
        whole = {"query": query, "top_k": top_k, "history": conversation.messages, "session": conversation.session}
        return _filled(self._value, whole, _texts(query, top_k, conversation))

    def sent(self, filled: Any, url: str) -> dict[str, Any]:  # noqa: ARG002 - all of it is in the body
        """The arguments of `HttpRoute.fetch` for a request to the URL."""
        return {"content": json.dumps(filled).encode(), "headers": {"content-type": "application/json"}}


class QueryStringTemplate:
    """A template of a query string whose placeholders become percent-encoded values."""

    method: ClassVar[str] = "GET"

    def __init__(self, text: str) -> None:
        pairs = [pair.partition("=") for pair in text.split("&")]
        if re.search(r"[\s#]", text) or not all(name and equals for name, equals, _ in pairs):
            raise ValueError(
                "has no query string after GET; write, for example, GET q={query}&k={top_k}, "
                "with %20 for a blank, %26 for & and %23 for #"
            )
        self._text = text
        self._names = {name for name, _, _ in pairs}
        self.shown = f"GET with the query string {excerpt(text, 200)}"
        self.carried: Collection[str] = frozenset(_PLACEHOLDER.findall(text))

    def fill(self, query: str, top_k: int, conversation: ConversationState = NO_CONVERSATION) -> str:
        """The query string, without the parameters of a session if there is none yet."""
        # UTF-8 cannot encode a lone surrogate of a question; JSON can.
        texts = _texts(query, top_k, conversation).items()
        values = {name: quote(text, safe="", errors="replace") for name, text in texts}
        pairs = self._text.split("&")
        if conversation.session is None:
            pairs = [pair for pair in pairs if "{session}" not in pair]
        return _PLACEHOLDER.sub(lambda match: values[match[1]], "&".join(pairs))

    def sent(self, filled: Any, url: str) -> dict[str, Any]:
        parts = urlsplit(url)
        kept = [pair for pair in parts.query.split("&") if pair and pair.partition("=")[0] not in self._names]
        return {"url": parts._replace(query="&".join([*kept, filled]), fragment="").geturl()}


RequestTemplate = JsonTemplate | QueryStringTemplate


def _texts(query: str, top_k: int, conversation: ConversationState) -> dict[str, str]:
    return {
        "query": query,
        "top_k": str(top_k),
        "history": conversation.text,
        "session": "" if conversation.session is None else str(conversation.session),
    }


def _filled(part: Any, whole: Mapping[str, Any], texts: Mapping[str, str]) -> Any:
    # The part filled by *whole* where a string is only a placeholder, else by *texts*.
    if isinstance(part, str):
        if match := _PLACEHOLDER.fullmatch(part):
            return whole[match[1]]
        return _PLACEHOLDER.sub(lambda match: texts[match[1]], part)
    if isinstance(part, dict):
        return {key: _filled(value, whole, texts) for key, value in part.items() if _is_sent(value, whole)}
    if isinstance(part, list):
        elements: list[Any] = []
        for value in part:
            if value == "{history}":
                elements += _messages(part, whole, texts)
            elif _is_sent(value, whole):
                elements.append(_filled(value, whole, texts))
        return elements
    return part


def _messages(beside: list[Any], whole: Mapping[str, Any], texts: Mapping[str, str]) -> list[Any]:
    # The messages of the history, in the form of the message with `parts` beside them, if there is one.
    openai: dict[str, Any] = {"role": "", "content": "{query}"}
    form = next((each for each in beside if isinstance(each, dict) and "parts" in each), openai)
    said = [({**form, "role": each["role"]}, {"query": each["content"]}) for each in whole["history"]]
    return [_filled(message, {**whole, **text}, {**texts, **text}) for message, text in said]


def _is_sent(part: Any, whole: Mapping[str, Any]) -> bool:
    return part != "{session}" or whole["session"] is not None


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
    is_contract = response is None and name == CONTRACT
    return Shape(request=template, reading=reading, stream=stream, reads_the_contract=is_contract)


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
