from __future__ import annotations

import asyncio
import gc
import os
import socket
import ssl
import subprocess
import sys
import threading
from functools import partial
from typing import Any

import httpx
import httpx2
import pytest
import trustme

from pytest_ragcheck.errors import EndpointUnreachable, JudgeUnavailable, UsageError
from pytest_ragcheck.judging.model.openai_judge import OpenAIJudge
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.rag.client import RagClient
from pytest_ragcheck.rag.http.connections import Connections, http_library
from tests.rag.misbehaviours import GOOD
from tests.servers.fake_endpoint import FakeEndpoint, Request, json_reply


async def post(connections: Connections, url: str) -> None:
    async with connections.client() as client:
        (await client.post(url, json={})).raise_for_status()


class Together:
    """Replies when that number of requests is under way."""

    def __init__(self, parties: int) -> None:
        self._barrier = threading.Barrier(parties)
        self._reply = json_reply(GOOD)

    def __call__(self, connection: socket.socket, request: Request) -> bool:
        self._barrier.wait(10)
        return self._reply(connection, request)


@pytest.mark.parametrize("at_once", [1, 8, 40])
def test_connections_are_kept_and_used_again_however_many_questions_are_asked_at_once(library, at_once):
    async def run(url: str) -> None:
        connections = Connections(library)
        for _ in range(4):
            await asyncio.gather(*(post(connections, url) for _ in range(at_once)))
        await connections.aclose()

    with FakeEndpoint(Together(at_once)) as endpoint:
        asyncio.run(run(endpoint.url))
        assert len(endpoint.requests) == 4 * at_once
        assert endpoint.connections == at_once


def lose_second_requests(connection: socket.socket, request: Request, *, known: set[int], first: Together) -> bool:
    """Reply to one request of each connection, as a server that resets idle ones may do at the worst moment."""
    if request.connection in known:
        return False
    known.add(request.connection)
    return (first if request.connection <= 4 else json_reply(GOOD))(connection, request)


@pytest.mark.parametrize("is_tls", [False, True])
def test_no_retry_goes_over_another_connection_that_the_server_closes(is_tls, tls):
    async def run(url: str) -> None:
        async with RagClient(url, timeout_seconds=5) as client:
            await asyncio.gather(*(client.query(f"{n}") for n in range(4)))
            with pytest.raises(EndpointUnreachable):
                await client.query("lost")
            for again in ("retry", "next"):
                assert (await client.query(again)).text == GOOD["answer"]

    behaviour = partial(lose_second_requests, known=set(), first=Together(4))
    with FakeEndpoint(behaviour, tls=tls if is_tls else None, host="localhost") as endpoint:
        asyncio.run(run(endpoint.url))
        assert endpoint.connections == 6


def test_no_retry_of_a_judge_goes_over_another_connection_that_the_server_closes(library):
    async def run(url: str) -> None:
        connections = Connections(library)
        await asyncio.gather(*(post(connections, url) for _ in range(4)))
        with pytest.raises((library.ReadError, library.RemoteProtocolError)):
            await post(connections, url)
        await post(connections, url)
        await connections.aclose()

    with FakeEndpoint(partial(lose_second_requests, known=set(), first=Together(4))) as endpoint:
        asyncio.run(run(endpoint.url))
        assert endpoint.connections == 5


def test_unclosed_connections_close_with_their_loop(library, recwarn):
    connections = Connections(library)
    with FakeEndpoint(json_reply(GOOD)) as endpoint:
        asyncio.run(post(connections, endpoint.url))
        asyncio.run(post(connections, endpoint.url))
        gc.collect()
        assert endpoint.connections == 2
    assert not list(recwarn)


def test_loops_in_several_threads_each_have_connections_of_their_own(library):
    connections = Connections(library)
    failures: list[BaseException] = []

    def run(url: str) -> None:
        try:
            asyncio.run(post(connections, url))
        except BaseException as error:  # shown by the assertion
            failures.append(error)

    with FakeEndpoint(Together(3)) as endpoint:
        threads = [threading.Thread(target=run, args=(endpoint.url,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []
    assert endpoint.connections == 3


def test_closing_twice_or_before_the_first_question_does_nothing(library):
    async def run(url: str) -> None:
        connections = Connections(library)
        await connections.aclose()
        await post(connections, url)
        await connections.aclose()
        await connections.aclose()
        await post(connections, url)
        await connections.aclose()

    with FakeEndpoint(json_reply(GOOD)) as endpoint:
        asyncio.run(run(endpoint.url))
        assert endpoint.connections == 2


def test_no_cookie_carries_one_question_into_the_next(library):
    async def run(url: str) -> None:
        connections = Connections(library)
        await post(connections, url)
        await post(connections, url)
        await connections.aclose()

    with FakeEndpoint(json_reply(GOOD, set_cookie="session=1; Path=/")) as endpoint:
        asyncio.run(run(endpoint.url))
    assert not [request for request in endpoint.requests if "cookie" in request.headers]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HTTP_PROXY", "gopher://127.0.0.1:1"),
        ("HTTP_PROXY", "http://[::1"),
        ("HTTPS_PROXY", "http://127.0.0.1:99999"),
        ("SSL_CERT_FILE", "/nonexistent/authority.pem"),
    ],
)
def test_an_environment_that_no_client_works_in_is_reported_before_the_first_question(name, value, monkeypatch):
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=rf"^no HTTP client can be made in this environment: .*\. Check .*{name}"):
        RagClient("http://rag.example/query")


