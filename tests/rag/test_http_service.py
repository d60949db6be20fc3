"""Requests to an endpoint over HTTP, and those that carry passages or request the retrieved chunks."""

from __future__ import annotations

import asyncio
import itertools
import logging
import socket
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from pytest_ragcheck.errors import (
    EndpointError,
    EndpointReplyError,
    EndpointStatusError,
    EndpointTimeout,
    EndpointUnreachable,
    UsageError,
)
from pytest_ragcheck.questions.question import GoldPassage
from pytest_ragcheck.rag.client import RagClient
from tests.rag.misbehaviours import GOOD
from tests.servers.fake_endpoint import (
    FakeEndpoint,
    Request,
    after,
    chunked,
    close_without_reply,
    hang,
    json_reply,
    raw,
    reply,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_ragcheck.rag.client_calls import BlockingRagClient


T = TypeVar("T")

SOURCES = [{"document_id": "d1", "file_name": "a.txt", "text": "The shop opens at 9.", "score": 0.5}]
SERVER = {"answer": "At 9.", "sources": SOURCES, "session_id": "s", "citations": [], "metrics": {}}
LATE = f"passage:{sha256(b'Late.').hexdigest()[:12]}"
PASSAGES = (GoldPassage(text="At 9.", doc_id="d1"), GoldPassage(text="Late."))


def call(url: str, use: Callable[[BlockingRagClient], T], **options: Any) -> T:
    """The result of *use* with a client of the URL, which is closed then."""
    with RagClient(url, **options).blocking as client:
        return use(client)


def test_passages_go_along_with_a_question_and_no_session_does():
    with FakeEndpoint(json_reply(SERVER)) as endpoint:
        answer = call(endpoint.url, lambda client: client.query_with_context("When?", PASSAGES))
    (request,) = endpoint.requests
    assert (request.method, request.path) == ("POST", "/query/with-context")
    assert request.headers["content-type"] == "application/json"
    assert request.json == {
        "query": "When?",
        "context_passages": [
            {"text": "At 9.", "doc_id": "d1"},
            {"text": "Late.", "doc_id": LATE},
        ],
        "session_id": None,
    }
    assert (answer.text, answer.contexts, answer.source_ids) == ("At 9.", ("The shop opens at 9.",), ("d1",))
    assert answer.latency_seconds is not None


@pytest.mark.parametrize("body", [{"answer": "", "contexts": []}, {"jobId": 17}])
def test_status_202_without_an_answer_is_no_answer_yet(body):
    with FakeEndpoint(json_reply(body, 202)) as endpoint, pytest.raises(EndpointReplyError) as caught:
        call(endpoint.url, lambda client: client.query("When?"))
    found, to_do = str(caught.value).splitlines()
    assert found.endswith(" (status 202)")
    assert to_do.startswith("Settings ask once. Wait for the answer in a function:")
    assert ("no answer yet" in found) == ("answer" in body)


def test_status_202_with_an_answer_is_an_answer():
    with FakeEndpoint(json_reply(GOOD, 202)) as endpoint:
        assert call(endpoint.url, lambda client: client.query("When?")).text == GOOD["answer"]


def test_a_session_goes_along_where_one_is_given():
    with FakeEndpoint(json_reply(SERVER)) as endpoint:
        call(endpoint.url, lambda client: client.query_with_context("When?", PASSAGES, session_id="mine"))
    assert endpoint.requests[0].json["session_id"] == "mine"


@pytest.mark.parametrize(
    ("options", "reply", "contexts"),
    [
        ({"shape": "query"}, {"answer": "At 9.", "contexts": ["a"]}, ("a",)),
        ({"response": "answer=said contexts=found[].t"}, {"said": "At 9.", "found": [{"t": "b"}]}, ("b",)),
        ({"request": '{"q": "{query}"}'}, SERVER, ("The shop opens at 9.",)),
    ],
)
def test_a_shape_of_the_client_reads_the_reply_about_passages(
    options: dict[str, Any], reply: object, contexts: tuple[str, ...]
):
    with FakeEndpoint(json_reply(reply)) as endpoint:
        answer = call(endpoint.url, lambda client: client.query_with_context("When?", PASSAGES), **options)
    assert (answer.text, answer.contexts) == ("At 9.", contexts)
    assert endpoint.requests[0].json["query"] == "When?"


@pytest.mark.parametrize("status", [404, 405])
def test_a_server_without_the_route_is_an_error_with_the_ways_out(status: int):
    with FakeEndpoint(json_reply({}, status)) as endpoint, pytest.raises(EndpointError) as caught:
        call(endpoint.url, lambda client: client.query_with_context("When?", PASSAGES))
    assert str(caught.value).startswith(f"{endpoint.url}/with-context: status {status} ")
    assert str(caught.value).splitlines()[1] == (
        "The tier generation needs the route POST /query/with-context there: check rag_base_url (by "
        "default rag_url without its final /query), or choose another rag_tier. "
        "ragcheck dataset lists the tiers of each dataset."
    )


def test_a_request_that_is_refused_is_shown_in_its_form():
    with FakeEndpoint(json_reply({}, 422)) as endpoint, pytest.raises(EndpointError) as caught:
        call(endpoint.url, lambda client: client.query_with_context("When?", PASSAGES))
    assert (
        'POST with the JSON {"query": "{query}", "context_passages": [{"text": "...", "doc_id": "..."}], '
        '"session_id": "{session}"}'
    ) in str(caught.value)


def test_chunks_are_asked_for_and_their_documents_known():
    with FakeEndpoint(json_reply(SERVER)) as endpoint:
        answer = call(endpoint.url, lambda client: client.query("When?", 3, include_chunks=True))
        with pytest.raises(EndpointReplyError):
            call(endpoint.url, lambda client: client.query("When?", 3))
    assert [request.json for request in endpoint.requests] == [
        {"query": "When?", "top_k": 3, "include_chunks": True},
        {"query": "When?", "top_k": 3},
    ]
    assert (answer.contexts, answer.source_ids) == (("The shop opens at 9.",), ("d1",))


@pytest.mark.parametrize(
    "options",
    [{"shape": "query"}, {"request": '{"query": "{query}"}'}, {"response": "answer=answer contexts=contexts"}],
)
def test_a_shape_of_the_clients_own_is_kept_where_chunks_are_asked_for(options: dict[str, Any]):
    with FakeEndpoint(json_reply({"answer": "At 9.", "contexts": ["a"]})) as endpoint:
        answer = call(endpoint.url, lambda client: client.query("When?", include_chunks=True), **options)
    assert "include_chunks" not in endpoint.requests[0].json
    assert (answer.contexts, answer.source_ids) == (("a",), None)


def test_all_routes_share_their_connections():
    with FakeEndpoint(json_reply(SERVER)) as endpoint, RagClient(endpoint.url).blocking as client:
        client.query("When?", include_chunks=True)
        client.query_with_context("When?", PASSAGES)
        client.delete_document("a")
    assert {request.connection for request in endpoint.requests} == {1}


def test_a_function_is_given_the_passages_if_it_takes_them():
    def answer(query: str, context_passages: list[dict[str, str]]) -> dict[str, Any]:
        return {"answer": query, "contexts": [passage["doc_id"] for passage in context_passages]}

    def plain(query: str) -> dict[str, Any]:
        return {"answer": query, "contexts": []}

    found = RagClient.from_callable(answer).blocking.query_with_context("When?", PASSAGES)
    assert (found.text, found.contexts) == ("When?", ("d1", LATE))
    with pytest.raises(EndpointError) as caught:
        RagClient.from_callable(plain).blocking.query_with_context("When?", PASSAGES)
    assert str(caught.value) == (
        f"{__name__}.{plain.__qualname__}: takes no context_passages\n"
        "The tier generation gives a function its passages as function(query, context_passages=[...]), each "
        '{"text": ..., "doc_id": ...}. Let it take them, or choose another rag_tier. '
        "ragcheck dataset lists the tiers of each dataset."
    )


def ask(url: str, library: Any = None, **options: Any):
    """One question by a client of its own; over a user's client of *library* if that is given."""

    async def run() -> Any:
        if library is None:
            async with RagClient(url, **options) as client:
                return await client.query("What is the refund window?")
        async with library.AsyncClient() as http:
            return await RagClient(url, http=http, **options).query("What is the refund window?")

    return asyncio.run(run())


def fail(url: str, library: Any = None, **options: Any) -> EndpointError:
    with pytest.raises(EndpointError) as caught:
        ask(url, library, **options)
    return caught.value


def test_the_request_is_the_contracts(library):
    with FakeEndpoint(json_reply({**GOOD, "model": "m1"})) as endpoint:
        answer = ask(endpoint.url, library, headers={"X-Team": "search"})
    assert (answer.text, answer.contexts, answer.extra) == (GOOD["answer"], tuple(GOOD["contexts"]), {"model": "m1"})
    assert answer.source_ids is None
    [request] = endpoint.requests
    assert (request.method, request.path) == ("POST", "/query")
    assert request.json == {"query": "What is the refund window?", "top_k": 5}
    assert request.headers["content-type"] == request.headers["accept"] == "application/json"
    assert request.headers["x-team"] == "search"


def test_our_own_client_says_who_it_is():
    with FakeEndpoint(json_reply(GOOD)) as endpoint:
        ask(endpoint.url)
        ask(endpoint.url, headers={"User-Agent": "nightly"})
    assert [request.headers["user-agent"] for request in endpoint.requests] == ["pytest-ragcheck", "nightly"]


def test_a_question_with_half_a_character_is_still_asked(library):
    async def run(url: str) -> None:
        async with library.AsyncClient() as http:
            await RagClient(url, http=http).query("вопрос \ud83d")

    with FakeEndpoint(json_reply(GOOD)) as endpoint:
        asyncio.run(run(endpoint.url))
    assert endpoint.requests[0].json["query"] == "вопрос \ud83d"


def test_the_latency_is_that_of_the_whole_exchange(library):
    with FakeEndpoint(chunked([b'{"answer": "a", ', b'"contexts": []}'], pause_seconds=0.05)) as endpoint:
        answer = ask(endpoint.url, library)
    assert answer.latency_seconds is not None
    assert answer.latency_seconds >= 0.1  # the server's two pauses


def test_a_status_of_success_other_than_200_is_read(library):
    with FakeEndpoint(json_reply(GOOD, 201)) as endpoint:
        assert ask(endpoint.url, library).text == GOOD["answer"]


def test_a_reply_error_names_a_status_of_success_other_than_200(library):
    with FakeEndpoint(raw(b"HTTP/1.1 204 No Content\r\n\r\n", stays_open=True)) as endpoint:
        error = fail(endpoint.url, library)
    assert error.status == 204
    assert str(error) == f"{endpoint.url}: the reply has an empty body (status 204)\nReturn JSON."


def test_no_redirect_is_followed_even_by_a_client_that_would(library):
    async def run(url: str) -> None:
        async with library.AsyncClient(follow_redirects=True) as http:
            await RagClient(url, http=http).query("?")

    with FakeEndpoint(json_reply(GOOD)) as elsewhere:
        location = f"http://me:pw-12345@127.0.0.1:{elsewhere.port}/query?token=tok987"
        with (
            FakeEndpoint(reply("", 302, location=location)) as endpoint,
            pytest.raises(EndpointStatusError) as caught,
        ):
            asyncio.run(run(endpoint.url))
    assert elsewhere.requests == []
    assert f"status 302 Found, which leads to {elsewhere.url}?token=[redacted] (no body)\n" in str(caught.value)


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("http://[bad", "status 302 Found, which leads to 'http://[bad', which is not a URL (no body)\n"),
        (None, "status 302 Found (no body)\nThe contract wants status 200."),
    ],
)
def test_a_redirect_to_nowhere_is_an_error_too(location, shown, library):
    headers = {} if location is None else {"location": location}
    with FakeEndpoint(reply("", 302, None, **headers)) as endpoint:
        assert shown in str(fail(endpoint.url, library))


