from __future__ import annotations

import asyncio
import errno
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, aclosing, closing
from typing import Any

import pytest

from pytest_ragcheck.rag.client import RagClient
from pytest_ragcheck.rag.http.connections import Connections
from pytest_ragcheck.rag.http.exchange_failures import causes_of
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


def test_a_connection_is_used_again_after_a_complete_reply(library):
    wire = OK + b"transfer-encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"
    with FakeEndpoint(raw(wire, stays_open=True)) as endpoint:
        replies = ask(library, endpoint.url, times=3)
    assert [(each.http_version, each.status_code, each.reason_phrase) for each in replies] == [
        ("HTTP/1.1", 200, "OK")
    ] * 3
    assert [each.content for each in replies] == [b"body"] * 3
    assert endpoint.connections == 1


def test_a_connection_is_not_used_again_after_a_reply_that_ends_it(library):
    wire = OK + b"content-length: 4\r\nconnection: Close\r\n\r\nbody"
    with FakeEndpoint(raw(wire, stays_open=True)) as endpoint:
        assert [each.content for each in ask(library, endpoint.url, times=2)] == [b"body"] * 2
    assert endpoint.connections == 2


@pytest.mark.parametrize("further", [b"\r\n", b"y", OK + b"content-length: 5\r\n\r\nother"])
def test_bytes_after_a_reply_are_not_taken_for_the_next_one(further, library):
    wire = OK + b"content-length: 4\r\n\r\nbody" + further
    with FakeEndpoint(raw(wire, stays_open=True)) as endpoint:
        assert [each.content for each in ask(library, endpoint.url, times=3)] == [b"body"] * 3
    assert endpoint.connections == 3


def test_a_large_body_without_a_length_ends_with_the_connection(library):
    async def run(url: str) -> list[int]:
        async with client_of(library) as client, client.stream("POST", url) as reply:
            sizes = []
            async for part in reply.aiter_raw():
                sizes.append(len(part))
                await asyncio.sleep(0.001)  # slower than the server, so that reading pauses
            return sizes

    with FakeEndpoint(raw(OK + b"\r\n" + b"x" * 2_000_000)) as endpoint:
        sizes = asyncio.run(run(endpoint.url))
    assert sum(sizes) == 2_000_000
    assert max(sizes) <= 65_536


@pytest.mark.parametrize(
    ("wire", "said"),
    [
        (b"220 mail.example ESMTP\r\n\r\n", "illegal status line"),
        (OK + b"content-length: 9\r\n\r\nbody", r"received 4 bytes, expected 9"),
        (b"", r"Server disconnected without sending a response\."),
    ],
)
def test_what_is_not_http_is_refused(wire, said, library):
    with FakeEndpoint(raw(wire)) as endpoint, pytest.raises(library.RemoteProtocolError, match=said):
        ask(library, endpoint.url)


def test_what_comes_between_two_replies_is_no_reply(library):
    def reply_twice(connection: socket.socket, request: Request) -> bool:
        json_reply(GOOD)(connection, request)
        threading.Timer(0.01, connection.sendall, [OK + b"content-length: 5\r\n\r\nstray"]).start()
        return True

    async def run(url: str) -> None:
        async with client_of(library) as client:
            for _ in range(2):
                assert (await client.post(url)).json() == GOOD
                await asyncio.sleep(0.05)

    with FakeEndpoint(reply_twice) as endpoint:
        asyncio.run(run(endpoint.url))
    assert endpoint.connections == 2


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
    with FakeEndpoint(json_reply(GOOD)) as endpoint, pytest.raises(library.LocalProtocolError, match="Illegal header"):
        ask(library, endpoint.url, headers={"x-name": "a\r\nx-other: b"})
    assert endpoint.requests == []


def test_a_request_that_is_cancelled_closes_its_connection(library):
    closed = threading.Event()

    def hang(connection: socket.socket, _: Request) -> bool:
        assert connection.recv(1) == b""
        closed.set()
        return False

    async def run(url: str) -> None:
        async with client_of(library) as client:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(client.post(url), 0.05)
            assert await asyncio.to_thread(closed.wait, 10)

    with FakeEndpoint(hang) as endpoint:
        asyncio.run(run(endpoint.url))


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


def test_a_large_body_is_sent_part_by_part(library):
    received = bytearray()

    def read_all(connection: socket.socket, _: Request) -> bool:
        connection.settimeout(10)
        while not received.endswith(b"\r\n0\r\n\r\n"):
            received.extend(connection.recv(65_536))
        connection.sendall(OK + b"content-length: 0\r\n\r\n")
        return False

    async def parts() -> AsyncIterator[bytes]:
        for _ in range(50):
            yield b"x" * 70_000

    # The server itself reads no body of a request without a length.
    with FakeEndpoint(read_all) as endpoint:
        ask(library, endpoint.url, content=parts())
    assert received.count(b"x") >= 49 * 70_000  # the first part may have come with the headers


def test_a_name_none_of_whose_addresses_answers_is_refused(library):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://localhost:{unused.getsockname()[1]}/"
        with pytest.raises(library.ConnectError, match=r"\AConnection refused\Z") as caught:
            ask(library, url)
    assert any(isinstance(cause, ConnectionRefusedError) for cause in causes_of(caught.value))


def test_a_name_that_is_not_known_is_said(library):
    with pytest.raises(library.ConnectError) as caught:
        ask(library, "http://no-such-host.invalid/")
    assert any(isinstance(cause, socket.gaierror) for cause in causes_of(caught.value))


class LoopOfWindows(asyncio.SelectorEventLoop):
    """Refuses each connection as the event loop of Windows does, whose number stands for an invalid argument."""

    async def create_connection(self, *_: object, **__: object) -> Any:
        refused: Any = ConnectionRefusedError(errno.EINVAL, "The remote computer refused the network connection")
        refused.winerror = 1225
        raise refused


def test_a_refusal_on_windows_has_its_own_words(library):
    async def ask_once() -> None:
        async with client_of(library) as client:
            await client.get("http://127.0.0.1:9/")

    with closing(LoopOfWindows()) as loop, pytest.raises(library.ConnectError) as caught:
        loop.run_until_complete(ask_once())
    assert str(caught.value) == "The remote computer refused the network connection"


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


def test_a_proxy_of_the_system_takes_no_requests_without_tls():
    # Windows and macOS name one outside of the environment; the library leaves the exceptions to it out.
    program = """
import sys, urllib.request
urllib.request.getproxies = lambda: {"http": sys.argv[2]}
from pytest_ragcheck.rag.client import RagClient
with RagClient(sys.argv[1]).blocking as client:
    print(client.query("?").text)
"""
    with FakeEndpoint(json_reply(GOOD)) as endpoint:
        arguments = (endpoint.url, "http://127.0.0.1:9")
        ran = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("30 days\n", "")


def test_connections_without_certificates_use_the_transport_without_tls(library):
    async def run(url: str) -> None:
        connections = Connections(library, tls=False)
        async with connections.client(tls=False) as client:
            assert isinstance(client._transport, PlainTransport)
            await client.post(url)
        await connections.aclose()

    with FakeEndpoint(json_reply(GOOD)) as endpoint:
        asyncio.run(run(endpoint.url))