def test_a_certificate_file_that_was_replaced_counts_as_it_is_now(library, tmp_path, monkeypatch):
    async def run(url: str) -> None:
        connections = Connections(library)
        try:
            await post(connections, url)
        finally:
            await connections.aclose()

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority = trustme.CA()
    authority.issue_cert("localhost").configure_cert(context)
    path = tmp_path / "authority.pem"
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    trustme.CA().cert_pem.write_to_path(str(path))
    with FakeEndpoint(json_reply(GOOD), tls=context, host="localhost") as endpoint:
        with pytest.raises(library.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            asyncio.run(run(endpoint.url))
        authority.cert_pem.write_to_path(str(path))
        os.utime(path, (1, 1))  # even if the file system's clock is coarse
        asyncio.run(run(endpoint.url))


@pytest.fixture
def tls(tmp_path, monkeypatch) -> ssl.SSLContext:
    """A server's certificate for localhost, of the one authority that the environment names."""
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    authority.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    return context


def test_connections_without_certificates_load_them_for_the_first_https_url(library, tls):
    async def run(url: str) -> None:
        connections = Connections(library, tls=False)
        async with connections.client(tls=False) as plain:
            with pytest.raises(library.UnsupportedProtocol):
                await plain.post(url, json={})
        await post(connections, url)
        await connections.aclose()

    with FakeEndpoint(json_reply(GOOD), tls=tls, host="localhost") as endpoint:
        asyncio.run(run(endpoint.url))
    assert len(endpoint.requests) == 1


def test_a_judge_that_redirects_from_http_to_https_is_asked_there(tls):
    async def run(url: str) -> None:
        judge = OpenAIJudge(model="m", api_key="k", base_url=url.removesuffix("/chat/completions"))
        await judge.judge(Question(dataset_name="d", id="q", question="Why?"), RagAnswer(text="So."))
        await judge.aclose()

    with FakeEndpoint(json_reply({"not": "a completion"}), tls=tls, host="localhost") as secure:
        moved = json_reply({}, status=307, location=secure.url)
        with (
            FakeEndpoint(moved, host="localhost") as plain,
            pytest.raises(JudgeUnavailable, match="instead of a chat completion"),
        ):
            asyncio.run(run(plain.url))
    assert secure.requests


def test_documents_may_be_at_https_beside_an_endpoint_at_http(tls):
    async def run(url: str, base_url: str) -> None:
        client = RagClient(url, base_url=base_url)
        await client.documents.delete("a.md")
        await client.aclose()

    with (
        FakeEndpoint(json_reply(GOOD), tls=tls, host="localhost") as secure,
        FakeEndpoint(json_reply(GOOD)) as plain,
    ):
        asyncio.run(run(plain.url, secure.url))
    assert secure.requests


@pytest.mark.parametrize("asked", ["endpoint", "judge"])
def test_a_request_that_is_cancelled_in_a_tls_handshake_leaves_no_socket_open(asked, recwarn):
    async def run(listening: socket.socket) -> None:
        url = f"https://127.0.0.1:{listening.getsockname()[1]}/v1"
        client, judge = RagClient(url), OpenAIJudge(model="m", api_key="k", base_url=url)
        question = Question(dataset_name="d", id="q", question="Why?")
        request = client.query("?") if asked == "endpoint" else judge.judge(question, RagAnswer(text="So."))
        asking = asyncio.ensure_future(request)
        connection, _ = await asyncio.to_thread(listening.accept)
        with connection:
            await asyncio.to_thread(connection.recv, 1)  # the handshake has begun
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking

    with socket.create_server(("127.0.0.1", 0)) as listening:
        asyncio.run(run(listening))
    gc.collect()
    assert not list(recwarn)


@pytest.mark.parametrize("wrong", [httpx.Client(), object()])
def test_only_an_async_client_of_either_library_is_taken(wrong: Any):
    kind = f"{type(wrong).__module__}.{type(wrong).__qualname__}"
    with pytest.raises(UsageError) as caught:
        RagClient("http://rag.example/query", http=wrong)
    assert str(caught.value) == (
        f"http= takes an AsyncClient of httpx or httpx2, not {kind}. Write http=httpx.AsyncClient(...)."
    )


def test_httpx2_is_taken_where_it_is_installed():
    assert http_library() is httpx2


ASK = """
import sys
sys.modules["httpx2"] = None  # as if it were not installed
from pytest_ragcheck.rag.client import RagClient
with RagClient(sys.argv[1]).blocking as client:
    assert client.query("?").text == "30 days"
assert "httpx" in sys.modules
"""


def test_httpx_does_the_same_where_httpx2_is_not_installed():
    with FakeEndpoint(json_reply(GOOD)) as endpoint:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", ASK, endpoint.url], capture_output=True, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert endpoint.requests[0].headers["user-agent"] == "pytest-ragcheck"
