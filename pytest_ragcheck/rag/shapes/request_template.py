"""A template turns a question into a request: JSON for POST, or a query string for GET."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any, ClassVar
from urllib.parse import quote, urlsplit

from pytest_ragcheck.rag.ask import NO_CONVERSATION, ConversationState
from pytest_ragcheck.rag.body.json_body import excerpt

_PLACEHOLDER = re.compile(r"\{(query|top_k|history|session)\}")
_MESSAGES, _SESSION = "{history}", "{session}"
_GET = re.compile(r"GET\s+")
_EXAMPLE = '{"input": "{query}", "k": "{top_k}"}'


def read_template(text: str) -> RequestTemplate:
    """
    The template of JSON, or of `GET name=value&name=value`, with placeholders.

    These are `{query}`, `{top_k}`, and for conversations `{history}` and `{session}`.

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
                + (
                    ""
                    if text.startswith("{")
                    else "; a form needs a function (ragcheck docs how-to/own-endpoint-shape)"
                )
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
            if value == _MESSAGES:
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
    return part != _SESSION or whole["session"] is not None
