"""
The way most users come: a URL, a judge, and no conftest.py; the servers are real ones on this machine.

Each run is a process of its own: the libraries that speak HTTP do not outlive being unloaded and loaded again.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.harness import two_ways
from tests.servers.fake_endpoint import Behaviour, FakeEndpoint, close_without_reply, hang, json_reply, reply
from tests.servers.openai_server import OpenAIServer, verdict
from tests.servers.openai_server import error as judge_error

if TYPE_CHECKING:
    import socket

    from tests.harness import Project
    from tests.servers.fake_endpoint import Request

ANSWER = {"answer": "The window is 30 days.", "contexts": ["Refunds are possible for 30 days."]}


def by_query(replies: dict[str, Behaviour]) -> Behaviour:
    """Replies to each query with its own."""

    def behave(connection: socket.socket, request: Request) -> bool:
        return replies[request.json["query"]](connection, request)

    return behave


@two_ways
def test_a_url_and_a_model_are_enough(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGCHECK_JUDGE_API_KEY", "key-of-the-judge")
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-another-host")
    project.write("pytest.ini", "[pytest]\nrag_top_k = 3\nrag_headers = X-Tenant: acme\n")
    project.write("billing.rag.yaml", "questions:\n- {id: terms, question: How long?, expected_answer: 30 days}\n")
    with FakeEndpoint(json_reply(ANSWER)) as endpoint, OpenAIServer(verdict(groundedness=0.4)) as judge:
        run = project.run(f"--rag-url={endpoint.url}", "--rag-judge-model=m", f"--rag-judge-url={judge.url}")
    (request,) = endpoint.requests
    assert request.json == {"query": "How long?", "top_k": 3}
    assert request.headers["x-tenant"] == "acme"
    assert [request.headers["authorization"] for request in judge.requests] == ["Bearer key-of-the-judge"]
    assert run.verdicts == {"terms": "FAIL"}
    assert run.summary["endpoint"] == endpoint.url
    assert run.summary["judge"]["kind"] == "openai"
    assert run.summary["judge"]["model"] == "m"
    assert run.summary["judge"]["prompt_version"]
    (row,) = run.predictions["predictions"]
    assert row["metrics"]["groundedness"] == 0.4
    assert row["prompt_version"] == run.summary["judge"]["prompt_version"]
    everything = run.text + json.dumps([run.predictions, run.summary])
    assert "key-of-" not in everything


def test_a_url_and_the_offline_judge_need_no_key(project: Project) -> None:
    project.write("billing.rag.yaml", "questions:\n- {id: terms, question: How long?, expected_answer: 30 days}\n")
    with FakeEndpoint(json_reply(ANSWER)) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}", "--rag-judge=offline")
    assert run.verdicts == {"terms": "PASS"}
    assert run.summary["judge"]["kind"] == "offline"
    assert any(line.startswith("judge: offline") and "no language model" in line for line in run.lines)


@two_ways
def test_what_the_endpoint_does_wrong_is_an_error_by_its_kind(project: Project) -> None:
    replies: dict[str, Behaviour] = {
        "good": json_reply(ANSWER),
        "status": reply("out of order", 500),
        "html": reply("<!doctype html><title>Log in</title>", content_type="text/html"),
        "no contexts": json_reply({"answer": "30 days"}),
        "no answer": json_reply({"contexts": []}),
        "hung up": close_without_reply,
        "slow": hang,
    }
    entries: list[dict[str, Any]] = [{"id": name, "question": name, "must_mention": "30 days"} for name in replies]
    project.write("billing.rag.json", json.dumps(entries))
    with FakeEndpoint(by_query(replies)) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}", "--rag-judge=none", "-o", "rag_timeout=1")
    assert run.outcomes == {"passed": 1, "error": 6}
    assert {name: kind for name, (kind, _) in run.errors_by_id.items()} == {
        "status": "endpoint_status",
        "html": "endpoint_reply",
        "no contexts": "endpoint_reply",
        "no answer": "endpoint_reply",
        "hung up": "endpoint_unreachable",
        "slow": "endpoint_timeout",
    }
    assert run.summary["num_examples"] == 1
    assert all(endpoint.url in line for line in run.short_summary)
    assert ".py:" not in run.text


def test_an_endpoint_that_is_not_there_is_an_error_and_not_a_skip(project: Project) -> None:
    project.write("billing.rag.yaml", "questions: [How long?]")
    with FakeEndpoint(json_reply(ANSWER)) as endpoint:
        url = endpoint.url
    run = project.run(f"--rag-url={url}", "--rag-judge=none")
    assert run.outcomes == {"error": 1}
    assert [kind for kind, _ in run.errors_by_id.values()] == ["endpoint_unreachable"]


def test_a_judge_that_refuses_is_an_error_and_the_answer_is_not_lost(project: Project) -> None:
    project.write("billing.rag.yaml", "questions: [How long?]")
    with FakeEndpoint(json_reply(ANSWER)) as endpoint, OpenAIServer(judge_error(401, "no such key")) as judge:
        run = project.run(f"--rag-url={endpoint.url}", "--rag-judge-model=m", f"--rag-judge-url={judge.url}")
    assert run.outcomes == {"error": 1}
    assert [kind for kind, _ in run.errors_by_id.values()] == ["judge_unavailable"]
    assert "answer    The window is 30 days." in run.lines


def test_an_app_in_the_same_process_needs_no_server(project: Project) -> None:
    project.write(
        "conftest.py",
        """
