"""One connection of a server that takes next to no CPU a request."""

from __future__ import annotations

import asyncio
import re
from abc import abstractmethod

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Connection(asyncio.Protocol):
    """Reads requests with keep-alive, one at a time; a subclass decides the reply and its time."""

    def __init__(self) -> None:
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if not end or len(body) < (int(length[1]) if length else 0):
            return
        self._received = b""
        self.take(head.split(b" ", 2)[1], body)

    @abstractmethod
    def take(self, path: bytes, body: bytes) -> None:
        """Takes a request; `reply` answers it, now or later."""

    def reply(self, body: bytes, status: bytes = b"200 OK") -> None:
        """Sends the JSON, if anybody is still there."""
        if not self.transport.is_closing():
            head = b"HTTP/1.1 %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % (status, len(body))
            self.transport.write(head + body)