@pytest.mark.parametrize(
    ("status", "to_do"), [(408, "The contract wants status 200."), (507, "See the endpoint's log.")]
)
def test_a_status_without_advice_of_its_own_has_that_of_its_class(status, to_do, library):
    with FakeEndpoint(reply("", status, "Odd \x1b[31m words")) as endpoint:
        error = fail(endpoint.url, library)
    assert str(error).startswith(f"{endpoint.url}: status {status} ")
    assert "\x1b" not in str(error)
    assert str(error).endswith(f"\n{to_do}")


def test_the_status_is_reported_though_its_body_breaks_off_hangs_or_never_ends(library):
    head = b"HTTP/1.1 500 Oops\r\ncontent-length: 1000000\r\n\r\nboom"
    for behaviour in (raw(head), after(head, hang)):
        with FakeEndpoint(behaviour) as endpoint:
            error = fail(endpoint.url, library)
        assert (type(error), error.status, error.body) == (EndpointStatusError, 500, "boom")
    with FakeEndpoint(after(b"HTTP/1.1 500 Oops\r\n\r\n", _endless)) as endpoint:
        error = fail(endpoint.url, library)
    assert str(error) == f'{endpoint.url}: status 500 Oops ("{"x" * 299}…")\nSee the endpoint\'s log.'
    assert error.body == "x" * 2000


