"""The routes beside `/query`, and the faults of answers."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest

from tests.servers.openai_server import OpenAIServer, completion, error, json_reply

from .conftest import EXAMPLES, REFUSAL, RunningServer, Serve

SHOP = "# Shop\n\nThe shop opens at 9.\n\n# Refunds\n\nA refund is possible within 30 days.\n"


@pytest.fixture(scope="module")
def server(serve: Serve) -> RunningServer:
    return serve({"shop.md": SHOP})


def test_passages_that_come_with_the_question_are_all_that_is_answered_from(server: RunningServer) -> None:
    passages = (("a:1", "The shop opens at **7**."), ("b", "Nobody lives here."))
    reply = server.ask_with("When does the shop open?", *passages)
    assert reply["answer"] == "The shop opens at 7."
    assert reply["contexts"] == [text for _, text in passages]
    assert reply["sources"] == [
        {"document_id": doc_id, "file_name": None, "score": None, "text": text} for doc_id, text in passages
    ]
    assert reply["citations"] == [{"document_id": "a:1", "source": 0, "quote": "The shop opens at 7."}]
    assert list(reply) == ["answer", "contexts", "sources", "citations", "session_id", "metrics"]
    assert reply["metrics"].keys() == {"answer_seconds"}


@pytest.mark.parametrize("passages", [(), (("a", "Nobody lives here."),), (("a", ""),)])
def test_what_the_passages_do_not_say_is_refused_whatever_is_indexed(
    server: RunningServer, passages: tuple[tuple[str, str], ...]
) -> None:
    assert server.ask_with("When does the shop open?", *passages)["answer"] == REFUSAL


def test_a_question_of_stop_words_is_refused(server: RunningServer) -> None:
    assert server.ask_with("Is it?", ("a", "It is."))["answer"] == REFUSAL


@pytest.mark.parametrize(
    ("passages", "message"),
    [
        (None, "context_passages must be an array"),
        ("text", "context_passages must be an array"),
        (["text"], "context_passages[0] must have the strings text and doc_id"),
        ([{"text": "a", "doc_id": "1"}, {"text": "a"}], "context_passages[1] must have the strings text and doc_id"),
        ([{"text": None, "doc_id": "1"}], "context_passages[0] must have the strings text and doc_id"),
    ],
)
def test_passages_of_another_form_are_400(server: RunningServer, passages: object, message: str) -> None:
    response = server.client.post("/query/with-context", json={"query": "shop?", "context_passages": passages})
    assert (response.status_code, response.json()) == (400, {"error": message})


def test_a_streamed_reply_is_the_reply_in_events(server: RunningServer) -> None:
    body: dict[str, Any] = {"query": "When does the shop open?", "include_chunks": True, "session_id": "7"}
    with server.client.stream("POST", "/query/stream", json=body) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        *payloads, last, end = response.read().decode().split("\n\n")
    assert (last, end) == ("data: [DONE]", "")
    *pieces, rest = [json.loads(payload.removeprefix("data: ")) for payload in payloads]
    assert [piece["answer"] for piece in pieces] == ["The shop opens ", "at 9."]
    whole = server.ask(**body)
    assert "".join(piece["answer"] for piece in pieces) == whole["answer"]
    assert list(rest) == [key for key in whole if key != "answer"]
    for key in ("contexts", "sources", "citations", "session_id"):
        assert rest[key] == whole[key]


def test_a_stream_of_a_bad_question_is_400(server: RunningServer) -> None:
    response = server.client.post("/query/stream", json={"query": ""})
    assert (response.status_code, response.json()) == (400, {"error": "query is required"})


def test_a_follow_up_is_about_the_questions_before_it(serve: Serve) -> None:
    text = "# Shop\n\nThe shop opens at 9.\n\n# Museum\n\nThe museum opens at 10.\n\nEntry costs 8 euros.\n"
    client = serve({"town.md": text}).client

    def chat(query: str, session: str | None) -> dict[str, Any]:
        reply: dict[str, Any] = client.post("/chat", json={"query": query, "session_id": session}).json()
        return reply

    museum, shop = chat("Is there a museum?", None), chat("Is there a shop?", None)
    assert chat("When does it open?", museum["session_id"])["answer"] == "The museum opens at 10."
    assert chat("When does it open?", shop["session_id"])["answer"] == "The shop opens at 9."
    assert chat("And what does it cost?", museum["session_id"])["answer"] == "Entry costs 8 euros."
    # The next question can refer to a question that refers to none.
    assert chat("When does the shop open?", museum["session_id"])["answer"] == "The shop opens at 9."
    assert chat("When does it open?", museum["session_id"])["answer"] == "The shop opens at 9."
    assert chat("Is it?", "unknown") == {"error": "there is no session of this id"}


def test_search_finds_the_passages_of_the_reply_without_an_answer(server: RunningServer) -> None:
    found = server.client.post("/search", json={"query": "When does the shop open?", "top_k": 1}).json()
    assert found == {"contexts": ["Shop\nThe shop opens at 9."], "source_ids": ["shop.md"]}
    assert server.client.post("/search", json={}).json() == {"error": "query is required"}


def test_search_rag_answers_a_question_in_the_url(server: RunningServer) -> None:
    response = server.client.get("/llm/search-rag", params={"questions": "When does the shop open?"})
    assert response.json()["answer"] == "The shop opens at 9."
    assert response.json()["contexts"][0] == "Shop\nThe shop opens at 9."


@pytest.mark.parametrize("params", [{}, {"questions": ""}, {"questions": " "}, {"question": "shop"}])
def test_search_rag_without_a_question_is_400(server: RunningServer, params: dict[str, str]) -> None:
    response = server.client.get("/llm/search-rag", params=params)
    assert (response.status_code, response.json()) == (400, {"error": "questions is required"})


def test_half_a_character_in_what_is_handed_back_is_no_failure(server: RunningServer) -> None:
    body = {"query": "shop?", "session_id": "\ud800", "context_passages": [{"text": "shop \ud800", "doc_id": "1"}]}
    response = server.client.post("/query/with-context", content=json.dumps(body).encode("ascii"))
    assert response.status_code == 200
    assert response.json()["session_id"] == "\ud800"


def test_openapi_describes_every_route_and_no_other(server: RunningServer) -> None:
    described = server.client.get("/openapi.json").json()
    routes = re.findall(r'Route\("(.+?)", .+?methods=\["(\w+)"\]', (EXAMPLES / "rag_server" / "app.py").read_text())
    assert {(path.replace(":path", ""), method) for path, method in routes} == {
        (path, method.upper()) for path, methods in described["paths"].items() for method in methods
    }
    page = server.client.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    assert all(f"{method} {path.replace(':path', '')}<" in page.text for path, method in routes)


def test_replies_have_the_form_that_openapi_gives_them(server: RunningServer) -> None:
    import jsonschema

    described = server.client.get("/openapi.json").json()

    def check(reply: Any, name: str) -> None:
        schema = {"$ref": f"#/components/schemas/{name}", "components": described["components"]}
        jsonschema.validate(reply, schema, cls=jsonschema.Draft202012Validator)

    check(server.ask("When does the shop open?", include_chunks=True), "Reply")
    check(server.ask("shop"), "Reply")
    check(server.ask_with("When does the shop open?", ("a", "It opens at 7.")), "Reply")
    check(server.upload(("a.txt", "a"), ("b.pdf", "b")), "Status")
    check(server.client.get("/documents").json(), "Documents")
    check(server.client.get("/health").json(), "Health")
    check(server.post(json={}).json(), "Error")


def test_the_fault_best_hides_the_best_passage(serve: Serve, server: RunningServer) -> None:
    faulty = serve({"shop.md": SHOP}, fault="best")
    query = "When does the shop open, and what of a refund?"
    assert faulty.ask(query, top_k=5)["contexts"] == server.ask(query, top_k=5)["contexts"][1:]


def test_the_fault_invent_answers_what_the_documents_do_not(serve: Serve) -> None:
    faulty = serve({"shop.md": SHOP}, fault="invent")
    assert faulty.answer("Which planet is the shop on?") == "The shop opens at 9."
    assert faulty.answer("Who wrote Hamlet?") == "Yes, that has been so since 1987."


def test_the_fault_error_breaks_each_second_question(serve: Serve) -> None:
    faulty = serve({"shop.md": SHOP}, fault="error=2")
    statuses = [faulty.post(json={"query": "shop"}).status_code for _ in range(4)]
    assert statuses == [200, 500, 200, 500]
    assert faulty.client.get("/health").status_code == 200


def test_the_fault_slow_holds_every_answer_back(serve: Serve) -> None:
    faulty = serve({"shop.md": SHOP}, fault="slow=0.2,number")
    started = time.monotonic()
    assert faulty.answer("When does the shop open?") == "The shop opens at 1."
    assert time.monotonic() - started >= 0.2


def model_of(server: OpenAIServer) -> dict[str, str]:
    return {"RAG_SERVER_LLM_URL": server.url, "RAG_SERVER_LLM_MODEL": "small", "RAG_SERVER_LLM_API_KEY": "k"}


def test_a_model_answers_where_one_is_configured_and_its_marks_become_citations(serve: Serve) -> None:
    said = "It opens at 9 [1]. It closes late [2][1]. Nobody knows why [9]."
    counted = json.loads(completion(said).body) | {
        "usage": {"prompt_tokens": 40, "completion_tokens": 12, "total_tokens": 52}
    }
    with OpenAIServer(json_reply(counted), completion(said), error(400, "no such model")) as model:
        server = serve({"shop.md": SHOP}, environment=model_of(model))
        reply = server.ask("When does the shop open, and what of a refund?")
        with_passages = server.ask_with("When?", ("a", "At 9."), ("b", "Late."))
        broken = server.post(json={"query": "When does the shop open?"})
        refused = server.ask("Who wrote Hamlet?")
        asked = model.requests
    assert reply["answer"] == "It opens at 9. It closes late. Nobody knows why."
    assert [(row["source"], row["quote"]) for row in reply["citations"]] == [
        (0, "It opens at 9"),
        (1, "It closes late"),
        (0, "It closes late"),
    ]
    assert [row["document_id"] for row in with_passages["citations"]] == ["a", "b", "a"]
    assert (reply["metrics"]["prompt_tokens"], reply["metrics"]["completion_tokens"]) == (40, 12)
    assert with_passages["metrics"].keys() == {"answer_seconds"}
    system, user = (message["content"] for message in asked[1].json["messages"])
    assert system == asked[0].json["messages"][0]["content"]
    assert user == "Passages:\n\n[1]\nAt 9.\n\n[2]\nLate.\n\nQuestion: When?"
    assert asked[0].headers["authorization"] == "Bearer k"
    assert broken.status_code == 502
    assert broken.json()["error"].startswith("the language model gave no answer: ")
    assert refused["answer"] == REFUSAL
    assert len(asked) == 3
