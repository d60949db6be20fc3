from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Any

import pytest

from pytest_ragcheck.rag.client import RagClient
from pytest_ragcheck.rag.http.connections import Connections
from pytest_ragcheck.rag.http.plain_transport import PlainTransport
from tests.rag.misbehaviours import GOOD
from tests.servers.fake_endpoint import FakeEndpoint, Request, after, json_reply, raw, reply

OK = b"HTTP/1.1 200 OK\r\n"


def client_of(library: Any, idle_seconds: float = 1.5) -> AbstractAsyncContextManager[Any]:
    """A client whose requests the transport sends."""
    return aclosing(library.AsyncClient(transport=PlainTransport(library, idle_seconds=idle_seconds)))


def ask(library: Any, url: str, *, times: int = 1, method: str = "POST", **request: Any) -> list[Any]:
    """The replies to requests one after the other, over one client."""

    async def run() -> list[Any]:
        async with client_of(library) as client:
            return [await client.request(method, url, **request) for _ in range(times)]

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("wire", "body"),
    [
        (OK + b"Content-Length: 4\r\n\r\nbody", b"body"),
        (OK + b"content-length: 4, 4\r\n\r\nbody", b"body"),
        (OK + b"content-length: 0\r\n\r\n", b""),
        (OK + b"transfer-encoding: Chunked\r\n\r\n3;name=x\r\nbod\r\n01 \r\ny\r\n0\r\nx-sum: 1\r\n\r\n", b"body"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
        (
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"
            + OK
            + b"content-length: 0\r\n\r\n",
            b"",
        ),
        (b"HTTP/1.1 200\nContent-Length:4\nX-Long: a\n  b\n\nbody", b"body"),
    ],
)
def test_the_end_of_a_body_is_known_without_closing_the_connection(wire, body, library):
    with FakeEndpoint(raw(wire, stays_open=True)) as endpoint:
        replies = ask(library, endpoint.url, times=2)
    assert [each.content for each in replies] == [body, body]
    assert endpoint.connections == 1


@pytest.mark.parametrize(
    "wire",
    [
        b"HTTP/1.0 200 OK\r\ncontent-length: 4\r\n\r\nbody",
        OK + b"content-length: 4\r\nconnection: Close\r\n\r\nbody",
        OK + b"content-length: 9\r\ntransfer-encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
    ],
)
def test_a_connection_is_not_used_again_after_a_reply_that_ends_it(wire, library):
    with FakeEndpoint(raw(wire, stays_open=True)) as endpoint:
        assert [each.content for each in ask(library, endpoint.url, times=2)] == [b"body"] * 2
    assert endpoint.connections == 2


def test_a_body_without_a_length_ends_with_the_connection(library):
    with FakeEndpoint(raw(OK + b"\r\n" + b"x" * 200_000)) as endpoint:
        assert len(ask(library, endpoint.url)[0].content) == 200_000


def test_a_reply_to_head_has_no_body(library):
    with FakeEndpoint(raw(OK + b"content-length: 4\r\n\r\n", stays_open=True)) as endpoint:
        replies = ask(library, endpoint.url, times=2, method="HEAD")
    assert [(each.status_code, each.reason_phrase, each.content) for each in replies] == [(200, "OK", b"")] * 2


@pytest.mark.parametrize(
    ("wire", "said"),
    [
        (b"220 mail.example ESMTP\r\n", "illegal status line: b'220 mail.example ESMTP'"),
        (OK + b"no colon\r\n\r\n", "illegal header line: b'no colon'"),
        (OK + b"na me: x\r\n\r\n", "illegal header line: b'na me: x'"),
        (OK + b"content-length: +4\r\n\r\nbody", r"illegal content length b'\+4'"),
        (OK + b"content-length: 4, 5\r\n\r\nbody", "illegal content length b'4, 5'"),
        (OK + b"transfer-encoding: gzip, chunked\r\n\r\n", "unknown transfer encoding b'gzip, chunked'"),
        (OK + b"transfer-encoding: chunked\r\n\r\n0x4\r\nbody\r\n", "illegal chunk size: b'0x4'"),
        (OK + b"transfer-encoding: chunked\r\n\r\n3\r\nbody\r\n", "a chunk is longer than its size"),
        (OK + b"transfer-encoding: chunked\r\n\r\n4\r\nbody\r\n", r"message body \(incomplete chunked read\)"),
        (OK + b"content-length: 9\r\n\r\nbody", r"message body \(received 4 bytes, expected 9\)"),
        (OK + b"content-len", "peer closed connection within the line b'content-len'"),
        (OK + b"x: " + b"x" * 300_000, "a line has more than 100,000 bytes"),
        (OK + b"x: 1\r\n" * 30_000, "the headers have more than 100,000 bytes"),
        (b"", r"Server disconnected without sending a response\."),
    ],
)
def test_what_is_not_http_is_refused(wire, said, library):
    with FakeEndpoint(raw(wire)) as endpoint, pytest.raises(library.RemoteProtocolError, match=said):
        ask(library, endpoint.url)


