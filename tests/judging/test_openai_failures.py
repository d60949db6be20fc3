"""The errors of the judge when its server fails: never with the key, always with a remedy."""

from __future__ import annotations

import asyncio
import gzip
import ssl
import threading
import traceback
from contextlib import aclosing
from typing import Any

import pytest
import trustme
from httpx import ReadError

from pytest_ragcheck.config.settings import DUMMY_API_KEY
from pytest_ragcheck.errors import JudgeError, JudgeReplyError, JudgeUnavailable
from pytest_ragcheck.judging.model.model_requests import NoConnection
from pytest_ragcheck.judging.model.model_server import ServerFailures
from pytest_ragcheck.judging.model.openai_judge import OpenAIJudge
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from tests.servers.fake_endpoint import FakeEndpoint, reply, reset
from tests.servers.openai_server import OpenAIServer, Reply, Script, completion, error, json_reply, verdict

KEY = "sk-of-the-judge-0123456789"
QUESTION = Question(dataset_name="d", id="q", question="Why?")
ANSWER = RagAnswer(text="So.", contexts=("So.",))
JUDGE = "the judge at URL (model 'm-1')"
NO_COMPLETION = (
    "instead of a chat completion (status 200). Check that rag_judge_url is the API's base, often ending in /v1."
)


def failure(url: str, **settings: Any) -> JudgeError:
    async def run() -> None:
        judge = OpenAIJudge(**{"model": "m-1", "api_key": KEY, "base_url": url, "max_retries": 0, **settings})
        async with aclosing(judge):
            await judge.judge(QUESTION, ANSWER)

    with pytest.raises(JudgeError) as caught:
        asyncio.run(run())
    return caught.value


def failure_of(*scripts: Script | Reply, **settings: Any) -> JudgeError:
    """The error after these replies, with the server's address put as URL into its text."""
    with OpenAIServer(*scripts) as server:
        error = failure(server.url, **settings)
    error.args = (str(error).replace(server.url, "URL"),)
    return error


def test_a_server_that_asks_for_a_key_which_is_not_set_refuses_none() -> None:
    refused = error(401, "You didn't provide an API key")
    assert str(failure_of(refused, api_key=DUMMY_API_KEY)) == (
        "the judge at URL asks for a key, and none was sent: HTTP 401 for model 'm-1'. Set RAGCHECK_JUDGE_API_KEY.\n"
        "The server says: You didn't provide an API key"
    )
    # A key in a header of the server's own is a key.
    by_header = failure_of(refused, api_key=DUMMY_API_KEY, headers={"api-key": "azure-key-0123"})
    assert str(by_header).startswith("the judge at URL refused the key: HTTP 401")


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (
            error(401, "Incorrect API key"),
            (
                "the judge at URL refused the key: HTTP 401 for model 'm-1'. "
                "Check RAGCHECK_JUDGE_API_KEY, or OPENAI_API_KEY if rag_judge_url is not set.\n"
                "The server says: Incorrect API key"
            ),
        ),
        (
            error(403, "Not you"),
            (
                "the judge at URL does not let this key use model 'm-1': HTTP 403. "
                "Check the key's rights and the model's name.\nThe server says: Not you"
            ),
        ),
        (
            error(404, "No such model"),
            (
                "the judge at URL does not know model 'm-1' or this path: HTTP 404. "
                "Check rag_judge_model, and that rag_judge_url is the API's base, often ending in /v1.\n"
                "The server says: No such model"
            ),
        ),
        (
            error(429, "Slow down"),
            (
                "the judge at URL refuses more requests for now: HTTP 429 for model 'm-1'. "
                "Lower rag_judge_concurrency, or raise the account's limit.\nThe server says: Slow down"
            ),
        ),
        (
            error(429, "You exceeded your quota", code="insufficient_quota"),
            (
                "the judge at URL has no quota left for model 'm-1': HTTP 429. "
                "Check the account's plan and billing.\nThe server says: You exceeded your quota"
            ),
        ),
        (
            error(503, "Overloaded"),
            (
                "the judge at URL failed: HTTP 503 for model 'm-1'. Check the server's log, or run again later.\n"
                "The server says: Overloaded"
            ),
        ),
        (
            error(408, "Too slow"),
            (
                "the judge at URL failed: HTTP 408 for model 'm-1'. Check the server's log, or run again later.\n"
                "The server says: Too slow"
            ),
        ),
        (
            error(413, "Too long"),
            (
                "the judge at URL refused the request: HTTP 413 for model 'm-1'. "
                "Check rag_judge_model and rag_judge_url.\nThe server says: Too long"
            ),
        ),
        (
            json_reply({"detail": "of another form"}, status=418),
            (
                "the judge at URL refused the request: HTTP 418 for model 'm-1'. "
                "Check rag_judge_model and rag_judge_url.\nThe server says: of another form"
            ),
        ),
        (
            Reply(status=502),
            "the judge at URL failed: HTTP 502 for model 'm-1'. Check the server's log, or run again later.",
        ),
        (
            Reply(status=503, body=b"no gzip", headers={"content-encoding": "gzip"}),
            "the judge at URL failed: HTTP 503 for model 'm-1'. Check the server's log, or run again later.",
        ),
        (
            Reply(status=503, body=b"Busy", content_type="text/plain; charset=hex"),
            (
                "the judge at URL failed: HTTP 503 for model 'm-1'. Check the server's log, or run again later.\n"
                "The server says: Busy"
            ),
        ),
        (
            json_reply({"error": {"message": "No", "code": ["odd"], "param": {}}}, status=400),
            (
                "the judge at URL refused the request: HTTP 400 for model 'm-1'. "
                "Check rag_judge_model and rag_judge_url.\nThe server says: No"
            ),
        ),
    ],
)
def test_a_status_is_explained_with_model_url_and_what_to_do(reply, said):
    error = failure_of(reply)
    assert isinstance(error, JudgeUnavailable)
    assert str(error) == said
    assert error.status == reply.status


