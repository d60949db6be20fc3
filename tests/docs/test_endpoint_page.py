"""The pages of the endpoint and the client show real requests and replies, and their examples run."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import sys
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.errors import EndpointError
from pytest_ragcheck.rag.client import RagClient
from tests.docs.pages import DOCS, Block, page
from tests.docs.test_outcomes_page import kinds
from tests.servers.fake_endpoint import FakeEndpoint, json_reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_ragcheck.rag.answer import RagAnswer
    from tests.docs.pages import Reader

NAMES = ("reference/endpoint.md", "reference/client.md")
PAGE = "".join((DOCS / name).read_text(encoding="utf-8") for name in reversed(NAMES))

SERVICE = """\
from types import SimpleNamespace

from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route


async def query(request):
    return JSONResponse({"answer": "30 days", "contexts": ["Refunds are possible within 30 days."]})


def answer_question(text, limit):
    passages = [SimpleNamespace(text="Refunds are possible within 30 days.")] * limit
    return SimpleNamespace(text="Within 30 days.", passages=passages)


app = Starlette(routes=[Route("/query", query, methods=["POST"])])
"""
QUESTIONS = "questions:\n- question: What is the refund window?\n  expected_answer: 30 days\n"


def blocks(section: str, language: str) -> list[Block]:
    return [block for name in NAMES for block in page(name, section) if block.language == language]


async def ask(url: str, query: str) -> RagAnswer:
    async with RagClient(url) as client:
        return await client.query(query)


def test_the_contract_is_what_is_sent_and_read() -> None:
    sent, replied = (json.loads(block.text) for block in blocks("The contract", "json"))
    with FakeEndpoint(json_reply(replied)) as endpoint:
        answer = asyncio.run(ask(endpoint.url, sent["query"]))
    assert [request.json for request in endpoint.requests] == [sent]
    assert (answer.text, list(answer.contexts)) == (replied["answer"], replied["contexts"])


def test_the_clients_arguments_are_all_in_the_table_with_their_defaults() -> None:
    table = dict(re.findall(r"^\| (`[\w`, ]+`) \| (.*?) \|", PAGE.partition("## A client")[2], re.MULTILINE))
    listed = {name: default for names, default in table.items() for name in re.findall(r"\w+", names)}
    signature = inspect.signature(RagClient).parameters
    assert set(signature) <= set(listed)
    assert (signature["top_k"].default, listed["top_k"]) == (None, "the run's; 5 outside of a run")
    for name in ("timeout_seconds", "max_reply_bytes"):
        assert listed[name] == f"{signature[name].default:,.0f}"


def test_the_methods_for_the_other_routes_are_listed_with_their_arguments() -> None:
    listed = dict(re.findall(r"^\| `(\w+)\((.+)\)` \|", PAGE, re.MULTILINE))
    assert len(listed) == 4
    for name, arguments in listed.items():
        _, *parameters = inspect.signature(getattr(RagClient, name)).parameters.values()
        told = [f"{p.name}={p.default!s}".removesuffix(".0") for p in parameters if p.default is not p.empty]
        assert arguments.split(", ") == [*(p.name for p in parameters if p.default is p.empty), *told]


@pytest.mark.parametrize(("section", "contexts"), [("A client of your own", 1), ("A function instead of a URL", 5)])
def test_a_client_of_ones_own_is_asked(section: str, contexts: int, reader: Callable[..., Reader]) -> None:
    code, *_ = blocks(section, "python")
    with FakeEndpoint(json_reply({"answer": "30 days", "contexts": ["Within 30 days."]})) as endpoint:
        someone = reader(stands_for={"http://localhost:8000/query": endpoint.url})
        for name, text in (("my_service.py", SERVICE), ("billing.rag.yaml", QUESTIONS), ("conftest.py", code.text)):
            (someone.folder / name).write_text(text.replace("http://localhost:8000/query", endpoint.url))
        ran = someone.run("pytest --rag-judge=offline")
    assert ran.status == 0, ran.output
    predictions = json.loads((someone.folder / "ragcheck-results" / "rag_predictions.json").read_text())
    assert len(predictions["predictions"][0]["contexts"]) == contexts


class LoginServer:
    """Wants a cookie from `POST /login`, or with *tokens* a token, which expires after the first answer."""

    def __init__(self, *, tokens: bool) -> None:
        self.takes_tokens = tokens
        self.tokens: list[str] = []
        self.expired: list[str] = []
        self.refused = 0

    def __call__(self, connection: Any, request: Any) -> bool:
        reply = json_reply({"error": "log in"}, 401)
        if request.path == "/login" and request.json == {"user": "ci", "password": "pw-of-ci-1"}:
            self.tokens.append(f"token-{len(self.tokens)}")
            reply = json_reply({"token": self.tokens[-1]}, set_cookie="SID=session-0123456789; Path=/")
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        has_cookie = not self.takes_tokens and "SID=" in request.headers.get("cookie", "")
        if has_cookie or token in {*self.tokens}.difference(self.expired):
            self.expired = self.expired or [token]
            reply = json_reply({"answer": f"30 days {token}", "contexts": [f"Within 30 days {token}."]})
        elif request.path == "/query":
            self.refused += 1
        return reply(connection, request)


@pytest.mark.parametrize("number", [0, 1], ids=["cookie", "token"])
def test_a_login_of_the_page_reaches_the_endpoint(number: int, reader: Callable[..., Reader]) -> None:
    code = blocks("Log in", "python")[number].text
    server = LoginServer(tokens=number == 1)
    with FakeEndpoint(server) as endpoint:
        someone = reader(environment={"RAG_PASSWORD": "pw-of-ci-1"})
        login = endpoint.url.replace("/query", "/login")
        (someone.folder / "conftest.py").write_text(code.replace("http://localhost:8000/login", login))
        questions = f"{QUESTIONS}{QUESTIONS.partition('questions:')[2].replace('What', 'How long')}"
        (someone.folder / "billing.rag.yaml").write_text(questions)
        ran = someone.run(f"pytest --rag-judge=offline --rag-url={endpoint.url} -orag_concurrency=1")
    assert ran.status == 0, ran.output
    assert server.refused == number, ran.output
    predictions = (someone.folder / "ragcheck-results" / "rag_predictions.json").read_text()
    assert not re.search(r"token-\d", predictions)


def test_the_examples_import_the_http_library_that_is_installed_with_the_package() -> None:
    pages = (path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md"))
    assert not [text for text in pages if re.search(r"\b(import httpx\b|httpx\.\w)", text)]


def test_an_app_in_the_same_process_is_asked(reader: Callable[..., Reader]) -> None:
    someone = reader()
    (someone.folder / "my_service.py").write_text(SERVICE)
    _, over_http, asked = blocks("A client of your own", "python")
    (app,) = blocks("An app in this process", "python")
    (someone.folder / "script.py").write_text(over_http.text + app.text + asked.text)
    ran = someone.run(f'"{sys.executable}" script.py')
    assert (ran.status, ran.output) == (0, "")


def test_every_kind_of_error_is_in_the_table() -> None:
    listed = re.findall(r"^\| `(\w+)` \|", PAGE.partition("## What is an ERROR")[2], re.MULTILINE)
    assert sorted(listed) == sorted({EndpointError.kind, *(error.kind for error in kinds(EndpointError))})


def test_the_expressions_for_a_function_read_its_objects() -> None:
    (code,) = (block.text for block in blocks("A function instead of a URL", "python") if "response=" in block.text)
    names: dict[str, Any] = {"__name__": __name__}
    exec(code, names)
    names["client"].blocking.close()
    assert names["answer"].text == "Within 30 days."
    assert names["answer"].contexts == ("Refunds: 30 days.",)
    assert names["answer"].source_ids == ("terms.md",)