def test_a_connection_that_the_server_has_closed_meanwhile_is_replaced(library):
    closed = threading.Event()

    def close_after_the_reply(connection: socket.socket, request: Request) -> bool:
        json_reply(GOOD)(connection, request)
        connection.shutdown(socket.SHUT_RDWR)
        closed.set()
        return False

    async def run(url: str) -> None:
        async with client_of(library) as client:
            for _ in range(3):
                assert (await client.post(url)).status_code == 200
                closed.wait(10)  # which blocks the loop: it has not seen the end of the connection
                closed.clear()

    with FakeEndpoint(close_after_the_reply) as endpoint:
        asyncio.run(run(endpoint.url))
    assert endpoint.connections == 3


def test_a_connection_that_was_unused_for_long_is_replaced(library):
    async def run(url: str) -> None:
        async with client_of(library, idle_seconds=0.01) as client:
            await client.post(url)
            await asyncio.sleep(0.02)
            await client.post(url)

    with FakeEndpoint(json_reply(GOOD)) as endpoint:
        asyncio.run(run(endpoint.url))
    assert endpoint.connections == 2


def test_a_reply_that_is_left_half_read_closes_its_connection(library):
    async def run(url: str) -> None:
        async with client_of(library) as client:
            for _ in range(2):
                async with client.stream("POST", url):
                    pass

    with FakeEndpoint(json_reply(GOOD)) as endpoint:
        asyncio.run(run(endpoint.url))
    assert endpoint.connections == 2


def test_a_header_with_a_line_break_is_not_sent(library):
    with FakeEndpoint(json_reply(GOOD)) as endpoint:
        for headers in ({"x-name": "a\r\nx-other: b"}, {"x name": "a"}):
            with pytest.raises(library.LocalProtocolError, match=r"illegal header b'x.name'"):
                ask(library, endpoint.url, headers=headers)
    assert endpoint.requests == []


def test_a_refusal_before_the_end_of_a_large_request_is_read(library):
    def refuse(connection: socket.socket, request: Request) -> bool:
        reply("too large", 413, connection="close")(connection, request)
        return False

    async def parts() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b"x" * 10_000

    # The server reads no body of a request without a length.
    with FakeEndpoint(after(b"", refuse)) as endpoint:
        try:
            (refused,) = ask(library, endpoint.url, content=parts())
        except library.ReadError:
            return  # the system may discard the reply with the connection
    assert (refused.status_code, refused.text) == (413, "too large")


def test_a_body_of_unknown_length_is_sent_in_chunks(library):
    received = bytearray()

    def read_all(connection: socket.socket, _: Request) -> bool:
        connection.sendall(OK + b"content-length: 0\r\n\r\n")
        while data := connection.recv(65_536):
            received.extend(data)
        return False

    async def parts() -> AsyncIterator[bytes]:
        yield b"first"
        yield b""
        await asyncio.sleep(0.01)  # so that it is not read ahead together with the headers
        yield b"second, the longer"

    with FakeEndpoint(read_all) as endpoint:
        ask(library, endpoint.url, content=parts())
    assert bytes(received).endswith(b"12\r\nsecond, the longer\r\n0\r\n\r\n")


def test_each_address_of_a_name_is_tried(library):
    # The server listens at 127.0.0.1 alone, and localhost may be ::1 first.
    with FakeEndpoint(json_reply(GOOD), host="localhost") as endpoint:
        assert ask(library, endpoint.url)[0].json() == GOOD


def test_a_proxy_of_the_environment_takes_requests_without_tls(monkeypatch):
    with FakeEndpoint(json_reply(GOOD)) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        with RagClient("http://rag.example/query").blocking as client:
            assert client.query("?").text == "30 days"
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        with FakeEndpoint(json_reply(GOOD)) as endpoint, RagClient(endpoint.url).blocking as client:
            client.query("?")
    assert [request.path for request in proxy.requests] == ["http://rag.example/query"]
    assert len(endpoint.requests) == 1


def test_connections_without_certificates_use_the_transport_without_tls(library):
    async def run(url: str) -> None:
        connections = Connections(library, tls=False)
        async with connections.client(tls=False) as client:
            assert isinstance(client._transport, PlainTransport)
            await client.post(url)
        await connections.aclose()

    with FakeEndpoint(json_reply(GOOD)) as endpoint:
        asyncio.run(run(endpoint.url))
