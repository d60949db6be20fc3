"""Endpoints of other shapes, by settings alone: each block of the page is run against a server that imitates it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest

from pytest_ragcheck.rag.shapes.shape import NAMED_SHAPES
from tests.harness import two_ways
from tests.servers.fake_endpoint import FakeEndpoint, chunked, json_reply

if TYPE_CHECKING:
    import socket

    from tests.harness import Project, Run
    from tests.servers.fake_endpoint import Behaviour, Request

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "own-endpoint-shape.md"
QUESTION = "Сколько дней на возврат & «обмен»?"
ANSWER = "Возврат возможен в течение 30 дней."
PASSAGES = ["Возврат возможен в течение 30 дней.", "Обмен возможен в течение 14 дней."]


def only_if(takes: Any, reply: Any) -> Behaviour:
    """The given reply to the request that the imitated server takes, and 422 to any other."""

    def behave(connection: socket.socket, request: Request) -> bool:
        if takes(request):
            return json_reply(reply)(connection, request)
        return json_reply({"detail": f"{request.method} {request.path} {request.body!r}"}, 422)(connection, request)

    return behave


def streamed(takes: Any, content_type: str, lines: list[str]) -> Behaviour:
    """The given stream to the request that the imitated server takes, and 422 to any other."""
    stream = chunked([line.encode() for line in lines], content_type=content_type)
    refuse = only_if(lambda _: False, None)
    return lambda connection, request: (stream if takes(request) else refuse)(connection, request)


def body_is(expected: Any) -> Any:
    return lambda request: request.method == "POST" and request.json == expected


def asked_by_get(request: Request) -> bool:
    parts = urlsplit(request.path)
    query = [("lang", "ru"), ("questions", QUESTION)]
    return request.method == "GET" and not request.body and parse_qsl(parts.query, strict_parsing=True) == query


HAYHOOKS = {
    "answer": ANSWER,
    "documents": [{"id": "1", "content": text, "meta": {"file_path": "a.md"}} for text in PASSAGES],
}
LIGHTRAG = [
    {"reference_id": "1", "file_path": "a.md", "content": PASSAGES[:1]},
    {"file_path": "b.md", "content": PASSAGES[1:]},
]
CITATIONS = [{"content": text, "title": "a", "url": None} for text in PASSAGES]
MESSAGE = {"role": "assistant", "content": ANSWER, "context": {"citations": CITATIONS}}
CAMEL = [{"pageContent": text, "documentId": f"doc-{number}"} for number, text in enumerate(PASSAGES)]

AI_SDK_5 = [
    {"type": "start"},
    {"type": "tool-output-available", "toolCallId": "1", "output": [{"content": text} for text in PASSAGES]},
    {"type": "reasoning-delta", "id": "r", "delta": "Look at the terms."},
    *({"type": "text-delta", "id": "t", "delta": f"{word} "} for word in ANSWER.split()),
    {"type": "finish"},
]
LANGGRAPH = [
    ("metadata", {"run_id": "1"}),
    ("messages", [{"type": "human", "content": QUESTION}, {}]),
    (
        "messages",
        [{"type": "tool", "content": "...", "artifact": [{"page_content": text} for text in PASSAGES]}, {}],
    ),
    *(("messages", [{"type": "AIMessageChunk", "content": f"{word} "}, {}]) for word in ANSWER.split()),
]
AI_SDK_4 = [
    ("f", {"messageId": "m"}),
    ("2", [{"text": text} for text in PASSAGES]),
    *(("0", f"{word} ") for word in ANSWER.split()),
    ("d", {"finishReason": "stop"}),
]

SERVERS: dict[str, Behaviour] = {
    "Haystack's hayhooks": only_if(body_is({"query": QUESTION, "top_k": 5}), {"result": HAYHOOKS}),
    "LightRAG": only_if(
        body_is(
            {
                "query": QUESTION,
                "mode": "mix",
                "chunk_top_k": 5,
                "include_references": True,
                "include_chunk_content": True,
            }
        ),
        {"response": ANSWER, "references": LIGHTRAG},
    ),
    "An OpenAI chat endpoint with citations": only_if(
        body_is({"model": "my-rag", "messages": [{"role": "user", "content": QUESTION}]}),
        {"id": "c1", "object": "chat.completion", "choices": [{"index": 0, "message": MESSAGE}]},
    ),
    "search-rag": only_if(asked_by_get, {"answer": ANSWER, "chunks": PASSAGES}),
    "Vercel's AI SDK 5": streamed(
        body_is({"id": "1", "messages": [{"id": "1", "role": "user", "parts": [{"type": "text", "text": QUESTION}]}]}),
        "text/event-stream",
        [f"data: {json.dumps(event)}\n\n" for event in AI_SDK_5] + ["data: [DONE]\n\n"],
    ),
    "Vercel's AI SDK 4": streamed(
        body_is({"messages": [{"role": "user", "content": QUESTION}]}),
        "text/plain; charset=utf-8",
        [f"{code}:{json.dumps(part)}\n" for code, part in AI_SDK_4],
    ),
    "LangGraph's server": streamed(
        body_is(
            {
                "assistant_id": "agent",
                "stream_mode": "messages-tuple",
                "input": {"messages": [{"role": "user", "content": QUESTION}]},
            }
        ),
        "text/event-stream",
        [f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in LANGGRAPH],
    ),
    "Names in camelCase": only_if(
        body_is({"question": QUESTION, "topK": 5}), {"response": ANSWER, "retrievedChunks": CAMEL}
    ),
}

IDS = {
    "Haystack's hayhooks": ["a.md", "a.md"],
    "LightRAG": ["a.md", "b.md"],
    "Names in camelCase": ["doc-0", "doc-1"],
}


def ini_blocks() -> dict[str, str]:
    """By heading the ini block of each of the eight endpoints."""
    section = PAGE.read_text(encoding="utf-8").partition("## Eight endpoints\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^### ([^\n]+)\n.*?```ini\n(.*?)```", section, re.MULTILINE | re.DOTALL))


def run_with(project: Project, ini: str, *arguments: str, subprocess: bool = False) -> Run:
    project.write("pytest.ini", ini)
    entry = {"id": "window", "question": QUESTION, "expected_answer": ANSWER}
    project.write("billing.rag.yaml", json.dumps({"questions": [entry]}, ensure_ascii=False))
    return project.run("--rag-judge=offline", *arguments, subprocess=subprocess)


def at(endpoint: FakeEndpoint, ini: str) -> str:
    """The block with the server's port in place of its own."""
    return re.sub(r"(rag_url = http://)localhost:\d+", rf"\g<1>127.0.0.1:{endpoint.port}", ini)