import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from pytest_ragcheck import RagClient

async def query(request):
    asked = await request.json()
    return JSONResponse({"answer": f"{asked['query']} 30 days", "contexts": ["30 days"] * asked["top_k"]})

app = Starlette(routes=[Route("/query", query, methods=["POST"])])

@pytest.fixture(scope="session")
def rag_client():
    http = httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://app")
    return RagClient("http://app/query", http=http)
""",
    )
    project.write("billing.rag.yaml", "questions:\n- {id: terms, question: How long?, must_mention: 30 days}\n")
    run = project.run("--rag-judge=none")
    assert run.verdicts == {"terms": "PASS"}
    assert len(run.predictions["predictions"][0]["contexts"]) == 5


@pytest.mark.parametrize("options", [[], ["-W", "error"]])
def test_nothing_is_left_open_at_the_end(project: Project, options: list[str]) -> None:
    project.write("billing.rag.yaml", "questions: [How long?, How much?]")
    with FakeEndpoint(json_reply(ANSWER)) as endpoint, OpenAIServer() as judge:
        run = project.run(
            f"--rag-url={endpoint.url}",
            "--rag-judge-model=m",
            f"--rag-judge-url={judge.url}",
            *options,
            subprocess=True,
        )
    assert run.outcomes == {"passed": 2}
    assert "ResourceWarning" not in run.text + run.stderr
    assert "Traceback" not in run.text + run.stderr


OWN_PARTS = """
import pytest
from pytest_ragcheck import Judgement, RagAnswer

class Model:
    async def ask(self, prompt): return "yes"

class Judge:
    chat, measurement, canaries, asked = Model(), [], [1], "model"
    def for_repeat(self): raise NotImplementedError
    afresh = prompt = for_repeat
    def judge(self, question, answer): return Judgement(answer_correctness=float("30" in answer.text), groundedness=1.0)

class Client:
    endpoint, header_secrets, is_app = Model(), 3, True
    def ask(self, question): return RagAnswer(text=question.metadata["says"], contexts=("Within 30 days.",))

@pytest.fixture(scope="session")
def rag_client(): return Client()

@pytest.fixture(scope="session")
def rag_judge(): return Judge()
"""


def test_an_own_judge_and_client_may_have_attributes_of_any_other_name(project: Project) -> None:
    project.write("conftest.py", OWN_PARTS)
    questions = [
        {"id": name, "question": f"How long is {name}?", "expected_answer": "30 days", "metadata": {"says": said}}
        for name, said in (("one", "30 days"), ("two", "9 days"))
    ]
    project.write("billing.rag.json", json.dumps({"questions": questions}))
    run = project.run("-o", "rag_metrics=+ragas +citations", "-o", "rag_judge_repeats=2")
    assert run.verdicts == {"one": "PASS", "two": "FAIL"}
    assert "offline_answer_relevancy" in run.scores["one"]
    assert {row["endpoint"] for row in run.predictions["predictions"]} == {"Client"}