@pytest.mark.parametrize(
    ("status", "location", "requests"),
    [
        (301, "https://elsewhere.example/v1/chat/completions", 1),
        (302, "/login?session=s-99887766", 1),
        (303, "/v1", 1),
        (307, "ftp://elsewhere.example/v1", 1),
        (308, "/v1/chat/completions", 6),  # to itself, again and again
    ],
)
def test_a_redirect_that_leads_to_no_answer_is_named_and_not_asked_with_get(status, location, requests):
    with OpenAIServer(Reply(status=status, headers={"location": location})) as server:
        raised = failure(server.url)
    assert str(raised) == (
        f"the judge at {server.url} redirects the request: HTTP {status} for model 'm-1'. "
        "If that is where the API is, set rag_judge_url to its base there.\n"
        f"Redirected to: {location.replace('s-99887766', '[redacted]')}"
    )
    assert len(server.requests) == requests


@pytest.mark.parametrize(("code", "transient"), [("", True), ("insufficient_quota", False)])
def test_no_waiting_helps_against_a_quota_that_is_used_up(code, transient):
    raised = failure_of(error(429, "Slow down", code=code))
    assert isinstance(raised, JudgeUnavailable)
    assert raised.transient is transient


@pytest.mark.parametrize("status", [401, 400, 500])
def test_a_key_that_the_server_echoes_is_shown_nowhere(status):
    error_ = failure_of(error(status, f"bad key {KEY}, that is 'Bearer {KEY}'"))
    assert "bad key [redacted]" in str(error_)
    assert KEY not in "".join(traceback.format_exception(error_)) + repr(vars(error_))
    assert error_.__cause__ is None
    assert error_.__context__ is None


