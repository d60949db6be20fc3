"""Collects the answer from the events of a streamed reply."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.rag.body.excerpt import excerpt
from pytest_ragcheck.rag.body.json_body import ReplyMismatch, parse_json
from pytest_ragcheck.rag.body.vocabulary import named
from pytest_ragcheck.rag.shapes.reading import FIELDS

if TYPE_CHECKING:
    from pytest_ragcheck.rag.answer import RagAnswer
    from pytest_ragcheck.rag.shapes.shape import StreamReading
    from pytest_ragcheck.rag.stream.event_parsers import EventParser, StreamEvent

_DONE = b"[DONE]"
"""The payload of the last event, by the convention of OpenAI's API."""

_SEE_THE_LOG = "See the endpoint's log."


class StreamMismatch(ReplyMismatch):
    """A stream that cannot be used."""


class StreamedReply:
    """
    The reply of one stream: pieces of the answer are joined, and the last contexts and ids that are not null stand.

    Args:
        parser: Splits the stream into events.
        reading: Says where an event has its parts.
        started: The time of `time.perf_counter` when the request was sent.
    """

    def __init__(self, parser: EventParser, reading: StreamReading, *, started: float) -> None:
        self._parser = parser
        self._reading = reading
        self._started = started
        self._events = 0
        self._first: Any = None
        self._pieces: list[str] = []
        self._found: dict[str, Any] = {}
        self._extra: dict[str, Any] = {}
        self._has_ended = False
        self._problem: StreamMismatch | None = None
        self.is_done = False
        """True after the event that ends the stream by its payload, and after one that reports an error."""

        self.first_token_seconds: float | None = None
        """From sending the request to the first piece of the answer that is not empty; None without one."""

    def feed(self, chunk: bytes) -> None:
        """Read the events that end in the chunk, and nothing once the stream is done."""
        try:
            for event in self._parser.feed(chunk):
                self._take(event)
                if self.is_done:
                    return
        except StreamMismatch as problem:
            self._problem = problem
            self.is_done = True

    def answer(self) -> RagAnswer:
        """
        Return the whole answer, after the end of the stream.

        Raises:
            StreamMismatch: The stream broke off, an event reports an error or cannot be read, or no event has the
                answer or the contexts.
        """
        if self._problem is not None:
            raise self._problem
        if not self.is_done and (last := self._parser.finish()) is not None:
            self._take(last)
        if not self._events:
            raise StreamMismatch("the stream has no events", _SEE_THE_LOG)
        end = self._reading.end
        if not self.is_done and self._parser.is_within_event:
            raise StreamMismatch(
                f"the stream breaks off in the middle of event {self._events + 1}",
                "See the endpoint's log. A blank line has to follow each event, the last one included.",
            )
        if end is not None and not (self._has_ended or self.is_done):
            raise StreamMismatch(
                f"the stream breaks off after {self._events} events, before its end ({end.text})", _SEE_THE_LOG
            )
        if self._reading.leaves_out_contexts:
            self._found.setdefault("contexts", [])
        for field in ("answer", "contexts"):
            if field not in self._found:
                raise StreamMismatch(
                    f"no event of the stream has the {field}; the first of {self._events} is {named(self._first)}",
                    f"Set rag_response so that {field}=EXPRESSION finds it in an event.",
                )
        answer = self._found["answer"]
        found = self._found | {"answer": answer if isinstance(answer, str) else "".join(answer)}
        return self._reading.parts.assemble(found, self._extra)

    def _take(self, event: StreamEvent) -> None:
        if event.data.strip() == _DONE:
            self.is_done = True
            return
        self._events += 1
        value = self._value(event)
        if self._events == 1:
            self._first = value
        self._refuse_error(event, value)
        for field in FIELDS:
            found = self._reading.parts.part(field, value)
            if found is not None:
                self._found[field] = self._joined(found) if field == "answer" else found
        if isinstance(value, Mapping):
            self._extra.update((key, each) for key, each in value.items() if each is not None)
        end = self._reading.end
        self._has_ended = self._has_ended or (end is not None and bool(end.find(value)))

    def _joined(self, piece: object) -> object:
        if not isinstance(piece, str):
            raise StreamMismatch(
                f"the answer in event {self._events} of the stream is {named(piece)}, not a string",
                "Correct answer=EXPRESSION in rag_response.",
            )
        if piece and self.first_token_seconds is None:
            self.first_token_seconds = time.perf_counter() - self._started
        if self._reading.is_cumulative:
            return piece
        self._pieces.append(piece)
        return self._pieces

    def _value(self, event: StreamEvent) -> Any:
        """Return the JSON value of the event; a text that is no JSON stands for itself."""
        text = event.data.lstrip()
        if not self._parser.takes_text or text[:1] in (b"{", b"[", b'"'):
            try:
                return parse_json(event.data)
            except ReplyMismatch as mismatch:
                raise StreamMismatch(f"event {self._events} of the stream: {mismatch.found}", mismatch.to_do) from None
        try:
            return event.data.decode()
        except UnicodeDecodeError:
            raise StreamMismatch(f"event {self._events} of the stream is not UTF-8", "Encode it as UTF-8.") from None

    def _refuse_error(self, event: StreamEvent, value: object) -> None:
        error = value.get("error") if isinstance(value, Mapping) else None
        if event.type == "error" or (isinstance(value, Mapping) and value.get("event") == "error"):
            error = error or value
        if not error:
            return
        if isinstance(error, Mapping):
            error = error.get("message") or error.get("detail") or error
        said = f'"{excerpt(error)}"' if isinstance(error, str) else named(error)
        raise StreamMismatch(
            f"event {self._events} of the stream reports an error: {said}",
            "Mend its cause in the RAG system.",
        )
