"""`ragcheck probe` against real servers, right and broken ones."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from pytest_ragcheck.rag.client import RagClient
from pytest_ragcheck.rag.probe.first_reply import Check
from tests.servers.fake_endpoint import (
    Behaviour,
    FakeEndpoint,
    Request,
    chunked,
    close_without_reply,
    hang,
    json_reply,
    raw,
    reply,
)

if TYPE_CHECKING:
    from collections.abc import Callable

COMMAND = (sys.executable, "-c", "import sys; from pytest_ragcheck.cli import main; sys.exit(main())")
Fault: TypeAlias = "Callable[[Request], Behaviour | None]"
PASSAGES = [f"Refunds are possible within {days} days." for days in (30, 14, 7, 5, 3, 1)]
GOOD = {"answer": PASSAGES[0], "contexts": PASSAGES[:5]}
NAMES = [check.name.lower() for check in Check]
FIRST_REPLY = ["reachable", "post", "request", "status", "json", "answer", "contexts"]
TOKEN = "tok-4711-abcdef-0815"


def right(request: Request) -> Behaviour:
    """The behaviour of an endpoint that keeps the contract."""
    if request.method != "POST":
        return reply("", 405, allow="POST")
    asked = request.json
    if not asked.get("query"):
        return json_reply({"error": "query is required"}, 400)
    top_k = 5 if asked.get("top_k") is None else asked["top_k"]
    return json_reply({"answer": PASSAGES[0], "contexts": PASSAGES[:top_k]})


def endpoint(fault: Fault = lambda _: None) -> FakeEndpoint:
    """A server that keeps the contract, except for the *fault*."""
    return FakeEndpoint(lambda connection, request: (fault(request) or right(request))(connection, request))


def always(behaviour: Behaviour) -> Fault:
    return lambda _: behaviour


def to_posts(behaviour: Behaviour) -> Fault:
    return lambda request: behaviour if request.method == "POST" else None


def to_bodies(condition: Callable[[dict[str, object]], bool], behaviour: Behaviour) -> Fault:
    """For requests whose JSON body meets the condition."""
    return lambda request: behaviour if request.method == "POST" and condition(request.json) else None


def one_at_a_time() -> Fault:
    """A service that refuses requests while it is busy."""
    busy, crowded, seen = threading.Lock(), threading.Event(), []

    def behave(connection: socket.socket, request: Request) -> bool:
        seen.append(request)
        if not busy.acquire(blocking=False):
            crowded.set()
            return reply("busy", 503)(connection, request)
        with contextlib.ExitStack() as stack:
            stack.callback(busy.release)
            if len(seen) > 3:  # the first of those that come together waits until there is another
                crowded.wait(10)
            return right(request)(connection, request)

    return always(behave)


@dataclass(frozen=True, kw_only=True)
class Broken:
    """One way to break the contract, and the point that it has to fail at."""

    fault: Fault
    fails_at: str
    seen: str
    mend: str
    options: tuple[str, ...] = ()


BROKEN = {
    "ends the connection": Broken(
        fault=always(close_without_reply),
        fails_at="reachable",
        seen="the connection was closed without an HTTP reply",
        mend="See the server's log, and check whether the port wants https:// instead of http://.",
    ),
    "another path": Broken(
        fault=always(reply('{"detail": "Not Found"}', 404)),
        fails_at="post",
        seen='status 404 Not Found ({"detail": "Not Found"})',
        mend="There is no such route: check the path in the URL.",
    ),
    "takes GET only": Broken(
        fault=to_posts(reply("", 405)),
        fails_at="post",
        seen="status 405 Method Not Allowed (no body)",
        mend="The route has to take POST: check the path in the URL, and the methods of the route. "
        "If it takes GET with ?questions=TEXT, set rag_shape = search-rag.",
    ),
    "wants a slash at the end": Broken(
        fault=to_posts(reply("", 307, location="/query/")),
        fails_at="post",
        seen="status 307 Temporary Redirect, which leads to {origin}/query/ (no body)",
        mend="Redirects are not followed, since the headers would go along. "
        "If that is the endpoint, set the URL to it; if it is a login page, set --header.",
    ),
    "wants other keys": Broken(
        fault=to_posts(json_reply({"detail": "question: Field required"}, 422, reason="Unprocessable")),
        fails_at="request",
        seen='{"detail": "question: Field required"}',
        mend='Take a JSON object with "query", a string, and "top_k", a number, and no further required key.',
    ),
    "crashes": Broken(
        fault=to_posts(reply("Traceback", 500)),
        fails_at="status",
        seen='status 500 Internal Server Error ("Traceback")',
        mend="See the endpoint's log.",
    ),
    "replies 201": Broken(
        fault=to_posts(json_reply(GOOD, 201)),
        fails_at="status",
        seen="status 201 Created",
        mend="Return 200, the contract's status of success.",
    ),
    "replies with HTML": Broken(
        fault=to_posts(reply("<!doctype html><title>Sign in</title>", content_type="text/html")),
        fails_at="json",
        seen='the reply is not JSON but an HTML page "Sign in"',
        mend="Check that the URL is that of the API's route, and that no login page or proxy answers in its place.",
    ),
    "replies with an array": Broken(
        fault=to_posts(json_reply([GOOD])),
        fails_at="json",
        seen="the reply is an array of 1",
        mend='Return an object, {"answer": "...", "contexts": ["...", ...]}.',
    ),
    "replies with too much": Broken(
        fault=to_posts(json_reply({**GOOD, "debug": "x" * 10_000_000})),
        fails_at="json",
        seen="the reply is larger than 10,000,000 bytes",
        mend="Return fewer or shorter contexts.",
    ),
    "is wrongly compressed": Broken(
        fault=to_posts(reply("no gzip", content_encoding="gzip")),
        fails_at="json",
        seen="the reply's body is not compressed as its Content-Encoding says",
        mend="Check what compresses it: the endpoint, or a proxy before it.",
    ),
    "names the answer otherwise": Broken(
        fault=to_posts(json_reply({"response": "30 days", "contexts": []})),
        fails_at="answer",
        seen='the reply has no "answer" (found "response", "contexts")',
        mend='Rename "response" to "answer".',
    ),
    "has no answer to give": Broken(
        fault=to_posts(json_reply({"answer": None, "contexts": []})),
        fails_at="answer",
        seen='"answer" is null, not a string',
        mend='Return "" where the system declines to answer.',
    ),
    "reports an error beside an empty answer": Broken(
        fault=to_posts(json_reply({"answer": "", "contexts": [], "error": "no index"})),
        fails_at="answer",
        seen='the reply has no answer in "answer" but an error: "no index"',
        mend="Fix its cause in the RAG system, and report such failures with status 500.",
    ),
    "reports a failure beside an empty answer": Broken(
        fault=to_posts(json_reply({"answer": "", "contexts": [], "status": "error", "message": "no index"})),
        fails_at="answer",
        seen='the reply has no answer in "answer" but an error: "no index"',
        mend="Fix its cause in the RAG system, and report such failures with status 500.",
    ),
    "has no contexts": Broken(
        fault=to_posts(json_reply({"answer": "30 days", "sources": ["a"]})),
        fails_at="contexts",
        seen='the reply has no "contexts"',
        mend='Return the texts of "sources" as "contexts", an array of strings.',
    ),
    "has contexts that are objects": Broken(
        fault=to_posts(json_reply({"answer": "30 days", "contexts": [{"text": "Within 30 days.", "score": 0.9}]})),
        fails_at="contexts",
        seen='"contexts"[0] is an object with "text", "score", not a string',
        mend='Return the "text" of each; further keys of the reply may hold the rest.',
    ),
    "never replies": Broken(
        fault=to_posts(hang),
        fails_at="time",
        seen="no complete reply within 0.3 s: timed out while waiting for the reply",
        mend="Answer sooner: clients give up then. --timeout sets another limit.",
        options=("--timeout", "0.3"),
    ),
    "ignores top_k": Broken(
        fault=to_bodies(lambda body: bool(body["query"]), json_reply(GOOD)),
        fails_at="top_k",
        seen="5 for 5, 5 for 1",
        mend='Return the best passages only, "top_k" of them at most.',
    ),
    "returns more than asked": Broken(
        fault=to_bodies(lambda body: bool(body["query"]), json_reply({"answer": "", "contexts": PASSAGES})),
        fails_at="top_k",
        seen="6 for 5",
        mend='Return the best passages only, "top_k" of them at most.',
    ),
    "knows no top_k of 1": Broken(
        fault=to_bodies(lambda body: body.get("top_k") == 1, reply("at least 3", 400)),
        fails_at="top_k",
        seen='top_k 1: status 400 Bad Request ("at least 3")',
        mend='Take every "top_k" from 1.',
    ),
    "reads ASCII only": Broken(
        fault=to_bodies(lambda body: not str(body["query"]).isascii(), reply("UnicodeEncodeError", 500)),
        fails_at="unicode",
        seen='status 500 Internal Server Error ("UnicodeEncodeError")',
        mend="Read and write texts as UTF-8. The question was: ",
    ),
    "serves one at a time": Broken(
        fault=one_at_a_time(),
        fails_at="concurrent",
        seen='of 4 answered; status 503 Service Unavailable ("busy")',
        mend="Accept several requests at once: questions are asked concurrently.",
    ),
    "crashes without top_k": Broken(
        fault=to_bodies(lambda body: "top_k" not in body, reply("KeyError: 'top_k'", 500)),
        fails_at="top_k_optional",
        seen="missing: status 500 Internal Server Error (\"KeyError: 'top_k'\")",
        mend="Use a default if it is null or missing, and return no contexts for 0.",
    ),
}


@pytest.fixture(autouse=True)
def far_from_any_ini_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def probe(ragcheck: Callable[..., tuple[int, str, str]]):
    """Runs the probe for scripts; returns its exit status and the points by name."""

    def run(url: str, *options: str) -> tuple[int, dict[str, dict[str, str]]]:
        status, printed, _ = ragcheck("probe", url, "--json", *options)
        document = json.loads(printed)
        assert document["passed"] == (status == 0)
        return status, {point["name"]: point for point in document["points"]}

    return run


def with_outcome(points: dict[str, dict[str, str]], outcome: str) -> list[str]:
    return [name for name, point in points.items() if point["outcome"] == outcome]


def test_a_right_endpoint_passes_every_point(probe) -> None:
    with endpoint() as server:
        status, points = probe(server.url)
    assert status == 0
    assert with_outcome(points, "pass") == NAMES


def test_every_point_tells_what_was_seen(probe) -> None:
    with endpoint() as server:
        _, points = probe(server.url, "--question", "What about refunds?", "--top-k", "3")
    seen = {name: re.sub(r"\d+\.\d\d s", "0.01 s", point["seen"]) for name, point in points.items()}
    assert seen == {
        "reachable": "HTTP/1.1, 0.01 s",
        "post": "taken",
        "request": '{"query": "What about refunds?", "top_k": 3}',
        "status": "200 OK",
        "json": "application/json, 183 bytes",
        "answer": '"Refunds are possible within 30 days."',
        "contexts": "3 of them",
        "top_k": "3 for 3, 1 for 1",
        "unicode": "¿Qué garantía hay? Сколько дней? 返品できますか？ 🙂 was answered",
        "concurrent": "4 of 4 answered within 0.01 s",
        "time": "the slowest of 7 in 0.01 s, limit 60 s",
        "top_k_optional": "each answered",
        "empty_query": '400, "query is required"',
        "get": "405",
        "short_contexts": "the longest has 36 characters",
        "keep_alive": "two questions went over one",
    }
    assert {point["mend"] for point in points.values()} == {None}


def test_it_sends_eleven_questions_and_one_get_and_no_more(probe) -> None:
    with endpoint() as server:
        probe(server.url, "--question", "Q")
        sent = [request.json if request.method == "POST" else request.method for request in server.requests]
    unicode_question = "¿Qué garantía hay? Сколько дней? 返品できますか？ 🙂"
    assert sent == [
        {"query": "Q", "top_k": 5},
        {"query": "Q", "top_k": 1},
        {"query": unicode_question, "top_k": 5},
        *[{"query": "Q", "top_k": 5}] * 4,
        {"query": "Q", "top_k": None},
        {"query": "Q"},
        {"query": "Q", "top_k": 0},
        {"query": "", "top_k": 5},
        "GET",
    ]


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_broken_endpoint_fails_at_the_right_point(broken: Broken, probe) -> None:
    with endpoint(broken.fault) as server:
        status, points = probe(server.url, *broken.options)
        origin = server.url.removesuffix("/query")
    assert status == 1
    assert list(points) == NAMES
    assert with_outcome(points, "fail")[0] == broken.fails_at
    failed = points[broken.fails_at]
    assert broken.seen.replace("{origin}", origin) in failed["seen"]
    assert failed["mend"].startswith(broken.mend)


def test_no_server_listens(probe) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    status, points = probe(f"http://127.0.0.1:{port}/query")
    assert status == 1
    assert points["reachable"]["seen"] == "connection refused"
    assert points["reachable"]["mend"] == "Start the RAG service, or set the URL to the port where it listens."
    assert with_outcome(points, "not_checked") == NAMES[1:]


def test_a_connection_that_is_never_made_fails_at_reachable(probe) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts, and does not answer a TLS handshake
        url = f"https://127.0.0.1:{silent.getsockname()[1]}/query"
        _, points = probe(url, "--timeout", "0.3")
    assert with_outcome(points, "fail") == ["reachable"]
    assert "timed out while connecting" in points["reachable"]["seen"]


@pytest.mark.parametrize(
    ("name", "passes", "unknown"),
    [
        ("wants other keys", ["reachable", "post"], NAMES[3:]),
        ("crashes", ["reachable"], ["post", "request", *NAMES[4:]]),
        ("replies with HTML", ["reachable", "post", "request", "status"], NAMES[5:]),
        ("has contexts that are objects", FIRST_REPLY[:6], NAMES[7:]),
        ("never replies", ["reachable"], [name for name in NAMES[1:] if name != "time"]),
    ],
)
def test_what_a_failure_leaves_open_is_said_to_be_not_checked(
    name: str, passes: list[str], unknown: list[str], probe
) -> None:
    with endpoint(BROKEN[name].fault) as server:
        _, points = probe(server.url, *BROKEN[name].options)
    assert with_outcome(points, "pass") == passes
    assert with_outcome(points, "not_checked") == unknown


def test_both_fields_of_a_reply_are_checked_whatever_the_other_holds(probe) -> None:
    with endpoint(to_posts(json_reply({"response": "30 days", "documents": ["Within 30 days."]}))) as server:
        _, points = probe(server.url)
    assert with_outcome(points, "fail") == ["answer", "contexts"]
    assert points["answer"]["mend"] == 'Rename "response" to "answer".'
    assert points["contexts"]["seen"] == 'the reply has no "contexts"'
    assert points["contexts"]["mend"] == 'Return the texts of "documents" as "contexts", an array of strings.'


def test_a_later_reply_that_does_not_come_fails_its_point_and_the_time(probe) -> None:
    with endpoint(to_bodies(lambda body: body.get("top_k") == 1, hang)) as server:
        _, points = probe(server.url, "--timeout", "0.5")
    assert with_outcome(points, "fail") == ["top_k", "time"]
    assert points["time"]["seen"] == "1 of 7 took more than 0.5 s"
    assert points["time"]["mend"] == "Answer sooner."
    assert points["keep_alive"]["outcome"] == "not_checked"


def closing(request: Request) -> Behaviour | None:
    if request.method != "POST" or not request.json.get("query"):
        return None
    body = json.dumps({"answer": "", "contexts": PASSAGES[: request.json.get("top_k", 5)]}).encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
    return raw(head % len(body) + body)


def answering(**more: object) -> Fault:
    """A right endpoint whose replies differ in something."""

    def fault(request: Request) -> Behaviour | None:
        if request.method != "POST" or not request.json.get("query"):
            return None
        top_k = 5 if request.json.get("top_k") is None else request.json["top_k"]
        contexts = [f"{passage}{more.get('ending', '')}" for passage in PASSAGES[:top_k]]
        body = json.dumps({"answer": PASSAGES[0], "contexts": contexts})
        return reply(body, 200, content_type=str(more.get("content_type", "application/json")))

    return fault


@pytest.mark.parametrize(
    ("fault", "advised", "seen", "mend"),
    [
        (
            to_bodies(lambda body: body.get("top_k", 5) is None, reply("not null", 422, "Unprocessable")),
            "top_k_optional",
            'null: status 422 Unprocessable ("not null")',
            "Use a default if it is null or missing, and return no contexts for 0.",
        ),
        (
            to_bodies(lambda body: not body["query"], json_reply(GOOD)),
            "empty_query",
            "it was answered",
            'Return status 400 and {"error": "query is required"}.',
        ),
        (
            to_bodies(lambda body: not body["query"], json_reply({"error": "no"}, 500)),
            "empty_query",
            'status 500 Internal Server Error ({"error": "no"})',
            'Return status 400 and {"error": "query is required"}.',
        ),
        (
            to_bodies(lambda body: not body["query"], reply("no", 400)),
            "empty_query",
            'status 400 Bad Request ("no")',
            'Return status 400 and {"error": "query is required"}.',
        ),
        (
            to_bodies(lambda body: not body["query"], json_reply({"detail": "no"}, 400)),
            "empty_query",
            'status 400 Bad Request ({"detail": "no"})',
            'Return status 400 and {"error": "query is required"}.',
        ),
        (
            lambda request: reply("Cannot GET /query", 404) if request.method == "GET" else None,
            "get",
            "status 404",
            "Reply 405 to other methods, so that a wrong method differs from a wrong path.",
        ),
        (
            lambda request: close_without_reply if request.method == "GET" else None,
            "get",
            "no reply came",
            "Reply 405 to other methods, so that a wrong method differs from a wrong path.",
        ),
        (
            answering(ending=" And so on." * 200),
            "short_contexts",
            "the longest has 2,236 characters",
            "Cut documents into short passages.",
        ),
        (
            answering(content_type="text/plain; charset=utf-8"),
            "json",
            "Content-Type text/plain, 261 bytes",
            "Send Content-Type: application/json; other clients check it.",
        ),
        (
            closing,
            "keep_alive",
            "each question needed a new one",
            "Keep connections open: each new one costs time.",
        ),
    ],
)
def test_what_the_contract_does_not_ask_for_is_advice(fault: Fault, advised: str, seen: str, mend: str, probe) -> None:
    with endpoint(fault) as server:
        status, points = probe(server.url)
    assert status == 0
    assert with_outcome(points, "advice") == [advised]
    assert (points[advised]["seen"], points[advised]["mend"]) == (seen, mend)


def test_a_get_that_hangs_is_given_up(probe) -> None:
    with endpoint(lambda request: hang if request.method == "GET" else None) as server:
        _, points = probe(server.url, "--timeout", "0.5")
    assert (points["get"]["outcome"], points["get"]["seen"]) == ("advice", "no reply came")


def test_without_contexts_it_says_how_to_check_what_needs_some(probe) -> None:
    with endpoint(to_bodies(lambda body: bool(body["query"]), json_reply({"answer": " ", "contexts": []}))) as server:
        status, points = probe(server.url)
    assert status == 0
    assert points["answer"]["seen"] == "an empty one: the system declined to answer"
    assert points["contexts"]["seen"] == "an empty one"
    assert with_outcome(points, "not_checked") == ["top_k", "short_contexts"]
    assert points["top_k"]["seen"] == "no contexts came; give --question TEXT that your documents answer"


def test_what_it_prints(ragcheck) -> None:
    objects = json_reply({"answer": "Within 30 days.", "contexts": [{"text": "Refunds: 30 days.", "score": 0.9}]})
    with endpoint(to_posts(objects)) as server:
        status, printed, _ = ragcheck("probe", server.url)
        url = server.url
    assert status == 1
    assert re.sub(r"\d\.\d\d s", "0.01 s", printed) == (
        f"{url}\n"
        "\n"
        "PASS         a server answers                   HTTP/1.1, 0.01 s\n"
        "PASS         takes POST with application/json   taken\n"
        'PASS         takes {"query", "top_k"}           {"query": "What can you help me with?", "top_k": 5}\n'
        "PASS         replies with status 200            200 OK\n"
        "PASS         replies with a JSON object         application/json, 88 bytes\n"
        'PASS         "answer" is a string               "Within 30 days."\n'
        'FAIL         "contexts" is an array of strings  '
        '"contexts"[0] is an object with "text", "score", not a string\n'
        '             -> Return the "text" of each; further keys of the reply may hold the rest.\n'
        'not checked  "top_k" limits the contexts        the first reply could not be used\n'
        "not checked  a question in any script works     the first reply could not be used\n"
        "not checked  several requests at once work      the first reply could not be used\n"
        "not checked  every reply comes in time          the first reply could not be used\n"
        'not checked  "top_k" may be null, missing, 0    the first reply could not be used\n'
        "not checked  an empty query gets status 400     the first reply could not be used\n"
        "not checked  GET gets status 405                the first reply could not be used\n"
        "not checked  contexts are short                 the first reply could not be used\n"
        "not checked  the connection stays open          the first reply could not be used\n"
        "\n"
        "6 passed, 1 failed, 9 not checked: the endpoint does not keep the contract.\n"
        "These settings read the endpoint as it is (the points above are without settings):\n"
        "\n"
        f"rag_url = {url}\n"
        "rag_response = answer=answer contexts=contexts[].text\n"
        "\n"
        'The first context, which has to be a text and not a name: "Refunds: 30 days."\n\n'
        "Conversations need {history} or {session} in rag_request: ragcheck docs how-to/own-endpoint-shape\n"
    )


SOURCES = [{"document_id": "terms.md", "text": PASSAGES[0]}]


GEMINI = [
    {"candidates": [{"content": {"parts": [{"text": "30 "}]}}]},
    {
        "candidates": [
            {
                "content": {"parts": [{"text": "days"}]},
                "groundingMetadata": {
                    "groundingChunks": [{"retrievedContext": {"uri": "terms.md", "text": PASSAGES[0]}}]
                },
            }
        ]
    },
]


def takes(condition: Callable[[dict[str, object]], bool], taken: Behaviour) -> FakeEndpoint:
    """A server that refuses every request for which the condition is false."""
    return endpoint(
        lambda request: (
            taken if request.method == "POST" and condition(request.json) else json_reply({"detail": "no"}, 422)
        )
    )


def of_events(*values: object) -> Behaviour:
    texts = (value if isinstance(value, str) else json.dumps(value) for value in values)
    return chunked([f"data: {text}\n\n".encode() for text in texts], content_type="text/event-stream")


@pytest.mark.parametrize(
    ("condition", "taken", "settings"),
    [
        pytest.param(
            lambda body: body.keys() == {"question"},
            json_reply({"result": "30 days", "sources": SOURCES}),
            {
                "rag_request": '{"question": "{query}"}',
                "rag_response": "answer=result contexts=sources[].text source_ids=sources[].document_id",
            },
            id="another key, without top_k",
        ),
        pytest.param(
            lambda body: body.get("include_chunks"),
            json_reply({"answer": "30 days", "sources": SOURCES, "session_id": "1"}),
            {"rag_shape": "server"},
            id="a named shape",
        ),
        pytest.param(
            lambda body: "query" in body,
            of_events({"token": "30 "}, {"token": "days"}, {"sources": SOURCES}),
            {"rag_response": "answer=token contexts=sources[].text source_ids=sources[].document_id"},
            id="a stream",
        ),
        pytest.param(
            lambda body: "query" in body,
            chunked([f"{json.dumps(each)}\n".encode() for each in ({"token": "30 days"}, {"sources": SOURCES})]),
            {"rag_response": "answer=token contexts=sources[].text source_ids=sources[].document_id"},
            id="a stream without a media type",
        ),
        pytest.param(
            lambda body: "query" in body,
            chunked(
                [
                    b"event: sources\ndata: " + json.dumps(SOURCES).encode() + b"\n\n",
                    b"event: token\ndata: 30\n\nevent: token\ndata:  days\n\nevent: done\ndata:\n\n",
                ],
                content_type="text/event-stream",
            ),
            {
                "rag_response": "answer=[@][?event=='token'].data | [0] contexts=data[].text "
                "source_ids=data[].document_id",
            },
            id="a stream of text with named events",
        ),
        pytest.param(
            lambda body: isinstance(body.get("input"), dict) and "question" in body["input"],
            json_reply({"output": {"answer": "30 days", "context": SOURCES}}),
            {
                "rag_request": '{"input": {"question": "{query}"}}',
                "rag_response": "answer=output.answer contexts=output.context[].text "
                "source_ids=output.context[].document_id",
            },
            id="LangServe",
        ),
        pytest.param(
            lambda body: body.get("include_chunk_content"),
            json_reply({"response": "30 days", "references": [{"file_path": "terms.md", "content": PASSAGES[:1]}]}),
            {
                "rag_request": '{"query": "{query}", "include_references": true, "include_chunk_content": true}',
                "rag_response": "answer=response contexts=references[].join(' ', content) "
                "source_ids=references[].file_path",
            },
            id="LightRAG",
        ),
        pytest.param(
            lambda body: body.get("detail"),
            json_reply(
                {
                    "choices": [{"message": {"role": "assistant", "content": "30 days"}}],
                    "responseData": [{"quoteList": [{"id": "1", "q": PASSAGES[0], "sourceName": "terms.md"}]}],
                }
            ),
            {
                "rag_request": '{"detail": true, "messages": ["{history}", {"role": "user", "content": "{query}"}]}',
                "rag_response": "answer=choices[0].message.content "
                """contexts=responseData[?quoteList]|[:1].quoteList[].join(`"\\n"`,[q,a][?@]) """
                "source_ids=responseData[?quoteList]|[:1].quoteList[].sourceName",
            },
            id="FastGPT",
        ),
        pytest.param(
            lambda body: "content" in (body.get("messages") or [{}])[0],
            of_events({"context": {"chunks": SOURCES}}, {"delta": {"content": "30 "}}, {"delta": {"content": "days"}}),
            {
                "rag_request": '{"messages": ["{history}", {"role": "user", "content": "{query}"}]}',
                "rag_response": "answer=delta.content contexts=context.chunks[].text "
                "source_ids=context.chunks[].document_id",
            },
            id="OpenAI's messages, and a stream of another form",
        ),
        pytest.param(
            lambda body: "parts" in (body.get("messages") or [{}])[0],
            of_events(
                {"type": "start"},
                {"type": "tool-output-available", "output": [{"id": "terms.md", "content": PASSAGES[0]}]},
                {"type": "reasoning-delta", "id": "r", "delta": "Look it up."},
                {"type": "text-delta", "id": "t", "delta": "30 "},
                {"type": "text-delta", "id": "t", "delta": "days"},
                {"type": "finish"},
                "[DONE]",
            ),
            {
                "rag_request": '{"id": "1", "messages": ["{history}", {"id": "1", "role": "user", '
                '"parts": [{"type": "text", "text": "{query}"}]}]}',
                "rag_response": "answer=[@][?type=='text-delta'].delta | [0] contexts=output[].content "
                "source_ids=output[].id",
            },
            id="AI SDK 5",
        ),
        pytest.param(
            lambda body: "content" in (body.get("messages") or [{}])[0],
            reply(
                'f:{"messageId": "m"}\n'
                f'2:[{{"id": "terms.md", "text": "{PASSAGES[0]}"}}]\n'
                '0:"30 "\n0:"days"\ne:{"finishReason": "stop"}\nd:{"finishReason": "stop"}\n',
                content_type="text/plain; charset=utf-8",
            ),
            {
                "rag_shape": "openai-chat",
                "rag_response": """answer=join('', []."0") contexts=[?"2"]."2"[].text source_ids=[?"2"]."2"[].id""",
            },
            id="AI SDK 4",
        ),
        pytest.param(
            lambda body: "contents" in body,
            json_reply([*GEMINI[:1], {"usageMetadata": {}}, *GEMINI[1:]]),
            {
                "rag_request": '{"contents": [{"role": "user", "parts": [{"text": "{query}"}]}]}',
                "rag_response": "answer=join('', [].candidates[0].content.parts[0].text) "
                "contexts=[?candidates[0].groundingMetadata.groundingChunks]."
                "candidates[0].groundingMetadata.groundingChunks[].retrievedContext.text "
                "source_ids=[?candidates[0].groundingMetadata.groundingChunks]."
                "candidates[0].groundingMetadata.groundingChunks[].retrievedContext.uri",
            },
            id="Gemini's array of chunks",
        ),
        pytest.param(
            lambda body: "query" in body,
            json_reply({"statusCode": 200, "body": json.dumps({"answer": "30 days", "contexts": SOURCES})}),
            {
                "rag_response": "answer=from_json(body).answer contexts=from_json(body).contexts[].text "
                "source_ids=from_json(body).contexts[].document_id"
            },
            id="JSON in a text",
        ),
        pytest.param(
            lambda body: "query" in body,
            json_reply(json.dumps({"answer": "30 days", "contexts": json.dumps(SOURCES)})),
            {
                "rag_response": "answer=from_json(@).answer contexts=from_json(from_json(@).contexts)[].text "
                "source_ids=from_json(from_json(@).contexts)[].document_id"
            },
            id="JSON encoded twice",
        ),
        pytest.param(
            lambda body: "query" in body,
            json_reply({"answer": "30 days", "contexts": {"terms.md": PASSAGES[0]}}),
            {"rag_response": "answer=answer contexts=values(contexts)[] source_ids=keys(contexts)"},
            id="contexts by id",
        ),
        pytest.param(
            lambda body: "query" in body,
            json_reply({"answer": "30 days", "documents": {"terms.md": {"content": PASSAGES[0], "score": 1}}}),
            {"rag_response": "answer=answer contexts=values(documents)[].content source_ids=keys(documents)"},
            id="contexts by id, in objects",
        ),
    ],
)
def test_the_settings_that_read_another_endpoint_are_named_whole(
    condition: Callable[[dict[str, object]], bool],
    taken: Behaviour,
    settings: dict[str, str],
    ragcheck,
) -> None:
    with takes(condition, taken) as server:
        status, printed, _ = ragcheck("probe", server.url, "--json")
        assert (status, json.loads(printed)["settings"]) == (1, {"rag_url": server.url, **settings})
        shape: dict[str, Any] = {name.removeprefix("rag_"): value for name, value in settings.items()}
        with RagClient(server.url, **shape).blocking as client:
            answer = client.query("How long?")
    assert (answer.text, answer.contexts) == ("30 days", (PASSAGES[0],))
    assert answer.source_ids == ("terms.md",)


def test_an_endpoint_that_breaks_down_without_its_key_is_asked_on(ragcheck) -> None:
    found = json_reply({"answer": "30 days", "contexts": PASSAGES[:1]})
    with endpoint(lambda request: found if "question" in request.json else json_reply({}, 500)) as server:
        _, printed, _ = ragcheck("probe", server.url, "--json")
    assert json.loads(printed)["settings"] == {
        "rag_url": server.url,
        "rag_request": '{"question": "{query}", "top_k": "{top_k}"}',
    }


@pytest.mark.parametrize("status", [404, 501])
def test_an_endpoint_that_refuses_get_as_not_found_is_asked_on(status: int, ragcheck) -> None:
    # Express answers 404 to a method without a route, and Python's http.server 501.
    found = json_reply({"answer": "30 days", "contexts": PASSAGES[:1]})
    refused = json_reply({"detail": "no"}, 422)

    def by_post(request: Request) -> Behaviour:
        if request.method != "POST":
            return reply("Cannot GET /query", status)
        return found if "question" in request.json else refused

    with endpoint(by_post) as server:
        _, printed, _ = ragcheck("probe", server.url, "--json")
    assert json.loads(printed)["settings"] == {
        "rag_url": server.url,
        "rag_request": '{"question": "{query}", "top_k": "{top_k}"}',
    }


def closes_after_500(taken: Callable[[dict[str, Any]], bool]) -> Callable[[Request], Behaviour]:
    """A server as uvicorn: an exception of the app ends the connection, without a header that announces it."""
    ended = set()

    def behave(request: Request) -> Behaviour:
        if request.connection in ended:
            return close_without_reply
        if request.method == "POST" and not taken(request.json):
            ended.add(request.connection)
            return reply("KeyError", 500)
        return (
            json_reply({"answer": "30 days", "contexts": PASSAGES[:1]}) if request.method == "POST" else reply("", 405)
        )

    return behave


def test_a_connection_that_ends_after_an_exception_does_not_end_the_search(ragcheck) -> None:
    with endpoint(closes_after_500(lambda body: "message" in body)) as server:
        _, printed, _ = ragcheck("probe", server.url, "--json")
    assert json.loads(printed)["settings"] == {
        "rag_url": server.url,
        "rag_request": '{"message": "{query}", "top_k": "{top_k}"}',
    }


def test_a_connection_that_ends_after_an_exception_does_not_fail_the_next_point(probe) -> None:
    with endpoint(closes_after_500(lambda body: bool(body["query"]) and "top_k" in body)) as server:
        _, points = probe(server.url)
    assert points["top_k_optional"]["seen"] == 'missing: status 500 Internal Server Error ("KeyError")'
    assert points["get"]["seen"] == "405"


def test_an_endpoint_that_takes_get_alone_is_read_too(ragcheck) -> None:
    def by_get(request: Request) -> Behaviour:
        if request.method == "GET" and "?q=" in request.path:
            return json_reply({"answer": "30 days", "contexts": PASSAGES[:1]})
        return json_reply({}, 405)

    with endpoint(by_get) as server:
        _, printed, _ = ragcheck("probe", server.url, "--json")
    assert json.loads(printed)["settings"] == {"rag_url": server.url, "rag_request": "GET q={query}"}


def test_a_request_that_no_known_one_fits_is_to_be_written(ragcheck) -> None:
    with endpoint(always(json_reply({"detail": "input.text is required"}, 422))) as server:
        _, printed, _ = ragcheck("probe", server.url)
    assert printed.endswith('rag_request = {"input": {"text": "{query}"}}, and probe again to find the rag_response.\n')
    assert "give --question" not in printed


def test_a_request_whose_reply_has_unknown_keys_is_shown_with_the_keys(ragcheck) -> None:
    def taken(body: dict[str, object]) -> bool:
        return "question" in body

    with takes(taken, json_reply({"vastaus": "30 päivää", "lähteet": PASSAGES[:1]})) as server:
        _, printed, _ = ragcheck("probe", server.url)
        _, as_json, _ = ragcheck("probe", server.url, "--json")
    assert printed.endswith(
        'The endpoint takes these settings, but the reply has no "answer" (found "vastaus", "lähteet"). '
        'Return {"answer": "...", "contexts": ["...", ...]}. Or leave the endpoint as it is, and say by rag_response '
        "where answer and contexts are. Or give --question TEXT that your documents answer:\n\n"
        f'rag_url = {server.url}\nrag_request = {{"question": "{{query}}", "top_k": "{{top_k}}"}}\n\n'
        "Conversations need {history} or {session} in rag_request: ragcheck docs how-to/own-endpoint-shape\n"
        "For contexts alone, pytest --rag-tier=retrieval names the setting.\n"
    )
    assert json.loads(as_json)["settings"] is None


def test_a_question_without_contexts_is_shown_and_gives_no_setting(ragcheck) -> None:
    def reply(request: Request) -> Behaviour:
        message = json.loads(request.body).get("message")
        if message is None:
            return json_reply({"detail": "message is required"}, 422)
        return json_reply({"reply": "Ask me.", "citations": [{"text": PASSAGES[0]}] if "refund" in message else []})

    with endpoint(reply) as server:
        _, printed, _ = ragcheck("probe", server.url)
        _, answered, _ = ragcheck("probe", server.url, "--question", "When are refunds paid?")
    assert (
        'The endpoint takes these settings, but it returned no contexts for "What can you help me with?", so '
        f"give --question TEXT that your documents answer:\n\nrag_url = {server.url}\n"
    ) in printed
    assert "rag_response" not in printed
    assert "\nrag_response = answer=reply contexts=citations[].text\n" in answered


def test_an_endpoint_that_checks_the_body_first_wants_its_token(ragcheck) -> None:
    def fault(request: Request) -> Behaviour:
        if b"question" not in request.body:
            return json_reply({"detail": "question: Field required"}, 422)
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return json_reply({"detail": "Not authenticated"}, 401)
        return json_reply({"result": "30 days", "sources": PASSAGES[:1]})

    with endpoint(fault) as server:
        _, printed, _ = ragcheck("probe", server.url)
        _, with_token, _ = ragcheck("probe", server.url, "--header", f"Authorization: Bearer {TOKEN}")
    request = 'rag_request = {"question": "{query}", "top_k": "{top_k}"}\n'
    assert (
        "The endpoint takes these settings, but status 401 Unauthorized "
        '({"detail": "Not authenticated"}). Give the endpoint\'s credentials by --header, or an identity\'s by '
        f"rag_identities. Then probe again:\n\nrag_url = {server.url}\n{request}"
    ) in printed
    assert f"{request}rag_response = answer=result contexts=sources\n" in with_token


def test_a_taken_request_is_shown_for_an_endpoint_that_breaks_down_without_it(ragcheck) -> None:
    completion = json_reply({"choices": [{"message": {"content": "30 days"}}]})
    with endpoint(lambda request: completion if b"messages" in request.body else json_reply({}, 500)) as server:
        _, printed, _ = ragcheck("probe", server.url)
    assert printed.endswith(
        'The endpoint takes these settings, but the reply has no "contexts" (found "choices"). '
        "Set rag_response = answer=choices[0].message.content contexts=EXPRESSION with an expression that leads to "
        "them, or contexts=`[]` if the reply has none. Or give --question TEXT that your documents answer:\n\n"
        f"rag_url = {server.url}\nrag_shape = openai-chat\n\n"
        "In conversations the request carries {history}.\n"
    )


def test_contexts_without_an_answer_lead_to_the_tier_retrieval(ragcheck) -> None:
    with endpoint(always(json_reply({"results": [{"id": "a", "text": PASSAGES[0]}]}))) as server:
        _, printed, _ = ragcheck("probe", server.url)
    assert printed.endswith(
        "Settings are found only for an answer with contexts: give --question TEXT that your documents answer.\n"
        "For contexts alone, pytest --rag-tier=retrieval names the setting.\n"
    )


def test_the_settings_of_a_search_are_confirmed(ragcheck) -> None:
    settings = 'rag_request = {"q": "{query}"}\nrag_response = contexts=hits[].text source_ids=hits[].id\n'

    def reply(request: Request) -> Behaviour:
        known = "q" in json.loads(request.body)
        return json_reply(
            {"hits": [{"id": "a", "text": PASSAGES[0]}]} if known else {"detail": "no q"}, 200 if known else 422
        )

    Path("pytest.ini").write_text(f"[pytest]\nrag_tier = retrieval\n{settings}", encoding="utf-8")
    with endpoint(reply) as server:
        _, printed, _ = ragcheck("probe", server.url)
    found = "These settings read the endpoint as it is (the points above are without settings):"
    assert f"{found}\n\nrag_url = {server.url}\n{settings}" in printed


def test_a_wrong_path_does_not_ask_for_another_question(ragcheck) -> None:
    with endpoint(always(reply("Not Found", 404))) as server:
        _, printed, _ = ragcheck("probe", server.url)
    assert "There is no such route: check the path in the URL." in printed
    assert "give --question" not in printed


def test_a_reply_that_no_settings_read_leads_to_a_function(ragcheck) -> None:
    for body in ("30 days", "<!doctype html><title>Sign in</title>"):
        with endpoint(always(reply(body))) as server:
            _, printed, _ = ragcheck("probe", server.url)
        assert printed.endswith(
            "does not keep the contract.\nNo settings read such a reply. To leave the endpoint as it is, "
            "ask it by a function: ragcheck docs reference/client\n"
        )


def test_a_page_for_every_get_is_no_taken_request(ragcheck) -> None:
    page, refused = reply("<html>Welcome</html>", 200), json_reply({"detail": "no"}, 422)
    with endpoint(lambda request: page if request.method == "GET" else refused) as server:
        _, printed, _ = ragcheck("probe", server.url)
    assert printed.endswith("and probe again to find the rag_response.\n")


def test_settings_of_the_user_fit_without_contexts_and_are_shown_in_ini_form(ragcheck, tmp_path: Path) -> None:
    own = "rag_response =\n    answer=a\n    contexts=`[]`\n"
    with endpoint(always(json_reply({"a": "30 days"}))) as server:
        (tmp_path / "pytest.ini").write_text(f"[pytest]\nrag_url = {server.url}\n{own}", encoding="utf-8")
        _, printed, _ = ragcheck("probe")
    assert printed.endswith(
        f"rag_url = {server.url}\nrag_response = answer=a\n    contexts=`[]`\n\n"
        "Conversations need {history} or {session} in rag_request: ragcheck docs how-to/own-endpoint-shape\n"
    )


def test_settings_are_shown_as_toml_for_a_project_with_a_toml_file(
    ragcheck, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_TOKEN", TOKEN)
    heading = "[tool.pytest.ini_options]\n"
    (tmp_path / "pyproject.toml").write_text(heading, encoding="utf-8")
    events = of_events({"type": "token", "text": "30 days"}, {"type": "end", "sources": SOURCES})
    token = "Authorization: Bearer {env:RAG_TOKEN}"
    response = "answer=[@][?type=='token'].text | [0] contexts=sources[].text source_ids=sources[].document_id"
    with takes(lambda body: body.keys() == {"question"}, events) as server:
        _, printed, _ = ragcheck("probe", server.url, f"--header={token}")
        lines = [line for line in printed.splitlines() if line.startswith("rag_")]
        assert lines == [
            f'rag_url = "{server.url}"',
            f'rag_headers = ["{token}"]',
            r'rag_request = "{\"question\": \"{query}\"}"',
            f'rag_response = "{response}"',
        ]
        (tmp_path / "pyproject.toml").write_text(heading + "\n".join(lines), encoding="utf-8")
        _, as_json, _ = ragcheck("probe", "--json")
    assert json.loads(as_json)["settings"]["rag_request"] == '{"question": "{query}"}'


def test_a_stream_keeps_the_contract_too(probe) -> None:
    def stream(request: Request) -> Behaviour | None:
        if request.method != "POST" or not request.json.get("query"):
            return None
        top_k = request.json.get("top_k")
        return of_events({"answer": "30 "}, {"answer": "days"}, {"contexts": PASSAGES[: 5 if top_k is None else top_k]})

    with endpoint(stream) as server:
        status, points = probe(server.url)
    assert (status, with_outcome(points, "pass")) == (0, NAMES)
    assert re.fullmatch(r"text/event-stream, the first piece in \d\.\d\d s", points["json"]["seen"])
    assert (points["answer"]["seen"], points["contexts"]["seen"]) == ('"30 days"', "5 of them")


def test_a_stream_without_a_media_type_is_advised_to_name_it(probe) -> None:
    lines = [json.dumps(each).encode() + b"\n" for each in ({"answer": "30 days"}, {"contexts": PASSAGES[:1]})]
    with endpoint(to_posts(chunked(lines))) as server:
        _, points = probe(server.url)
    assert re.fullmatch(r"no Content-Type, the first piece in \d\.\d\d s", points["json"]["seen"])
    assert points["json"]["mend"] == "Send Content-Type: application/x-ndjson; other clients check it."
    assert (points["answer"]["seen"], points["contexts"]["seen"]) == ('"30 days"', "1 of them")


def test_a_stream_that_breaks_off_says_where(probe) -> None:
    with endpoint(to_posts(chunked([b'data: {"answer": "'], content_type="text/event-stream"))) as server:
        _, points = probe(server.url)
    assert points["json"]["seen"] == "the stream breaks off in the middle of event 1"


def test_an_endpoint_that_no_settings_read_gets_none(ragcheck) -> None:
    with endpoint(always(json_reply({"said": "30 days"}))) as server:
        _, printed, _ = ragcheck("probe", server.url, "--json")
    assert json.loads(printed)["settings"] is None


@pytest.mark.parametrize(
    ("name", "heading"), [("pytest.ini", "[pytest]"), ("pyproject.toml", "[tool.pytest.ini_options]")]
)
def test_the_ini_file_gives_url_headers_and_shape(
    name: str, heading: str, ragcheck, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quote = "'" if name == "pyproject.toml" else ""
    monkeypatch.setenv("RAG_TOKEN", TOKEN)
    own = {"rag_request": '{"ask": "{query}"}', "rag_response": "answer=a contexts=c[].t source_ids=c[].i"}
    token = "Authorization: Bearer {env:RAG_TOKEN}"
    reply_of_its_own = json_reply({"a": "30 days", "c": [{"t": PASSAGES[0], "i": "terms.md"}]})
    with takes(lambda body: "ask" in body, reply_of_its_own) as server, takes(lambda _: False, reply("")) as other:
        values = {"rag_url": server.url, "rag_headers": token, **own}
        lines = [f"{key} = {quote}{value}{quote}" for key, value in values.items()]
        if quote:
            lines[1] = f'rag_headers = ["{token}"]'
        (tmp_path / name).write_text("\n".join([heading, *lines]), encoding="utf-8")
        _, printed, _ = ragcheck("probe", "--json")
        assert json.loads(printed)["settings"] == {"rag_url": server.url, **own}
        assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {TOKEN}"}
        ragcheck("probe", other.url)
        assert {request.headers.get("authorization") for request in other.requests} == {None}


def test_a_request_may_be_a_table_of_toml_as_in_a_run(ragcheck, tmp_path: Path) -> None:
    with takes(lambda body: "ask" in body, json_reply({"answer": "30 days", "contexts": PASSAGES[:1]})) as server:
        own = f'[tool.pytest]\nrag_url = "{server.url}"\nrag_request = {{ask = "{{query}}"}}\n'
        (tmp_path / "pyproject.toml").write_text(own, encoding="utf-8")
        status, printed, errors = ragcheck("probe", "--json")
    assert (status, errors) == (1, "")
    assert json.loads(printed)["settings"] == {"rag_url": server.url, "rag_request": '{"ask": "{query}"}'}


@pytest.mark.parametrize(
    ("fault", "last_line"),
    [
        (lambda _: None, "16 passed: the endpoint keeps the contract."),
        (
            to_bodies(lambda body: bool(body["query"]), json_reply({"answer": "", "contexts": []})),
            "14 passed, 2 not checked: no checked point breaks the contract.",
        ),
        (
            lambda request: reply("", 404) if request.method == "GET" else None,
            "15 passed, 1 advice: the endpoint keeps the contract.",
        ),
    ],
)
def test_the_last_line_says_what_it_came_to(fault: Fault, last_line: str, ragcheck) -> None:
    with endpoint(fault) as server:
        _, printed, _ = ragcheck("probe", server.url)
    assert printed.splitlines()[-1] == last_line


def test_headers_go_along_and_are_never_shown(ragcheck, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_TOKEN", TOKEN)
    options = ("--header", "Authorization: Bearer {env:RAG_TOKEN}", "--header", "X-Tenant: acme-tenant-1234")

    def echo(request: Request) -> Behaviour:
        said = " and ".join(request.headers.get(name, "") for name in ("authorization", "x-tenant"))
        return json_reply({"answer": said, "contexts": [said]}, content_type=f"application/json; x={said}")

    with endpoint(echo) as server:
        url = f"{server.url}?api_key=key-123456&lang=en"
        printed = [ragcheck("probe", url, *options), ragcheck("probe", url, "--json", *options)]
        assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {TOKEN}"}
        assert {request.headers["x-tenant"] for request in server.requests} == {"acme-tenant-1234"}
    for _, out, err in printed:
        assert f"{server.url}?api_key=[redacted]&lang=en" in out
        assert not re.search(f"{TOKEN}|acme-tenant|key-123456", out + err)


def test_the_settings_have_the_headers_without_their_values(ragcheck, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", TOKEN)
    headers = (f"Authorization: Bearer {TOKEN}", "X-Api-Key:{env:KEY}", "X-Tenant: acme-tenant-1234")
    options = [option for header in headers for option in ("--header", header)]
    good = json_reply({**GOOD, "contexts": [f"{TOKEN} is\nfor {'refunds ' * 9}"]})
    with takes(lambda body: "question" in body, good) as server:
        _, printed, _ = ragcheck("probe", server.url, *options)
        _, as_json, _ = ragcheck("probe", server.url, "--json", *options)
    lines = ["Authorization: Bearer {env:RAG_TOKEN}", "X-Api-Key: {env:KEY}", "X-Tenant: {env:X_TENANT}"]
    assert json.loads(as_json)["settings"]["rag_headers"] == "\n".join(lines)
    written = "\n    ".join(lines)
    assert f"\nrag_url = {server.url}\nrag_headers = {written}\nrag_request = " in printed
    context = "[redacted] is for refunds refunds refunds refunds refunds r…"
    assert f'\n\nThe first context, which has to be a text and not a name: "{context}"\n\nConv' in printed
    assert not re.search(f"{TOKEN}|acme-tenant", printed + as_json)


@pytest.mark.parametrize(
    "said",
    [
        {"answer": f"{'x' * 50}{TOKEN}", "contexts": []},
        {"error": f"{'x' * 290}{TOKEN}"},
        {f"{'x' * 30}{TOKEN}": "", "contexts": []},
        {"answer": "", "contexts": [1], f"{'x' * 30}{TOKEN}": ""},
    ],
)
def test_a_secret_is_not_shown_by_half_where_a_text_is_cut(said: dict[str, object], ragcheck) -> None:
    def echo(request: Request) -> Behaviour:
        if request.method == "POST" and not request.json.get("query"):
            return json_reply({"error": f"{'x' * 50}{TOKEN}"}, 400)
        return json_reply(said, content_type=f"text/{'x' * 45}{TOKEN}")

    with endpoint(echo) as server:
        _, out, _ = ragcheck("probe", server.url, "--header", f"Authorization: Bearer {TOKEN}")
    assert TOKEN[:4] not in out


def test_half_a_character_is_reported_at_its_field(probe) -> None:
    with endpoint(to_posts(json_reply({"answer": "30 days \ud83d", "contexts": ["\ud83d"]}))) as server:
        _, points = probe(server.url)
    assert points["answer"]["seen"] == r'"answer" holds half a character, \ud83d, at position 8'
    assert points["contexts"]["seen"] == r'"contexts"[0] holds half a character, \ud83d, at position 0'


def test_user_and_password_of_the_url_are_not_shown(ragcheck) -> None:
    with endpoint(to_posts(reply("no", 403))) as server:
        status, out, err = ragcheck("probe", server.url.replace("://", "://me:pw-123456@"))
        assert server.requests[0].headers["authorization"].startswith("Basic ")
    assert status == 1
    assert out.startswith(f"{server.url}\n")
    assert not re.search("me:|pw-123456", out + err)


def test_a_refused_token_is_not_shown_either(ragcheck) -> None:
    def refuse(request: Request) -> Behaviour:
        return reply(f"unknown: {request.headers['authorization']}", 401)

    with endpoint(refuse) as server:
        status, out, err = ragcheck("probe", server.url, "--header", f"Authorization: Bearer {TOKEN}")
    assert status == 1
    assert "status 401 Unauthorized" in out
    assert TOKEN not in out + err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no URL is given. Write it, such as http://localhost:8000/query, or set RAGCHECK_URL."),
        (["localhost:8000"], "URL: 'localhost:8000' is not a URL; write it whole, such as http://localhost:8000/query"),
        (["http://a.example", "--top-k", "0"], "--top-k: '0' is not a whole number from 1; write one such as 5"),
        (
            ["http://a.example", "--timeout", ""],
            "--timeout: '' is not a number of seconds above 0; write one such as 60",
        ),
        (
            ["http://a.example", "--question", " "],
            "--question: the text is blank. Write a question that your documents answer.",
        ),
        (
            ["http://a.example", "--header", "Authorization: Bearer {env:RAG_TOKEN}"],
            "--header: Authorization needs the environment variable 'RAG_TOKEN', which is not set or empty. ",
        ),
        (
            ["http://a.example", "--header", "Authorization"],
            "--header: a line is not of the form 'Name: value'; write, for example, 'Authorization: Bearer ",
        ),
        (
            ["http://a.example", "--header", "X-Name: Jörg"],
            "--header: the value of the header 'X-Name' cannot be sent: ",
        ),
    ],
)
def test_wrong_usage_is_exit_status_2_and_says_what_to_write(
    arguments: list[str], message: str, ragcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAG_TOKEN", raising=False)
    status, out, err = ragcheck("probe", *arguments)
    assert (status, out) == (2, "")
    assert err.startswith(f"ragcheck probe: {message}")


def test_an_unknown_option_is_exit_status_2(ragcheck) -> None:
    status, _, err = ragcheck("probe", "http://a.example", "--colour")
    assert status == 2
    assert "unrecognized arguments: --colour" in err


def test_the_url_may_come_from_the_environment_and_run_settings_are_ignored(
    ragcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGCHECK_JUDGE", "nobody")
    with endpoint() as server:
        monkeypatch.setenv("RAGCHECK_URL", server.url)
        assert ragcheck("probe")[0] == 0
        monkeypatch.setenv("RAGCHECK_URL", "http://a.invalid/query")
        assert ragcheck("probe", server.url)[0] == 0


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a terminal as POSIX systems have it")
@pytest.mark.parametrize(("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colour_is_for_terminals_only(environment: dict[str, str], coloured: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/query"
    terminal, its_other_end = os.openpty()
    try:
        ended = subprocess.run(
            [*COMMAND, "probe", url], stdout=its_other_end, env={**os.environ, **environment}, check=False, timeout=60
        )
        printed = os.read(terminal, 65_536).decode()
    finally:
        os.close(terminal)
        os.close(its_other_end)
    assert ended.returncode == 1
    assert ("\033[31mFAIL       \033[0m  a server answers" in printed) == coloured
    assert ("\033" in printed) == coloured


def test_a_terminal_without_the_characters_gets_question_marks() -> None:
    with endpoint() as server:
        ended = subprocess.run(
            [*COMMAND, "probe", server.url],
            env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
            capture_output=True,
            check=False,
            timeout=60,
        )
    assert ended.returncode == 0, ended.stderr
    assert b"?Qu? garant?a hay?" in ended.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_ctrl_c_ends_it_without_a_traceback() -> None:
    with (
        endpoint(always(hang)) as server,
        subprocess.Popen(
            [*COMMAND, "probe", server.url], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process,
    ):
        deadline = time.monotonic() + 60
        while not server.requests and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "ragcheck probe: stopped\n")
