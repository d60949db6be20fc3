"""An endpoint and a judge with chosen faults, always at the same questions, and with counts."""

from __future__ import annotations

import asyncio
import hashlib
import threading
import time
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from tests.servers.connection import Connection
from tests.servers.load_server import TRACE, judge_reply, rag_reply

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """Shares of the questions, 0..1, for which something goes wrong the first time; the last two are for all."""

    status_500: float = 0.0
    """Of the endpoint."""

    reset: float = 0.0
    """Of the endpoint's connection."""

    invalid_json: float = 0.0
    """Of the judge."""

    hang: float = 0.0
    """Of the judge, each time."""

    cap: int = 0
    """The endpoint refuses more at once with 429; 0: it takes all."""

    every_second: bool = False
    """The endpoint refuses every second request with 503."""


class FaultyServer:
    """
    Serves `/query` and `/v1/chat/completions` in a thread of its own.

    Args:
        faults: The faults.
        rag_seconds: Time of an answer.
        judge_seconds: Time of a verdict.
    """

    def __init__(self, faults: Faults, *, rag_seconds: float, judge_seconds: float) -> None:
        self.faults = faults
        self.seconds = {"rag": rag_seconds, "judge": judge_seconds}
        self.requests: dict[str, Counter[bytes]] = {"rag": Counter(), "judge": Counter()}
        """By side how often each question came."""

        self.running: Counter[str] = Counter()
        self.wanted_until = 0.0
        """When the last request ended, or its sender gave it up, on the monotonic clock."""

        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)

    def __enter__(self) -> Self:
        self._thread.start()
        listening = self._loop.create_server(partial(_Connection, self), "127.0.0.1", 0, backlog=1024)
        self._server: Any = asyncio.run_coroutine_threadsafe(listening, self._loop).result()
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._server.close)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def asked(self) -> int:
        """How many requests came to the endpoint."""
        return self.requests["rag"].total()


class _Connection(Connection):
    def __init__(self, server: FaultyServer) -> None:
        super().__init__()
        self._server = server
        self._under_way = False

    def connection_lost(self, exc: Exception | None) -> None:
        if self._under_way:
            self._server.wanted_until = time.monotonic()

    def take(self, path: bytes, body: bytes) -> None:
        trace = TRACE.search(body)
        self._answer("rag" if path == b"/query" else "judge", trace[0] if trace else b"", body)

    def _answer(self, side: str, trace: bytes, body: bytes) -> None:
        server, faults = self._server, self._server.faults
        first = not server.requests[side][trace]
        server.requests[side][trace] += 1
        if side == "rag" and faults.cap and server.running[side] >= faults.cap:
            self.reply(b'{"error": "busy"}', b"429 Too Many Requests")
        elif side == "rag" and faults.every_second and not server.asked % 2:
            self.reply(b'{"error": "busy"}', b"503 Service Unavailable")
        elif side == "rag" and first and hits(faults.reset, b"reset", trace):
            self.transport.abort()
        elif side == "judge" and hits(faults.hang, b"hang", trace):
            pass
        else:
            wrong = side == "rag" and first and hits(faults.status_500, b"500", trace)
            status = b"500 Internal Server Error" if wrong else b"200 OK"
            reply = rag_reply(trace) if side == "rag" else judge_reply(body)
            if side == "judge" and first and hits(faults.invalid_json, b"json", trace):
                reply = reply.replace(b'\\"answer_correctness\\"', b'\\"answer_cor')
            server.running[side] += 1
            self._under_way = True
            asyncio.get_running_loop().call_later(server.seconds[side], self._end, side, reply, status)

    def _end(self, side: str, reply: bytes, status: bytes) -> None:
        self._server.running[side] -= 1
        if not self.transport.is_closing():
            self._server.wanted_until = time.monotonic()
        self._under_way = False
        self.reply(reply, status)


def hits(share: float, fault: bytes, trace: bytes) -> bool:
    """Whether the fault is to befall this question; the same in every run."""
    digest = hashlib.blake2b(fault + trace, digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64 < share
