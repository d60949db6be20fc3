"""The tier `generation`: requests carry the passages of their questions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.harness import two_ways
from tests.servers.fake_endpoint import FakeEndpoint, Request, json_reply

if TYPE_CHECKING:
    import socket

    from tests.harness import Project

QUESTIONS = """\
questions:
  - id: refund
    question: How long is the refund window?
    expected_answer: 30 days
    gold_passages: [{doc_id: terms, text: Refunds are possible within 30 days.}]
    distractors: [Nobody lives here.]
  - id: founder
    question: Who founded the shop?
    answerable: false
    distractors: [Nobody lives here.]
"""


def answer_from_passages(connection: socket.socket, request: Request) -> bool:
    """As the example server's route, of which the first passage is always the answer."""
    passages = request.json.get("context_passages", [])
    said = passages[0]["text"] if passages and passages[0]["doc_id"] == "terms" else "I do not know."
    sources = [{"document_id": row["doc_id"], "text": row["text"]} for row in passages]
    return json_reply({"answer": said, "sources": sources})(connection, request)


@two_ways
def test_gold_passages_go_along_and_nothing_is_retrieved(project: Project) -> None:
    project.write("shop.rag.yaml", QUESTIONS)
    with FakeEndpoint(answer_from_passages) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}", "--rag-judge=offline", "--rag-tier=generation")
        asked = {request.json["query"]: request for request in endpoint.requests}
    assert run.verdicts == {"refund": "PASS", "founder": "PASS"}, run.text
    assert {request.path for request in asked.values()} == {"/query/with-context"}
    sent = asked["How long is the refund window?"].json
    assert sent["context_passages"] == [{"text": "Refunds are possible within 30 days.", "doc_id": "terms"}]
    assert sent["session_id"] is None
    (other,) = asked["Who founded the shop?"].json["context_passages"]
    assert other["text"] == "Nobody lives here."
    assert not [name for name in run.summary["overall_metrics"] if name.startswith(("recall", "mrr", "map", "ndcg"))]
    assert (run.summary["tier"], run.summary["datasets"]["shop"]["tier"]) == ("generation", "generation")
    assert run.document("shop_questions.json")["tier"] == "generation"
    assert "ragcheck: tier generation: the passages are sent with the questions, nothing is retrieved" in run.lines
    (row,) = [row for row in run.predictions["predictions"] if row["question_id"] == "refund"]
    assert row["source_ids"] == ["terms"]


def test_a_file_of_a_tier_of_its_own_is_named_and_the_run_is_mixed(project: Project) -> None:
    project.write("shop.rag.yaml", f"tier: generation\n{QUESTIONS}")
    project.write("plain.rag.yaml", QUESTIONS.replace("30 days", "14 days"))
    reply: dict[str, Any] = {"answer": "Refunds take 14 days.", "contexts": ["Refunds take 14 days."], "sources": []}
    with FakeEndpoint(json_reply(reply)) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}", "--rag-judge=none", "-o", "rag_shape=query")
        paths = sorted(request.path for request in endpoint.requests)
    assert paths == ["/query", "/query", "/query/with-context", "/query/with-context"]
    assert "ragcheck: with another tier: shop (generation)" in run.lines
    assert run.summary["tier"] == "mixed"
    assert "mrr" in run.summary["datasets"]["plain"]["overall_metrics"]
    assert "mrr" not in run.summary["datasets"]["shop"]["overall_metrics"]


def test_a_question_without_passages_is_a_collection_error_before_any_request(project: Project) -> None:
    project.write("shop.rag.yaml", "questions: [Why?]")
    with FakeEndpoint(answer_from_passages) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}", "--rag-judge=offline", "--rag-tier=generation")
        assert endpoint.requests == []
    assert run.exit_status == 2
    assert "has no passages, which the tier 'generation' sends along with it." in run.text


def test_a_retrieval_metric_that_is_asserted_is_dropped_with_the_reason(project: Project) -> None:
    project.write("shop.rag.yaml", QUESTIONS)
    with FakeEndpoint(answer_from_passages) as endpoint:
        run = project.run(
            f"--rag-url={endpoint.url}", "--rag-judge=offline", "--rag-tier=generation", "--rag-min=recall_at_5=0.5"
        )
    assert json.dumps(run.summary["dropped"]) == json.dumps(
        {"recall_at_5": {"nothing is retrieved in the tier generation": 1, "the question is unanswerable": 1}}
    )
