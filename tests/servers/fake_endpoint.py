"""
A RAG endpoint whose behaviour a test controls, down to the bytes on the wire.

    with FakeEndpoint(json_reply({"answer": "30 days", "contexts": []})) as endpoint:
        RagClient(endpoint.url).blocking.query("How long?")
        assert endpoint.requests[0].json["top_k"] == 5

What it does is a `Behaviour`: a function of the connection and the request that says whether the connection stays
open. The functions below make the usual ones.
"""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from typing_extensions import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    """By lower-case name."""

    body: bytes
    connection: int
    """The ordinal of the connection that it came over, from 1."""

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Behaviour: TypeAlias = Callable[[socket.socket, Request], bool]


class FakeEndpoint:
    """
    A server on 127.0.0.1 with a thread a connection; entered again it listens where it did.

    Args:
        behaviour: Its reaction to each request.
        tls: Makes it speak TLS; `host` is then the name in its URL.
        host: The name in `url`; it always listens on 127.0.0.1.
    """

    def __init__(self, behaviour: Behaviour, *, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> None:
        self._behaviour = behaviour
        self._tls = tls
        self._host = host
        self.requests: list[Request] = []
        self.connections = 0
        self.port = 0
        self._open: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._changing = threading.Lock()

    def __enter__(self) -> Self:
        self._listening = socket.create_server(("127.0.0.1", self.port), backlog=256)
        self.port = self._listening.getsockname()[1]
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()
        return self

    def __exit__(self, *_: object) -> None:
        # Closing alone would leave accept() waiting.
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._accepting.join()
        with self._changing:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    @property
    def url(self) -> str:
        return f"http{'s' if self._tls else ''}://{self._host}:{self.port}/query"

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self.connections += 1
            thread = threading.Thread(target=self._serve, args=(connection, self.connections), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket, ordinal: int) -> None:
        if self._tls is not None:
            try:
                connection = self._tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
            except OSError:  # the client has gone already
                return
        with self._changing:
            self._open.add(connection)
        # An OSError: the client, or the end of the test, cut the connection.
        with contextlib.suppress(OSError), connection, connection.makefile("rb") as incoming:
            try:
                if isinstance(connection, ssl.SSLSocket):
                    connection.do_handshake()
                while request := _read_request(incoming, ordinal):
                    self.requests.append(request)
                    if not self._behaviour(connection, request):
                        return
            except (ValueError, ssl.SSLError):
                _refuse(connection)
        with self._changing:
            self._open.discard(connection)


def _refuse(connection: socket.socket) -> None:
    """Closes a connection without HTTP or TLS in good order: unread bytes would make it a reset."""
    if not isinstance(connection, ssl.SSLSocket):
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n")
    socket.socket.shutdown(connection, socket.SHUT_WR)
    while socket.socket.recv(connection, 65_536):
        pass


def json_reply(value: Any, status: int = 200, **headers: str) -> Behaviour:
    """Replies with the value as JSON."""
    return reply(json.dumps(value), status, **{"content_type": "application/json", **headers})


def reply(body: bytes | str, status: int = 200, reason: str | None = None, **headers: str) -> Behaviour:
    """Replies with the body as it is, and stays open. Underscores in the names of headers become hyphens."""
    encoded = body.encode() if isinstance(body, str) else body
    words = HTTPStatus(status).phrase if reason is None else reason
    lines = [f"HTTP/1.1 {status} {words}".strip(), f"content-length: {len(encoded)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return raw(("\r\n".join(lines) + "\r\n\r\n").encode() + encoded, stays_open=True)


def raw(wire: bytes, *, stays_open: bool = False) -> Behaviour:
    """Sends these bytes, be they HTTP or not."""

    def behave(connection: socket.socket, _: Request) -> bool:
        connection.sendall(wire)
        return stays_open

    return behave


def chunked(pieces: Iterable[bytes], pause_seconds: float = 0.0, **headers: str) -> Behaviour:
    """Replies with a body of these pieces, one after the other; the iterable may be endless."""
    lines = [f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items()]
    head = f"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n{''.join(lines)}\r\n".encode()

    def behave(connection: socket.socket, _: Request) -> bool:
        connection.sendall(head)
        for piece in pieces:
            connection.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
            if pause_seconds and _is_cut(connection, pause_seconds):
                return False
        connection.sendall(b"0\r\n\r\n")
        return True

    return behave


def close_without_reply(connection: socket.socket, _: Request) -> bool:
    """Ends the connection in good order, without a byte."""
    return False


def reset(connection: socket.socket, _: Request) -> bool:
    """Breaks the connection off."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    # A file made of the socket still holds it open: detached, it is gone at once.
    socket.close(connection.detach())
    return False


def hang(connection: socket.socket, _: Request) -> bool:
    """Never replies; ends when the client or the test does."""
    while not _is_cut(connection, 60):
        pass
    return False


def after(wire: bytes, then: Behaviour) -> Behaviour:
    """Sends these bytes first."""

    def behave(connection: socket.socket, request: Request) -> bool:
        connection.sendall(wire)
        return then(connection, request)

    return behave


def _is_cut(connection: socket.socket, seconds: float) -> bool:
    """Waits so long, or until the other side ends the connection."""
    connection.settimeout(seconds)
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    finally:
        connection.settimeout(None)


def _read_request(incoming: Any, ordinal: int) -> Request | None:
    if incoming.peek(1)[:1] == b"\x16":
        raise ValueError("TLS spoken to a plain port")
    line = incoming.readline().decode("latin-1")
    if not line:
        return None
    method, path, _ = line.split(" ")
    headers: dict[str, str] = {}
    while field := incoming.readline().decode("latin-1").strip():
        name, _, value = field.partition(":")
        headers[name.lower()] = value.strip()
    body = incoming.read(int(headers.get("content-length", 0)))
    return Request(method=method, path=path, headers=headers, body=body, connection=ordinal)