def test_a_secret_of_the_environments_headers_that_the_server_echoes_is_shown_nowhere(monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1234")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway: Token gateway-pass")
    with OpenAIServer(error(401, "org-1234 with 'gateway-pass'")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert str(failure(server.url)).endswith("\nThe server says: org-1234 with '[redacted]'")


def test_a_key_that_the_model_echoes_is_shown_nowhere():
    error = failure_of(completion(f"The key is {KEY}"))
    assert str(error).endswith("\nIt said: The key is [redacted]")
    assert KEY not in "".join(traceback.format_exception(error)) + repr(vars(error))


def test_credentials_in_the_url_are_shown_nowhere():
    with OpenAIServer(error(401, "no pass-word-1 for query-secret-1")) as server:
        url = server.url.replace("//", "//me:pass-word-1@") + "?api_key=query-secret-1"
        text = str(failure(url))
    assert f"the judge at {server.url} refused the key" in text
    assert text.endswith("The server says: no [redacted] for [redacted]")


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (
            Reply(body=b"<!doctype html><title>Sign in</title>", content_type="text/html"),
            f'{JUDGE} sent text {NO_COMPLETION}\nIt sent: HTML page "Sign in"',
        ),
        (
            Reply(body=b"ok", content_type="text/plain"),
            f'{JUDGE} sent text {NO_COMPLETION}\nIt sent: "ok"',
        ),
        (
            Reply(body=b"ok", content_type="text/plain; charset=hex"),
            f'{JUDGE} sent text {NO_COMPLETION}\nIt sent: "ok"',
        ),
        (Reply(content_type="text/plain"), f"{JUDGE} sent nothing {NO_COMPLETION}"),
        (Reply(status=204), f"{JUDGE} sent nothing {NO_COMPLETION.replace('200', '204')}"),
        (
            Reply(body=b"no gzip", headers={"content-encoding": "gzip"}),
            f"{JUDGE} sent a body that is not compressed as its Content-Encoding says {NO_COMPLETION}",
        ),
        (
            Reply(body=gzip.compress(b" " * 20_000_001), headers={"content-encoding": "gzip"}),
            f"{JUDGE} sent more than 20,000,000 bytes {NO_COMPLETION}",
        ),
        (json_reply({"error": {"message": "boo"}}), f'{JUDGE} sent an error {NO_COMPLETION}\nIt sent: "boo"'),
        (json_reply({"error": "boo"}), f'{JUDGE} sent an error {NO_COMPLETION}\nIt sent: "boo"'),
        (
            json_reply({"choices": None}),
            f'{JUDGE} sent JSON without a message {NO_COMPLETION}\nIt sent: {{"choices": null}}',
        ),
        (
            json_reply({"choices": []}),
            f'{JUDGE} sent JSON without a message {NO_COMPLETION}\nIt sent: {{"choices": []}}',
        ),
        (
            json_reply({"choices": [{}]}),
            f'{JUDGE} sent JSON without a message {NO_COMPLETION}\nIt sent: {{"choices": [{{}}]}}',
        ),
        (
            json_reply({"choices": ["a"]}),
            f'{JUDGE} sent JSON without a message {NO_COMPLETION}\nIt sent: {{"choices": ["a"]}}',
        ),
        (
            json_reply({"choices": {"a": 1}}),
            f'{JUDGE} sent JSON without a message {NO_COMPLETION}\nIt sent: {{"choices": {{"a": 1}}}}',
        ),
        (json_reply([1]), f"{JUDGE} sent JSON without a message {NO_COMPLETION}\nIt sent: [1]"),
        (json_reply(None), f'{JUDGE} sent JSON without a message {NO_COMPLETION}\nIt sent: "null"'),
        (
            Reply(body=b'{"choices": ['),
            f'{JUDGE} sent a body that is not JSON {NO_COMPLETION}\nIt sent: {{"choices": [',
        ),
        (
            Reply(body=b'{"a":' * 50_000),
            f"{JUDGE} sent a body that is not JSON {NO_COMPLETION}\nIt sent: " + '{"a":' * 59 + '{"a"…',
        ),
        (Reply(body=b'{"a": "\xff"}'), f'{JUDGE} sent a body that is not JSON {NO_COMPLETION}\nIt sent: {{"a": "�"}}'),
    ],
)
def test_what_is_no_completion_though_the_status_is_200_is_named(reply, said):
    error = failure_of(reply)
    assert isinstance(error, JudgeUnavailable)
    assert str(error) == said
    assert error.status == (204 if "204" in said else 200)


def test_a_model_that_declines_is_not_asked_again():
    with OpenAIServer(completion(None, refusal="I can't help with that.")) as server:
        error = failure(server.url)
    assert isinstance(error, JudgeReplyError)
    assert error.declined
    assert str(error) == (
        f"the judge at {server.url} (model 'm-1') declined to judge this answer. "
        "Check the answer and its contexts, or use another model.\nThe reason: it refused: I can't help with that."
    )
    assert len(server.requests) == 1


def test_a_server_that_does_not_run_is_named():
    with OpenAIServer() as server:
        pass
    error = failure(server.url)
    assert isinstance(error, JudgeUnavailable)
    assert str(error) == (
        f"no connection to the judge at {server.url} (model 'm-1'): Connection refused. "
        "Start the server, or check rag_judge_url."
    )


def test_the_proxy_of_a_connection_that_cannot_be_made_is_named(monkeypatch):
    with OpenAIServer() as server:
        proxy = server.url.removesuffix("/v1")
    monkeypatch.setenv("http_proxy", proxy.replace("//", "//me:pass-word-1@"))
    assert str(failure("http://judge.example/v1")).endswith(
        ". Start the server, or check rag_judge_url. "
        f"The environment sends requests through the proxy {proxy}: check it, or add the host to NO_PROXY."
    )


def test_a_connection_that_breaks_is_named():
    assert str(failure_of(Reply(status=0))).startswith(
        "no connection to the judge at URL (model 'm-1'): Server disconnected without sending a response. "
    )


def test_a_broken_connection_without_a_message_shows_the_system_error():
    broken = NoConnection()
    broken.__cause__ = ReadError("")
    failures = ServerFailures(model="m-1", url="URL", timeout_seconds=1)
    assert "(model 'm-1'): ReadError. Start the server" in str(failures.of_connection(broken))
    broken.__cause__.__cause__ = ConnectionResetError(104, "Connection reset by peer")
    assert "(model 'm-1'): [Errno 104] Connection reset by peer. Start" in str(failures.of_connection(broken))


