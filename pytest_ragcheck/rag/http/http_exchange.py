"""Defines an HTTP exchange, which reads its reply."""

from __future__ import annotations

import math
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.concurrency.limiter import TimeLimit
from pytest_ragcheck.rag.body.event_parsers import is_lines, parser_for
from pytest_ragcheck.rag.http.connections import Phase, Progress
from pytest_ragcheck.rag.shapes.streamed_reply import StreamedReply

if TYPE_CHECKING:
    from pytest_ragcheck.rag.http.connections import AnyResponse
    from pytest_ragcheck.rag.shapes.shape import StreamReading

ERROR_BODY_BYTES = 16_384
"""Bytes of the body of a failed request that are read for the error's text."""

_ERROR_BODY_SECONDS = 1.0
_DRAIN_SECONDS = 0.02
"""Time for the end of a reply after its stream; servers send it within a millisecond."""


class HttpExchange(Progress):
    """
    A request and its reply, as `HttpRoute` sends and reads them.

    Error texts call the request *shown*, such as `POST with the JSON {...}`. Without *events* a stream is any body.
    """

    def __init__(self, method: str, shown: str, events: StreamReading | None = None) -> None:
        super().__init__()
        self.method = method
        self.shown = shown
        self.session: object = None
        self._events = events
        self.stream: StreamedReply | None = None
        """The reply, if it is a stream of events."""

        self.before: BaseException | None = None
        """The exception that the caller was handling then."""

        self.started = time.perf_counter()
        """The time of `time.perf_counter` when the request was sent."""

        self.seconds = 0.0
        """From `started` to the end of the reply, or to its failure."""

        self.response: Any = None
        """That of the HTTP library; None until its body has been read."""

        self.body = b""
        """Decompressed and cut off soon after the limit; for a stream only the start."""

    @property
    def status(self) -> int | None:
        """The status; None without a reply, or if the reply could not be decompressed."""
        return None if self.response is None else int(self.response.status_code)

    @property
    def size_bytes(self) -> int:
        return len(self.body) if self.stream is None else self.stream.size_bytes

    async def read(self, response: AnyResponse, library: Any, max_bytes: int) -> None:
        """Read the body of the reply after its headers; reading ends soon after the limit."""
        self.phase = Phase.READING
        parser = parser_for(response.headers.get("content-type", ""))
        if self._events is not None and parser is not None and response.is_success:
            self.stream = StreamedReply(parser, self._events, started=self.started)
        try:
            if self.stream is not None and parser is not None and parser.is_declared:
                self.body = await _start_of_stream(response, library, max_bytes, self.stream)
            else:
                self.body = await _whole(response, library, max_bytes, self.stream)
                self.stream = self.stream if is_lines(self.body) else None
        finally:
            await response.aclose()
        self.response = response
        self.seconds = time.perf_counter() - self.started


async def _whole(response: AnyResponse, library: Any, max_bytes: int, stream: StreamedReply | None) -> bytes:
    succeeded = response.is_success
    limit = max_bytes if succeeded else ERROR_BODY_BYTES
    body = bytearray()
    with TimeLimit(math.inf if succeeded else _ERROR_BODY_SECONDS):
        try:
            async for chunk in response.aiter_bytes():
                body += chunk
                if stream is not None and not stream.is_done and body.startswith(b"{"):
                    stream.feed(chunk)  # so that its first piece is timed, if it turns out to be a stream
                if len(body) > limit:
                    break
        except library.RequestError:
            if succeeded:
                raise  # otherwise the status is the better reason
    return bytes(body)


async def _start_of_stream(response: AnyResponse, library: Any, max_bytes: int, stream: StreamedReply) -> bytes:
    start = bytearray()
    chunks = response.aiter_bytes()
    async for chunk in chunks:
        if len(start) < ERROR_BODY_BYTES:
            start += chunk
        stream.feed(chunk)
        if stream.is_done:
            # The end of the reply, if it comes at once, keeps the connection.
            with suppress(library.RequestError), TimeLimit(_DRAIN_SECONDS):
                async for _ in chunks:
                    pass
            break
        if stream.size_bytes > max_bytes:
            break
    return bytes(start)
