from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.rag.shapes.expression import Expression
from pytest_ragcheck.rag.shapes.named_shapes import CONTRACT, read_name
from pytest_ragcheck.rag.shapes.reading import Reading
from pytest_ragcheck.rag.shapes.request_template import RequestTemplate, read_template

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