def test_a_certificate_of_an_unknown_authority_is_named_with_what_makes_it_known():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("localhost").configure_cert(context)
    with FakeEndpoint(reset, tls=context, host="localhost") as endpoint:
        raised = failure(endpoint.url.replace("/query", "/v1"))
    assert "certificate verify failed" in str(raised)
    assert str(raised).endswith(
        "Check rag_judge_url; for a certificate authority of your own, set SSL_CERT_FILE to its certificate."
    )
    assert isinstance(raised, JudgeUnavailable)
    assert raised.transient is False


@pytest.mark.parametrize(
    ("scheme", "said"),
    [
        (
            "http",
            (
                "the proxy in front of the judge at http://judge.example/v1 refuses the credentials: "
                "HTTP 407 for model 'm-1'. Check HTTP_PROXY and HTTPS_PROXY.\nThe server says: Who?"
            ),
        ),
        (
            "https",
            (
                "no connection to the judge at https://judge.example/v1 (model 'm-1'): "
                "407 Proxy Authentication Required. "
                "A proxy refused it: check HTTP_PROXY and HTTPS_PROXY, or add the host to NO_PROXY."
            ),
        ),
    ],
)
def test_a_proxy_that_wants_other_credentials_is_named(monkeypatch, scheme, said):
    with FakeEndpoint(reply("Who?", 407)) as proxy:
        monkeypatch.setenv(f"{scheme}_proxy", f"http://me:pass-word-1@127.0.0.1:{proxy.port}")
        raised = failure(f"{scheme}://judge.example/v1", max_retries=2)
    assert str(raised) == said
    assert len(proxy.requests) == 1


@pytest.mark.parametrize("body", [b"{", b'{"id": "slow"}'])
def test_a_reply_that_does_not_end_in_time_is_a_timeout(body):
    never = threading.Event()
    try:
        error = failure_of(Reply(body=body, wait_for=never), timeout_seconds=0.2)
    finally:
        never.set()
    assert isinstance(error, JudgeUnavailable)
    assert str(error) == (
        "no reply from the judge at URL (model 'm-1') within 0.2 s. Raise rag_timeout, or use a faster model."
    )


def test_a_reply_that_drips_without_end_is_a_timeout_too():
    with OpenAIServer(Reply(body=b"{" + b" " * 2_000, drip_seconds=0.02)) as server:
        error = failure(server.url, timeout_seconds=0.3)
    assert "within 0.3 s" in str(error)


def judged_after(*replies: Reply, max_retries: int = 2) -> int:
    """How many requests it takes to be judged, where these replies come before the verdict."""

    async def run(server) -> None:
        judge = OpenAIJudge(model="m", api_key="k", base_url=server.url, max_retries=max_retries)
        async with aclosing(judge):
            await judge.judge(QUESTION, ANSWER)

    with OpenAIServer(*replies, verdict()) as server:
        asyncio.run(run(server))
    return len(server.requests)


def test_what_failed_in_passing_is_repeated_as_often_as_it_may_be():
    assert judged_after(error(503, retry_after_ms="1"), error(429, retry_after_ms="1")) == 3
    assert judged_after(Reply(status=0), max_retries=1) == 2
    with pytest.raises(JudgeUnavailable, match="HTTP 503"):
        judged_after(error(503, retry_after_ms="1"), error(503, retry_after_ms="1"), max_retries=1)


@pytest.mark.parametrize(
    "reply", [error(401, "No"), error(429, "Pay", code="insufficient_quota"), error(429, "Wait", retry_after="121")]
)
def test_what_no_waiting_helps_against_is_not_repeated(reply):
    with OpenAIServer(reply) as server:
        failure(server.url, max_retries=2)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7),
        ("1.5", 1.5),
        ("soon", None),
        ("", None),
        ("Sat, 21 Nov 2020 09:00:00 GMT", 0),
    ],
)
def test_the_error_carries_how_long_the_server_asks_to_wait(value, seconds):
    error_ = failure_of(error(429, retry_after=value))
    assert isinstance(error_, JudgeUnavailable)
    assert error_.retry_after_seconds == seconds


def test_what_the_server_says_is_one_line_of_300_characters_at_most():
    text = str(failure_of(error(503, "a\n\x1b[31mb\u202e" + "x" * 400)))
    said = text.split("The server says: ")[1]
    assert len(said) == 300
    assert said.startswith("a \ufffd[31mb\ufffdxxx")
    assert said.endswith("x…")
