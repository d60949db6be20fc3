"""Splits the bytes of a streamed reply into events: server-sent events, or JSON lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_JSON_LINES = ("ndjson", "jsonl", "jsonlines", "json-lines", "stream+json")
_OF_ANYTHING = frozenset({"", "text/plain", "text/html", "application/octet-stream"})
"""Media types that servers send without being told one."""

_FAILED = (
    *("error", "errored", "fail", "failed", "failure", "exception", "abort", "aborted", "cancelled", "canceled"),
    *("timeout", "timed_out", "timed out", "false"),
)


@dataclass(frozen=True, slots=True)
class StreamEvent:
    data: bytes
    """The payload. Several `data` lines of one server-sent event are joined by line feeds."""

    type: str = ""
    """The `event` field of a server-sent event; empty without one."""


class _Lines:
    # Splits chunks of any size into lines, in time proportional to their total length.
    def __init__(self) -> None:
        self.rest = bytearray()
        self._after_return = False
        self._first = True

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        # The line feed of a CR LF pair may come in the next chunk.
        unread = chunk.removeprefix(b"\n") if self._after_return else chunk
        if chunk:
            self._after_return = chunk.endswith(b"\r")
        for part in unread.splitlines(keepends=True):
            self.rest += part
            if part.endswith((b"\r", b"\n")):
                line = bytes(self.rest).rstrip(b"\r\n")
                self.rest.clear()
                if self._first:
                    self._first = False
                    line = line.removeprefix(_BYTE_ORDER_MARK)
                yield line


class ServerSentEvents:
    """
    Parses `text/event-stream`.

    Source: the HTML standard, section 9.2.6, "Interpreting an event stream". `id` and `retry` concern only
    reconnecting, and are ignored.
    """

    takes_text = True
    """The payload of an event may be plain text."""

    is_declared = True

    def __init__(self) -> None:
        self._lines = _Lines()
        self._data: list[bytes] = []
        self._type = ""

    @property
    def is_within_event(self) -> bool:
        """True if the last event is incomplete; a comment belongs to no event."""
        return bool(self._data) or bytes(self._lines.rest[:1]) not in {b"", b":", b"{"}

    def feed(self, chunk: bytes) -> Iterator[StreamEvent]:
        """Yield the events that end in this chunk, which may end anywhere, even within a character."""
        for line in self._lines.feed(chunk):
            if line.startswith(b"{"):  # of Onyx and Langflow
                yield StreamEvent(line)
                continue
            if not line:
                if self._data or is_failure(self._type):  # may come without data
                    yield StreamEvent(b"\n".join(self._data), self._type)
                self._data, self._type = [], ""
                continue
            name, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if name == b"data":
                self._data.append(value)
            elif name == b"event":
                self._type = value.decode(errors="replace")

    def finish(self) -> StreamEvent | None:
        """The last event if no blank line follows it; the standard discards such an event."""
        return next(self.feed(b"\n\n"), None)


class JsonLines:
    """Parses `application/x-ndjson`: one JSON value a line; blank lines are skipped."""

    takes_text = False
    is_within_event = False
    """The end of a stream ends its last line; a truncated line is not valid JSON."""

    def __init__(self, *, is_declared: bool = True) -> None:
        self._lines = _Lines()
        self.is_declared = is_declared
        """False if the media type allows any text, so that the body decides."""

    def feed(self, chunk: bytes) -> Iterator[StreamEvent]:
        for line in self._lines.feed(chunk):
            if line.strip():
                yield StreamEvent(line)

    def finish(self) -> StreamEvent | None:
        rest = bytes(self._lines.rest).removeprefix(_BYTE_ORDER_MARK)
        return StreamEvent(rest) if rest.strip() else None


EventParser = ServerSentEvents | JsonLines


def parser_for(content_type: str) -> EventParser | None:
    """The parser for a media type with its parameters; None if the reply is not an event stream."""
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type == "text/event-stream":
        return ServerSentEvents()
    is_declared = media_type.endswith(_JSON_LINES)
    return JsonLines(is_declared=is_declared) if is_declared or media_type in _OF_ANYTHING else None


def is_failure(word: str) -> bool:
    """True if the name of an event, or the status of a reply, reports a failure, as `RUN_ERROR` and `500` do."""
    word = word.lower()
    ends = word.endswith(_FAILED) and not word.startswith("no")
    return ends or re.fullmatch(r"-\d+|[45]\d{2,4}", word) is not None


def is_lines(body: bytes) -> bool:
    """True if the first line of the body is an object, and a further line begins like one."""
    first, _, rest = body.partition(b"\n")
    return first.startswith(b"{") and first.rstrip().endswith(b"}") and rest.lstrip().startswith(b"{")