def _endless(connection: socket.socket, _: Request) -> bool:
    while True:
        connection.sendall(b"x" * 65_536)


def test_no_more_of_a_reply_is_read_than_the_limit(library):
    sent = itertools.count(1)
    with FakeEndpoint(chunked(b"x" * 65_536 for _ in sent)) as endpoint:
        error = fail(endpoint.url, library, max_reply_bytes=1_000_000)
    assert type(error) is EndpointReplyError
    assert "the reply is larger than 1,000,000 bytes\n" in str(error)
    # The sockets' buffers are sent before the client is gone.
    assert next(sent) * 65_536 < 20_000_000


def test_a_reply_of_exactly_the_limit_is_read(library):
    body = b'{"answer": "a", "contexts": []}'
    with FakeEndpoint(reply(body)) as endpoint:
        assert ask(endpoint.url, library, max_reply_bytes=len(body)).text == "a"
        assert "larger than" in str(fail(endpoint.url, library, max_reply_bytes=len(body) - 1))


def test_the_body_of_an_error_is_read_in_the_charset_that_it_declares(library):
    body = "перегрузка".encode("cp1251")
    with FakeEndpoint(reply(body, 503, content_type="text/plain; charset=windows-1251")) as endpoint:
        assert '("перегрузка")' in str(fail(endpoint.url, library))


