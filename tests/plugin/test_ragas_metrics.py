"""`rag_metrics = +ragas` in a whole run: with a model and without one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.harness import two_ways
from tests.metrics.ragas.finding import finds
from tests.servers.fake_endpoint import FakeEndpoint, json_reply
from tests.servers.openai_server import OpenAIServer, by_path, embeds, verdict

if TYPE_CHECKING:
    import pytest

    from tests.harness import Project
    from tests.servers.openai_server import Reply, Request

ANSWER = {"answer": "The window is 30 days.", "contexts": ["Refunds are possible for 30 days."]}
QUESTIONS = "questions:\n- {id: terms, question: How long?, expected_answer: 30 days}\n"


def judge_or_find(request: Request) -> Reply:
    return finds()(request) if "generated_questions" in request.prompt else verdict()(request)


@two_ways
def test_one_further_reply_and_one_batch_of_embeddings_a_question(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGCHECK_JUDGE_API_KEY", "key-of-the-judge")
    monkeypatch.setenv("RAGCHECK_EMBEDDING_API_KEY", "key-of-the-embeddings")
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-another-host")
    project.write("billing.rag.yaml", QUESTIONS)
    with (
        FakeEndpoint(json_reply(ANSWER)) as endpoint,
        OpenAIServer(judge_or_find) as judge,
        OpenAIServer(by_path(embeddings=embeds(lambda text: [1.0, 0.0]))) as vectors,
    ):
        project.write(
            "pytest.ini",
            f"[pytest]\nrag_metrics = +ragas\nrag_embedding_model = e@{vectors.url}\n",
        )
        options = ("--rag-judge-model=m", f"--rag-judge-url={judge.url}", "--rag-min=ragas_faithfulness=0.5")
        run = project.run(f"--rag-url={endpoint.url}", *options)
        asked, embedded = len(judge.requests), len(vectors.requests)
        again = project.run(f"--rag-url={endpoint.url}", *options)
    assert (asked, embedded) == (2, 1)
    # The model's facts are from the first run, like its verdict.
    assert len(judge.requests) == 2
    assert again.predictions["predictions"] == [
        {**row, "latency_seconds": each["latency_seconds"]}
        for row, each in zip(run.predictions["predictions"], again.predictions["predictions"], strict=True)
    ]
    assert run.verdicts == {"terms": "PASS"}
    (row,) = run.predictions["predictions"]
    ragas = {name: value for name, value in row["metrics"].items() if name.startswith("ragas_")}
    assert ragas == {
        "ragas_answer_relevancy": 1.0,
        "ragas_answer_correctness": 1.0,
        "ragas_context_relevance": 0.75,
        "ragas_faithfulness": 1.0,
    }
    assert row["thresholds"]["ragas_faithfulness"] == 0.5
    assert [request.headers["authorization"] for request in judge.requests] == ["Bearer key-of-the-judge"] * 2
    assert {request.headers["authorization"] for request in vectors.requests} == {"Bearer key-of-the-embeddings"}
    assert "key-of-" not in run.text + json.dumps([run.predictions, run.summary])


def test_the_header_says_once_what_is_not_measured_for_want_of_embeddings(project: Project) -> None:
    project.write("billing.rag.yaml", QUESTIONS)
    project.write("pytest.ini", "[pytest]\nrag_metrics = +ragas +semantic\n")
    with FakeEndpoint(json_reply(ANSWER)) as endpoint, OpenAIServer(judge_or_find) as judge:
        run = project.run(f"--rag-url={endpoint.url}", "--rag-judge-model=m", f"--rag-judge-url={judge.url}")
    assert run.verdicts == {"terms": "PASS"}
    assert (
        run.lines.count(
            "ragcheck: ragas_answer_relevancy, ragas_answer_correctness, embedding_similarity cannot be measured: "
            "there is no embedding model: set rag_embedding_model"
        )
        == 1
    )
    (row,) = run.predictions["predictions"]
    assert row["unscored"] == dict.fromkeys(
        ("ragas_answer_relevancy", "ragas_answer_correctness", "embedding_similarity"),
        "there is no embedding model: set rag_embedding_model",
    )


def test_stand_ins_of_their_own_name_are_measured_where_the_judge_is_no_model(project: Project) -> None:
    project.write("billing.rag.yaml", QUESTIONS)
    with FakeEndpoint(json_reply(ANSWER)) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}", "--rag-judge=offline", "-o", "rag_metrics=+ragas")
    assert run.verdicts == {"terms": "PASS"}
    (row,) = run.predictions["predictions"]
    assert [name for name in row["metrics"] if name.startswith("offline_")] == [
        "offline_answer_relevancy",
        "offline_answer_correctness",
        "offline_context_relevance",
        "offline_faithfulness",
    ]
    assert not [name for name in row["metrics"] if name.startswith("ragas_")]
    assert "cannot be measured" not in run.text
