"""Every way an endpoint can misbehave, each by a real server."""

from __future__ import annotations

import contextlib
import gzip
import itertools
import socket
import ssl
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import trustme

from pytest_ragcheck.errors import (
    EndpointError,
    EndpointReplyError,
    EndpointStatusError,
    EndpointStreamError,
    EndpointTimeout,
    EndpointUnreachable,
)
from pytest_ragcheck.rag.client import RagClient
from tests.servers.fake_endpoint import (
    FakeEndpoint,
    after,
    chunked,
    close_without_reply,
    hang,
    json_reply,
    raw,
    reply,
    reset,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from types import ModuleType

    import pytest

    from tests.servers.fake_endpoint import Behaviour

GOOD = {"answer": "30 days", "contexts": ["Refunds are paid within 30 days."]}
HALF = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"


@dataclass(frozen=True, kw_only=True)
class Misbehaviour:
    """One way to go wrong, and the class of the error that it ends in."""

    error: type[EndpointError]
    url: Callable[[], contextlib.AbstractContextManager[str]]
    """Makes the endpoint, and gives its URL."""

    timeout_seconds: float = 10.0
    environment: dict[str, str] = field(default_factory=dict)
    """Variables; `PORT` in a value is the endpoint's port."""

    options: dict[str, Any] = field(default_factory=dict)
    """Further ones of the client."""

    trusted: bool = False
    """True: the client knows the authority of the server's certificate."""

    async def fail(self, library: ModuleType | None, monkeypatch: pytest.MonkeyPatch, folder: Path) -> EndpointError:
        """The error that a client over a user's client of *library* raises; None: one with connections of its own."""
        with self.url() as url:
            for name, value in self.environment.items():
                monkeypatch.setenv(name, value.replace("PORT", url.rpartition(":")[2].partition("/")[0]))
            if self.trusted:
                AUTHORITY.cert_pem.write_to_path(str(folder / "authority.pem"))
                monkeypatch.setenv("SSL_CERT_FILE", str(folder / "authority.pem"))
            # Without TLS the authorities are of no use, and reading them takes longer than the rest of a test.
            authorities = url.startswith("https://") or bool(self.environment)
            http = None if library is None else library.AsyncClient(verify=authorities)
            client = RagClient(url, timeout_seconds=self.timeout_seconds, http=http, **self.options)
            async with http or contextlib.aclosing(client):
                try:
                    answer = await client.query("What is the refund window?")
                except EndpointError as error:
                    return error
                raise AssertionError(f"an answer instead of an error: {answer}")


AUTHORITY = trustme.CA()


def _tls(*names: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    AUTHORITY.issue_cert(*names).configure_cert(context)
    return context


def _serving(behaviour: Behaviour, **options: Any) -> Callable[[], contextlib.AbstractContextManager[str]]:
    @contextlib.contextmanager
    def url() -> Iterator[str]:
        with FakeEndpoint(behaviour, **options) as endpoint:
            yield endpoint.url

    return url


@contextlib.contextmanager
def _nobody_listens() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    yield f"http://127.0.0.1:{port}/query"


@contextlib.contextmanager
def _tls_handshake_hangs() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"https://127.0.0.1:{listening.getsockname()[1]}/query"


@contextlib.contextmanager
def _tls_to_a_plain_port() -> Iterator[str]:
    with FakeEndpoint(json_reply(GOOD)) as endpoint:
        yield endpoint.url.replace("http://", "https://")


@contextlib.contextmanager
def _client_certificate_wanted() -> Iterator[str]:
    context = _tls("localhost")
    context.verify_mode = ssl.CERT_REQUIRED
    AUTHORITY.configure_trust(context)
    with FakeEndpoint(json_reply(GOOD), tls=context, host="localhost") as endpoint:
        yield endpoint.url


@contextlib.contextmanager
def _behind_a_proxy() -> Iterator[str]:
    with FakeEndpoint(reply("not this host", 403)) as proxy:
        # The port is the proxy's, so that the environment can name it; no connection is made to it at rag.example.
        yield f"https://rag.example:{proxy.port}/query"


def _unreachable(url: Any, **more: Any) -> Misbehaviour:
    return Misbehaviour(error=EndpointUnreachable, url=url, **more)


def _timeout(url: Any) -> Misbehaviour:
    return Misbehaviour(error=EndpointTimeout, url=url, timeout_seconds=0.3)


def _status(status: int, body: str = "", *, reason: str | None = None, **headers: str) -> Misbehaviour:
    return Misbehaviour(error=EndpointStatusError, url=_serving(reply(body, status, reason, **headers)))


def _reply(behaviour: Behaviour, **options: Any) -> Misbehaviour:
    return Misbehaviour(error=EndpointReplyError, url=_serving(behaviour), options=options)


def _json(value: Any, **options: Any) -> Misbehaviour:
    return _reply(json_reply(value), **options)


def _stream(*events: str) -> Misbehaviour:
    body = "\n\n".join(f"data: {event}" for event in events)
    return Misbehaviour(error=EndpointStreamError, url=_serving(reply(body, 200, content_type="text/event-stream")))


def _body(body: bytes | str, **headers: str) -> Misbehaviour:
    return _reply(reply(body, 200, **headers))


MISBEHAVIOURS = {
    "Connection refused": _unreachable(_nobody_listens),
    "Name not found": _unreachable(lambda: contextlib.nullcontext("http://rag.invalid/query")),
    "Certificate of an unknown authority": _unreachable(
        _serving(json_reply(GOOD), tls=_tls("localhost"), host="localhost")
    ),
    "Certificate of another host": _unreachable(
        _serving(json_reply(GOOD), tls=_tls("rag.example"), host="localhost"), trusted=True
    ),
    "Client certificate required": _unreachable(_client_certificate_wanted, trusted=True),
    "The port does not speak TLS": _unreachable(_tls_to_a_plain_port),
    "The proxy refuses": _unreachable(_behind_a_proxy, environment={"HTTPS_PROXY": "http://me:pw123@127.0.0.1:PORT"}),
    "Closed without a reply": _unreachable(_serving(close_without_reply)),
    "Reset": _unreachable(_serving(reset)),
    "Reset within the body": _unreachable(_serving(after(HALF, reset))),
    "Not HTTP": _unreachable(_serving(raw(b"220 mail.example ESMTP\r\n\r\n"))),
    "The body breaks off": _unreachable(_serving(raw(HALF))),
    "No connection in time": _timeout(_tls_handshake_hangs),
    "No reply in time": _timeout(_serving(hang)),
    "The body comes too slowly": _timeout(_serving(chunked(itertools.repeat(b" "), 0.02))),
    "A redirect": _status(307, location="/query/"),
    "400 Bad Request": _status(400, '{"error": "query is required"}'),
    "401 Unauthorized": _status(401, '{"detail": "Not authenticated"}'),
    "403 Forbidden": _status(403, "forbidden"),
    "404 Not Found": _status(404, '{"detail":"Not Found"}'),
    "405 Method Not Allowed": _status(405, '{"detail":"Method Not Allowed"}'),
    "406 Not Acceptable": _status(406, '{"error": "Client must accept text/event-stream"}'),
    # The words of 413 and 422 differ between versions of Python.
    "413 Content Too Large": _status(413, reason="Content Too Large"),
    "415 Unsupported Media Type": _status(415),
    "422 Unprocessable Content": _status(
        422,
        '{"detail":[{"type":"missing","loc":["body","question"],"msg":"Field required"}]}',
        reason="Unprocessable Content",
    ),
    "429 Too Many Requests": _status(429, "slow down"),
    "500 Internal Server Error": _status(
        500, "<!doctype html><html><head><title>IndexError at /query</title></head><body>...</body></html>"
    ),
    "502 Bad Gateway": _status(502, "<html><body><h1>502 Bad Gateway</h1><hr>nginx</body></html>"),
    "503 Service Unavailable": _status(503, "overloaded"),
    "504 Gateway Timeout": _status(504),
    "Another status": _status(418, "short and stout"),
    "An empty body": _body(""),
    "HTML": _body("<!DOCTYPE html><html><head><title>Sign in</title></head><body>...</body></html>"),
    "A stream of other events": _stream('{"token": "30"}', "[DONE]", ""),
    "A stream that reports an error": _stream('{"answer": "30"}', '{"error": "the index is gone"}', ""),
    "A stream that breaks off": _stream('{"answer": "30"}', "{"),
    "Not JSON": _body("30 days, says the handbook."),
    "JSON that breaks off": _body('{"answer": "30 da'),
    "More than one JSON value": _body('{"answer": "30"}\n{"answer": " days"}\n', content_type="application/json"),
    "Not UTF-8": _body('{"answer": "30 дней", "contexts": []}'.encode("cp1251")),
    "A key twice": _body('{"answer": "30 days", "answer": "14 days", "contexts": []}'),
    "NaN or infinity": _body('{"answer": "30 days", "contexts": [], "score": NaN}'),
    "A number too large": _body('{"answer": "30 days", "contexts": [], "score": 1e999}'),
    "A whole number too large": _body('{"answer": "30 days", "contexts": [], "id": ' + "9" * 5000 + "}"),
    "Nested too deeply": _body('{"answer": "30 days", "contexts": ' + "[" * 200 + "]" * 200 + "}"),
    "Too large": _reply(chunked(itertools.repeat(b"x" * 65_536))),
    "Too large when decompressed": _body(gzip.compress(b" " * 20_000_000), content_encoding="gzip"),
    "Wrongly compressed": _body("not gzip at all", content_encoding="gzip"),
    "Compressed in another way": _body(b"\x8b\x02\x80{}\x03", content_encoding="br"),
    "No object": _json([GOOD]),
    "No answer": _json({"status": "ok"}),
    "The answer under another name": _json({"response": "30 days", "contexts": []}),
    "Another spelling": _json({"Answer": "30 days", "Contexts": []}),
    "The answer inside another object": _json({"data": GOOD}),
    "An OpenAI chat completion": _json({"id": "c1", "choices": [{"message": {"content": "30 days"}}]}),
    "An error with status 200": _json({"error": {"message": "the index is empty"}}),
    "An answer that comes later": _json({"answer": "", "contexts": [], "status": "pending"}),
    "The answer is null": _json({"answer": None, "contexts": []}),
    "The answer is a number": _json({"answer": 30, "contexts": []}),
    "The answer is an object": _json({"answer": {"text": "30 days"}, "contexts": []}),
    "No contexts": _json({"answer": "30 days"}),
    "Contexts under another name": _json({"answer": "30 days", "sources": []}),
    "Contexts are null": _json({"answer": "30 days", "contexts": None}),
    "Contexts are one string": _json({"answer": "30 days", "contexts": "Refunds are paid within 30 days."}),
    "Contexts are objects": _json({"answer": "30 days", "contexts": [{"page_content": "Refunds", "metadata": {}}]}),
    "A context is null": _json({"answer": "30 days", "contexts": ["Refunds", None]}),
    "Half a character": _body('{"answer": "30 days \\ud83d", "contexts": []}'),
    "An expression finds nothing": _json(
        {"result": {"reply": "30 days"}}, response="answer=result.text contexts=result.sources[].text"
    ),
    "An element lacks what the expression names": _json(
        {"response": "30 days", "references": [{"content": ["Refunds"]}, {"content": None}]},
        response="answer=response contexts=references[].content[]",
    ),
    "A function of the expression refuses the reply": _json(
        {"answer": "30 days", "contexts": 3}, response="answer=answer contexts=keys(contexts)"
    ),
    "A chat completion without contexts": _json(
        {"id": "c1", "choices": [{"message": {"content": "30 days"}}]}, shape="openai-chat"
    ),
    "Not an id for each context": _json(
        {"answer": "30 days", "sources": [{"text": "Refunds", "document_id": "d1"}, {"text": "Terms"}]}, shape="server"
    ),
    "An id is a number": _json(
        {"answer": "30 days", "sources": [{"text": "Refunds", "document_id": 7}]}, shape="server"
    ),
}