@pytest.mark.parametrize("charset", ["hex", "punycode", "none-such"])
def test_a_charset_that_is_none_is_read_as_utf_8(charset, library):
    with FakeEndpoint(reply("перегрузка", 503, content_type=f"text/plain; charset={charset}")) as endpoint:
        assert '("перегрузка")' in str(fail(endpoint.url, library))


@pytest.mark.parametrize(("value", "seconds"), [("7", 7.0), (None, None)])
def test_how_long_the_endpoint_asks_to_wait_is_kept(value, seconds, library):
    headers = {} if value is None else {"retry_after": value}
    with FakeEndpoint(reply("", 429, None, **headers)) as endpoint:
        assert fail(endpoint.url, library).retry_after_seconds == seconds


def test_no_text_repeats_a_secret_that_the_endpoint_echoes(library, caplog):
    caplog.set_level(logging.DEBUG)

    def echo(connection: socket.socket, request: Request) -> bool:
        body = f"{request.path} {request.headers}".encode()
        connection.sendall(b"HTTP/1.1 500 Oops\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
        return True

    headers = {"X-Api-Key": "key-55555", "X-Tenant": "tenant-66666"}
    with FakeEndpoint(echo) as endpoint:
        url = endpoint.url.replace("//", "//me:pw-12345@") + "?lang=en&token=tok-98765"
        errors = [fail(url, library, headers=headers), fail(url, headers=headers)]
    for request in endpoint.requests:
        assert request.path == "/query?lang=en&token=tok-98765"
        assert request.headers["authorization"] == "Basic bWU6cHctMTIzNDU="
        assert request.headers["x-api-key"] == "key-55555"
    for error in errors:
        assert error.url == f"{endpoint.url}?lang=en&token=[redacted]"
        assert str(error).startswith(f"{error.url}: status 500 Oops (")
        assert "accept" in (error.body or "")
    texts = [*map(str, errors), *(error.body for error in errors), caplog.text]
    for secret in ("pw-12345", "tok-98765", "key-55555", "tenant-66666", "bWU6cHctMTIzNDU"):
        assert not [text for text in texts if secret in (text or "")]
    assert "lang=en" in caplog.text


def test_an_error_that_the_caller_was_already_handling_is_not_taken_for_the_cause(library):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        nobody_listens = listening.getsockname()

    async def run(url: str) -> None:
        async with library.AsyncClient() as http:
            try:
                socket.create_connection(nobody_listens)
            except ConnectionRefusedError:
                await RagClient(url, http=http).query("?")

    with FakeEndpoint(close_without_reply) as endpoint, pytest.raises(EndpointUnreachable, match="closed without an"):
        asyncio.run(run(endpoint.url))


def test_a_connection_that_fails_otherwise_is_reported_in_the_systems_words(library):
    async def run() -> None:
        async with library.AsyncClient(transport=library.AsyncHTTPTransport(uds="/nonexistent/rag.sock")) as http:
            await RagClient("http://rag.example/query", http=http).query("?")

    with pytest.raises(EndpointUnreachable) as caught:
        asyncio.run(run())
    assert str(caught.value) == (
        "http://rag.example/query: no connection: No such file or directory\n"
        "Check the address in the URL, and the network from here to it."
    )


def test_a_refused_connection_through_a_proxy_names_the_proxy(library, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    monkeypatch.setenv("HTTP_PROXY", f"http://me:pw-12345@127.0.0.1:{port}")
    error = fail("http://rag.example/query", library)
    check_the_proxy = "Check HTTP_PROXY and HTTPS_PROXY, or add rag.example to NO_PROXY."
    assert f"connection refused by the proxy http://127.0.0.1:{port}\n{check_the_proxy}" in str(error)
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.invalid:1")
    error = fail("http://rag.example/query", library)
    assert f"no address is known for 'proxy.invalid'\n{check_the_proxy}" in str(error)


def test_the_question_goes_through_the_proxy_of_the_environment(monkeypatch):
    with FakeEndpoint(json_reply(GOOD)) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url.removesuffix("/query"))
        assert ask("http://rag.example/query?token=tok-98765").text == GOOD["answer"]
    assert proxy.requests[0].path == "http://rag.example/query?token=tok-98765"


def test_no_time_is_over_before_the_limit_of_the_whole_exchange(library):
    async def run(url: str) -> Any:
        async with library.AsyncClient(timeout=0.01) as http:  # the client's own limit does not count
            return await RagClient(url, http=http).query("?")

    with FakeEndpoint(chunked([b'{"answer": "a", ', b'"contexts": []}'], pause_seconds=0.1)) as endpoint:
        assert asyncio.run(run(endpoint.url)).text == "a"


def test_a_cancelled_question_is_cancelled_and_no_error(library):
    async def run(url: str) -> None:
        async with library.AsyncClient() as http:
            task = asyncio.ensure_future(RagClient(url, http=http).query("?"))
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    with FakeEndpoint(hang) as endpoint:
        asyncio.run(run(endpoint.url))


# An app in this process, called through a client of the user's own.


async def app(scope: Any, receive: Any, send: Any) -> None:
    question = await receive()
    if scope["path"] == "/broken":
        raise FileNotFoundError("no index at\n/var/index")
    if scope["path"] == "/used-before":
        raise RuntimeError("Event loop is closed")
    if scope["path"] == "/slow":
        await asyncio.sleep(60)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    body = b'{"answer": "%d bytes were asked", "contexts": []}' % len(question["body"])
    await send({"type": "http.response.body", "body": body})


def ask_app(library: Any, path: str, **options: Any):
    async def run() -> Any:
        async with library.AsyncClient(transport=library.ASGITransport(app=app)) as http:
            return await RagClient(f"http://app{path}", http=http, **options).query("?")

    return asyncio.run(run())


def test_an_app_in_this_process_is_asked_through_a_users_client(library):
    assert ask_app(library, "/query").text == "26 bytes were asked"


def test_what_an_app_in_this_process_raises_is_an_endpoint_error(library):
    with pytest.raises(EndpointError) as caught:
        ask_app(library, "/broken")
    assert type(caught.value) is EndpointError
    assert isinstance(caught.value.__cause__, FileNotFoundError)
    assert str(caught.value) == (
        "http://app/broken: the client given as http= raised FileNotFoundError: no index at /var/index\n"
        "Fix the client, or the app that it calls."
    )


def test_a_client_that_was_used_in_another_event_loop_names_the_cause(library):
    with pytest.raises(EndpointError) as caught:
        ask_app(library, "/used-before")
    assert str(caught.value) == (
        "http://app/used-before: the client given as http= was used in another event loop before "
        "(RuntimeError: Event loop is closed)\n"
        "Make no request with it in a fixture: log in as shown by ragcheck docs reference/client."
    )


def test_an_app_in_this_process_that_takes_too_long_is_waited_for_not_connected_to(library):
    with pytest.raises(EndpointTimeout, match="while waiting for the reply"):
        ask_app(library, "/slow", timeout_seconds=0.1)


def test_a_hook_that_raises_for_the_status_still_gives_the_status(library):
    async def raise_for_status(response: Any) -> None:
        response.raise_for_status()

    async def run(url: str) -> None:
        async with library.AsyncClient(event_hooks={"response": [raise_for_status]}) as http:
            await RagClient(url, http=http).query("?")

    with FakeEndpoint(reply("gone", 410)) as endpoint, pytest.raises(EndpointStatusError) as caught:
        asyncio.run(run(endpoint.url))
    assert caught.value.status == 410


def test_a_limit_of_a_users_own_transport_is_a_timeout(library):
    class Impatient(library.AsyncBaseTransport):  # type: ignore[misc, name-defined]
        async def handle_async_request(self, request: Any) -> Any:
            raise library.ReadTimeout("0.2 s are enough", request=request)

    async def run() -> None:
        async with library.AsyncClient(transport=Impatient()) as http:
            await RagClient("http://rag.example/query", http=http).query("?")

    with pytest.raises(EndpointTimeout, match=r"no complete reply within 0 s: .* while waiting for the reply"):
        asyncio.run(run())


def test_an_error_of_a_users_own_transport_may_be_its_own_cause(library):
    class Wrapping(library.AsyncHTTPTransport):  # type: ignore[misc, name-defined]
        async def handle_async_request(self, request: Any) -> Any:
            try:
                return await super().handle_async_request(request)
            except library.ConnectError as error:
                raise error from error

    async def run() -> None:
        async with library.AsyncClient(transport=Wrapping(uds="/nonexistent/rag.sock")) as http:
            await RagClient("http://rag.example/query", http=http).query("?")

    with pytest.raises(EndpointUnreachable, match=r"http://rag\.example/query: "):
        asyncio.run(run())


def test_a_mistake_of_ours_is_no_endpoint_error():
    async def run() -> None:
        client = RagClient("http://127.0.0.1:9/query")
        with pytest.raises(TypeError, match="not JSON serializable"):
            await client.query(object())  # type: ignore[arg-type]

    asyncio.run(run())


@pytest.mark.parametrize(
    ("retry_after", "said"), [("3600", ", retry after 60 min ("), ("61", ", retry after 2 min ("), ("59", " (")]
)
def test_a_wait_that_is_too_long_for_a_retry_is_named(library, retry_after, said):
    with FakeEndpoint(reply("slow down", 429, retry_after=retry_after)) as endpoint:
        text = str(fail(endpoint.url, library))
    assert f'status 429 Too Many Requests{said}"slow down")' in text


# Endpoints of other shapes


def test_what_a_refusing_endpoint_has_to_take_is_the_shapes_own_request(library):
    with FakeEndpoint(reply("", 422, "Unprocessable Content")) as endpoint:
        template = '{"input": "{query}", "k": "{top_k}"}'
        asked = str(fail(endpoint.url, library, request=template))
        long = str(fail(endpoint.url, library, request=template[:-1] + ', "x": "' + "y" * 500 + '"}'))
    assert asked.endswith(
        f"\nThe endpoint has to take POST with the JSON {template}. To send it something else, set rag_request."
    )
    assert 'POST with the JSON {"input": "{query}", "k": "{top_k}", "x": "yyy' in long
    assert len(long) < 500
    with FakeEndpoint(reply("", 405)) as endpoint:
        text = str(fail(endpoint.url, library, shape="search-rag"))
    assert text.endswith("\nThe route has to take GET: check the path in the URL, and the methods of the route.")


def test_an_endpoint_that_does_not_offer_json_wants_another_accept_header(library):
    with FakeEndpoint(reply("", 406)) as endpoint:
        text = str(fail(endpoint.url, library))
    to_do = "Set the media types that the endpoint offers in rag_headers, such as Accept: text/event-stream."
    assert text.endswith(f"\n{to_do}")


def test_a_question_too_long_for_a_url_is_an_error_that_says_to_post(library):
    async def run(url: str) -> None:
        async with library.AsyncClient() as http:
            await RagClient(url, http=http, shape="search-rag").query("я" * 20_000)

    with FakeEndpoint(json_reply(GOOD)) as endpoint, pytest.raises(EndpointError) as caught:
        asyncio.run(run(endpoint.url))
    assert endpoint.requests == []
    assert str(caught.value) == (
        f"{endpoint.url}: no URL can be made from the question (URL too long)\n"
        "Ask by POST: set rag_request to JSON, if the endpoint takes it."
    )


def test_neither_the_question_nor_a_secret_in_the_url_is_logged(library, caplog):
    caplog.set_level(logging.DEBUG)
    with FakeEndpoint(json_reply(GOOD)) as endpoint:
        ask(f"{endpoint.url}?token=tok-98765", library, shape="search-rag")
    assert endpoint.requests[0].path == "/query?token=tok-98765&questions=What%20is%20the%20refund%20window%3F"
    assert "token=[redacted]" in caplog.text
    assert "tok-98765" not in caplog.text
    assert "refund" not in caplog.text


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"shape": "chat"},
            "shape: 'chat' is not a shape; choose one of query, search-rag, server, openai-chat, dify, ",
        ),
        ({"request": ""}, "request: '' is neither JSON, from character 1 on, nor a query string after GET; "),
        ({"response": ""}, "response: '' does not say where the contexts are; "),
    ],
)
def test_a_shape_that_cannot_be_read_is_refused_at_once(options, text):
    with pytest.raises(UsageError) as caught:
        RagClient("http://rag.example/query", **options)
    assert str(caught.value).startswith(text)