def test_the_page_shows_every_named_shape_as_it_is() -> None:
    rows = re.findall(
        r"^\| `([a-z-]+)` \| `(.+?)` \| `{1,2}(.+?)`{1,2} \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert rows == [(name, shape.request, shape.response) for name, shape in NAMED_SHAPES.items()]


def test_every_endpoint_of_the_page_is_imitated_here() -> None:
    assert list(ini_blocks()) == list(SERVERS)


@pytest.mark.parametrize("name", SERVERS)
def test_a_foreign_shape_runs_by_the_settings_of_the_page(project: Project, name: str) -> None:
    with FakeEndpoint(SERVERS[name]) as endpoint:
        run = run_with(project, at(endpoint, ini_blocks()[name]))
    assert run.verdicts == {"window": "PASS"}, run.text
    [prediction] = run.predictions["predictions"]
    assert prediction["contexts"] == PASSAGES
    assert prediction.get("source_ids") == IDS.get(name)


FOLLOW_UP = "And for vouchers?"


def messages(connection: socket.socket, request: Request) -> bool:
    said = [message["content"] for message in request.json["messages"]]
    context = {"citations": [{"content": PASSAGES[len(said) // 2]}]}
    message = {"role": "assistant", "content": PASSAGES[len(said) // 2], "context": context}
    return json_reply({"choices": [{"message": message}]})(connection, request)


def keeps_sessions(connection: socket.socket, request: Request) -> bool:
    is_first = request.json["message"] == QUESTION
    if request.json.get("conversation_id", "none") != ("none" if is_first else 17):
        return json_reply({"detail": "another session"}, 422)(connection, request)
    text = PASSAGES[0 if is_first else 1]
    # Only the first reply names the session.
    session = {"conversation_id": 17} if is_first else {}
    return json_reply({"reply": text, "passages": [{"text": text}], **session})(connection, request)


@pytest.mark.parametrize(
    ("heading", "server"),
    [("The request carries the earlier turns", messages), ("The endpoint keeps the conversation", keeps_sessions)],
)
def test_a_conversation_runs_by_the_settings_of_the_page(project: Project, heading: str, server: Behaviour) -> None:
    (ini,) = re.findall(rf"### {heading}\n.*?```ini\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    asked = zip((QUESTION, FOLLOW_UP), PASSAGES, strict=True)
    turns = [{"question": question, "expected_answer": passage} for question, passage in asked]
    talk = {"questions": [{"id": "talk", "turns": turns}]}
    project.write("billing.rag.yaml", json.dumps(talk, ensure_ascii=False))
    with FakeEndpoint(server) as endpoint:
        project.write("pytest.ini", at(endpoint, ini))
        run = project.run("--rag-judge=offline")
    assert run.verdicts == {"talk[turn1]": "PASS", "talk[turn2]": "PASS"}, run.text
    if server is messages:
        assert endpoint.requests[1].json["messages"] == [
            {"role": "user", "content": QUESTION},
            {"role": "assistant", "content": PASSAGES[0]},
            {"role": "user", "content": FOLLOW_UP},
        ]


def runs_jobs(connection: Any, request: Any) -> bool:
    if request.path == "/query":
        return json_reply({"error": "forms only"}, 415)(connection, request)
    if request.path == "/jobs":
        assert request.headers["content-type"] == "application/x-www-form-urlencoded"
        assert parse_qs(request.body.decode()) == {"q": [QUESTION], "k": ["5"]}
        return json_reply({"id": 17, "status": "pending"}, 202)(connection, request)
    assert request.path == "/jobs/17"
    return json_reply({"id": 17, "status": "done", "answer": ANSWER, "contexts": PASSAGES})(connection, request)


def test_a_form_and_a_job_are_asked_by_the_function_of_the_page(project: Project) -> None:
    [code] = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    with FakeEndpoint(runs_jobs) as endpoint:
        refused = run_with(project, f"[pytest]\nrag_url = {endpoint.url}\n")
        project.write("conftest.py", code.replace("http://localhost:8000", endpoint.url.removesuffix("/query")))
        run = run_with(project, "[pytest]\n")
    assert "To send a form, write a function: ragcheck docs how-to/own-endpoint-shape." in refused.text
    assert run.verdicts == {"window": "PASS"}, run.text


@two_ways
def test_a_shape_reaches_workers_too(project: Project) -> None:
    with FakeEndpoint(SERVERS["search-rag"]) as endpoint:
        run = run_with(project, at(endpoint, ini_blocks()["search-rag"]))
    assert run.verdicts == {"window": "PASS"}


def test_the_setting_that_an_error_names_takes_the_reply(project: Project) -> None:
    reply = {"response": ANSWER, "sources": [{"text": text} for text in PASSAGES]}
    with FakeEndpoint(json_reply(reply)) as endpoint:
        ini = f"[pytest]\nrag_url = {endpoint.url}\n"
        _, message = run_with(project, ini).errors_by_id["window"]
        shown = PAGE.read_text(encoding="utf-8").partition("```text\n")[2].partition("\n```")[0]
        assert message == f"{endpoint.url}: {shown}"
        setting = message[message.index("rag_response = ") :]
        run = run_with(project, f"{ini}{setting}\n")
    assert run.verdicts == {"window": "PASS"}


def test_a_chat_completion_without_a_mapping_is_an_error_that_names_it(project: Project) -> None:
    with FakeEndpoint(json_reply({"choices": [{"message": {"content": ANSWER}}]})) as endpoint:
        run = run_with(project, f"[pytest]\nrag_url = {endpoint.url}\nrag_shape = openai-chat\n")
    assert run.errors_by_id["window"] == (
        "endpoint_reply",
        (
            f'{endpoint.url}: the reply has no "contexts" (found "choices")\n'
            "Set rag_response = answer=choices[0].message.content contexts=EXPRESSION with an expression that leads to "
            "them, or contexts=`[]` if the reply has none."
        ),
    )


def test_a_header_from_the_environment_reaches_the_endpoint_and_appears_nowhere_else(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "t0ken-4711-abcdef"
    monkeypatch.setenv("RAG_TOKEN", secret)

    def echo(connection: socket.socket, request: Request) -> bool:
        said = f"{ANSWER} {request.headers['authorization']}"
        return json_reply({"data": {"answer": said, "contexts": [said]}})(connection, request)

    def check_files() -> None:
        written = [path for path in project.folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]
        assert {"junit.xml", "rag_predictions.json", "rag_summary.json"} <= {path.name for path in written}
        assert not [path for path in written if secret.encode() in path.read_bytes()]

    ini = "[pytest]\nrag_headers =\n    Authorization: Bearer {env:RAG_TOKEN}\nrag_url = "
    with FakeEndpoint(echo) as endpoint:
        wrong = run_with(project, f"{ini}{endpoint.url}\n", "-v", "--showlocals", "--log-level=DEBUG")
        assert wrong.verdicts == {"window": "ERROR"}
        check_files()
        right = run_with(
            project, f"{ini}{endpoint.url}\nrag_response = answer=data.answer contexts=data.contexts\n", "-rA"
        )
    assert [request.headers["authorization"] for request in endpoint.requests] == [f"Bearer {secret}"] * 2
    assert "[redacted]" in right.predictions["predictions"][0]["contexts"][0]
    check_files()
    assert not [text for run in (wrong, right) for text in (run.text, run.stderr) if secret in text]


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
def test_a_users_own_http_client_is_asked_by_the_settings(project: Project, library: str) -> None:
    project.write(
        "conftest.py",
        f"""
import json
import {library} as http_library
import pytest
from pytest_ragcheck import RagClient

async def app(scope, receive, send):
    assert json.loads((await receive())["body"]) == {{"input": {QUESTION!r}, "k": 3}}
    await send({{"type": "http.response.start", "status": 200, "headers": []}})
    body = json.dumps({{"output": {ANSWER!r}, "context": [{ANSWER!r}]}}).encode()
    await send({{"type": "http.response.body", "body": body}})

@pytest.fixture(scope="session")
def rag_client(rag_settings):
    http = http_library.AsyncClient(transport=http_library.ASGITransport(app=app))
    return RagClient.from_settings(rag_settings, http=http)
""",
    )
    ini = (
        '[pytest]\nrag_url = http://app/query\nrag_top_k = 3\nrag_request = {"input": "{query}", "k": "{top_k}"}\n'
        "rag_response = answer=output contexts=context\n"
    )
    assert run_with(project, ini).verdicts == {"window": "PASS"}


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
def test_a_users_own_http_client_is_closed_with_the_run_so_that_nothing_warns(project: Project, library: str) -> None:
    project.write(
        "conftest.py",
        f"""
import {library} as http_library
import pytest
from pytest_ragcheck import RagClient

@pytest.fixture(scope="session")
def rag_client(rag_settings):
    return RagClient.from_settings(rag_settings, http=http_library.AsyncClient(headers={{"x-mine": "1"}}))
""",
    )
    with FakeEndpoint(json_reply({"answer": ANSWER, "contexts": PASSAGES})) as endpoint:
        # In a process of its own, because Python reports unclosed connections at its end.
        run = run_with(project, f"[pytest]\nrag_url = {endpoint.url}\nfilterwarnings = error\n", subprocess=True)
    assert run.outcomes == {"passed": 1}, run.text
    assert endpoint.requests[0].headers["x-mine"] == "1"
    assert "Warning" not in run.text + run.stderr


@pytest.mark.parametrize("scope", ["session", "function"])
def test_an_overriding_client_is_closed_with_its_fixture(project: Project, scope: str) -> None:
    with FakeEndpoint(json_reply({"answer": ANSWER, "contexts": PASSAGES})) as endpoint:
        project.write(
            "conftest.py",
            f"""
import pytest
from pytest_ragcheck import RagClient

class Telling(RagClient):
    async def aclose(self):
        await super().aclose()
        print("the client is closed")

@pytest.fixture(scope={scope!r})
def rag_client():
    yield Telling({endpoint.url!r})
    print("the fixture ends")
""",
        )
        run = run_with(project, "[pytest]\n", "-s")
    assert run.outcomes == {"passed": 1}
    told = [line.removeprefix(".") for line in run.lines if line.endswith((" ends", " closed"))]
    assert told[0].endswith("the fixture ends")
    assert set(told[1:]) == {"the client is closed"}


@pytest.mark.parametrize(
    ("client", "name"), [("httpx.AsyncClient()", "AsyncClient"), ("'http://localhost/query'", "str")]
)
def test_a_bare_http_client_or_url_is_an_error_that_says_where_it_goes(
    project: Project, client: str, name: str
) -> None:
    code = f"import httpx, pytest\n@pytest.fixture(scope='session')\ndef rag_client():\n    return {client}\n"
    project.write("conftest.py", code)
    assert run_with(project, "[pytest]\n").errors_by_id["window"] == (
        "endpoint",
        (
            f"{name}: the rag_client has no method ask(question)\n"
            "Return a function, an object with that method, or a RagClient: RagClient(URL), or with a client of httpx "
            "or httpx2 RagClient.from_settings(rag_settings, http=client)."
        ),
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "rag_shape = chat",
            (
                "rag_shape in pytest.ini: 'chat' is not a shape; choose one of query, search-rag, server, "
                "openai-chat, dify, ragflow, open-webui, "
                "or describe another by rag_request and rag_response"
            ),
        ),
        (
            'rag_request = {"input": "{question}"}',
            (
                """rag_request in pytest.ini: '{"input": "{question}"}' has no place for the question; """
                """write {query} where it goes, such as {"input": "{query}", "k": "{top_k}"}"""
            ),
        ),
        (
            "rag_response = answer=reply.text",
            (
                "rag_response in pytest.ini: 'answer=reply.text' does not say where the contexts are; "
                "write contexts=EXPRESSION, or contexts=`[]` if the reply has none"
            ),
        ),
        (
            "rag_response = answer=a.b) contexts=c",
            (
                "rag_response in pytest.ini: 'answer=a.b) contexts=c' has a mistake: "
                "answer=a.b) is not JMESPath from character 4 on, ')' (ragcheck docs how-to/own-endpoint-shape)"
            ),
        ),
    ],
)
def test_a_setting_that_cannot_be_read_ends_the_run_before_it_begins(project: Project, line: str, message: str) -> None:
    run = run_with(project, f"[pytest]\nrag_url = http://127.0.0.1:9/query\n{line}\n")
    assert run.exit_status == pytest.ExitCode.USAGE_ERROR
    assert f"ERROR: ragcheck: {message}" in run.stderr.splitlines()
