"""The tier `retrieval`: the contexts alone are measured, without an answer and without a judge."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.cli import main
from tests.harness import three_ways
from tests.servers.fake_endpoint import FakeEndpoint, Request, json_reply, reply

if TYPE_CHECKING:
    import socket

    from tests.harness import Project, Run

FOUND, LOST = "Refunds are possible within 30 days.", "The shop opens at nine in the morning."

QUESTIONS = f"""\
tier: retrieval
questions:
  - id: refund
    question: How long is the refund window?
    expected_answer: 30 days
    must_mention: 30 days
    gold_passages: [{{doc_id: terms, text: {FOUND}}}]
  - id: hours
    question: When does the shop open?
    gold_passages: [{{doc_id: hours, text: {LOST}}}]
"""

REPLY = {"contexts": [FOUND, "Nobody lives here."], "source_ids": ["terms", "other"]}

TWO_OF_THREE = """\
tier: retrieval
questions:
  - id: two-of-three
    question: Which?
    gold_passages: [{doc_id: terms}, {doc_id: other}, {doc_id: lost}]
    thresholds: {recall_at_5: 0.666667}
"""

CONFTEST = """
import pytest
from pytest_ragcheck import RagClient


def search(query):
    return {"contexts": ["Refunds are possible within 30 days."], "source_ids": ["terms"]}


@pytest.fixture(scope="session")
def rag_client():
    return RagClient.from_callable(search)


@pytest.fixture(scope="session")
def rag_judge():
    raise AssertionError("the judge was looked up")
"""


def row_of(run: Run, name: str) -> dict[str, Any]:
    rows: list[dict[str, Any]] = run.predictions["predictions"]
    (found,) = (row for row in rows if row["question_id"] == name)
    return found


@three_ways
def test_the_verdict_is_the_recall_without_a_request(project: Project) -> None:
    project.write("shop.rag.yaml", QUESTIONS)
    project.write("conftest.py", CONFTEST)
    run = project.run("--rag-threshold=0.9", "-v")
    assert run.verdicts == {"refund": "PASS", "hours": "FAIL"}, run.text
    assert "recall_at_5 0.00 < 0.90: 0 of 1 gold passages are among the contexts" in run.junit["hours"][1]
    row = row_of(run, "hours")
    assert (row["prediction"], row["contexts"], row["judge"], row["blame"]) == (None, [FOUND], None, "retrieval")
    assert row["thresholds"] == {"recall_at_5": 0.9}
    assert run.summary["dropped"] == {"must_mention": {"the tier retrieval requests no answer": 1}}
    assert run.summary["overall_metrics"]["recall_at_5"] == 0.5
    assert not {"answer_correctness", "f1", "exact_match", "abstained"} & run.summary["overall_metrics"].keys()
    assert run.summary["abstention"] == {}
    assert (run.summary["tier"], run.summary["thresholds"]) == ("retrieval", {"recall_at_5": 0.9})
    assert run.document("shop_questions.json")["tier"] == "retrieval"
    shown = run.section("hours")
    assert f"context 1 {FOUND}" in shown
    assert not [line for line in shown if line.startswith("answer ")]


def test_a_minimum_copied_from_the_result_file_passes_and_fails_alike_in_each_run(project: Project) -> None:
    project.write("shop.rag.yaml", TWO_OF_THREE)
    project.write("conftest.py", CONFTEST.replace('["terms"]', '["terms", "other"]'))
    project.write("conftest.py", project.folder.joinpath("conftest.py").read_text().replace('."]', '.", "Open."]'))
    assert project.run().verdicts == {"two-of-three": "PASS"}
    project.write("shop.rag.yaml", TWO_OF_THREE.replace("666667", "666668"))
    run = project.run()
    assert "recall_at_5 0.666667 < 0.666668" in run.junit["two-of-three"][1]
    assert main(["baseline", "save"]) == 0
    assert "baseline ragcheck-baseline.json: 1 still failing" in project.run().lines


def test_an_answer_in_the_reply_is_not_read_and_an_error_in_it_is_reported(project: Project) -> None:
    def search(connection: socket.socket, request: Request) -> bool:
        if "open" in request.json["query"]:
            return json_reply({"error": "the index is gone"})(connection, request)
        return json_reply({**REPLY, "answer": 5})(connection, request)

    project.write("shop.rag.yaml", QUESTIONS)
    with FakeEndpoint(search) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}")
        assert "judge not asked; recall_at_5 >= 0.7;" in run.text
        assert all(request.json.keys() == {"query", "top_k"} for request in endpoint.requests)
    assert run.verdicts == {"refund": "PASS", "hours": "ERROR"}, run.text
    (error,) = run.predictions["errors"]
    assert error["kind"] == "endpoint_reply"
    assert 'the reply has no "contexts" but an error: "the index is gone"' in error["message"]
    assert "prediction" not in error


def test_a_response_without_an_answer_serves_this_tier_alone(project: Project) -> None:
    project.write("shop.rag.yaml", QUESTIONS)
    project.write("plain.rag.yaml", "questions: [{id: plain, question: Why?, expected_answer: Because.}]")
    with FakeEndpoint(json_reply({"hits": [{"text": FOUND, "doc": "terms"}]})) as endpoint:
        run = project.run(
            f"--rag-url={endpoint.url}",
            "--rag-judge=offline",
            "-o",
            "rag_response=contexts=hits[].text source_ids=hits[].doc",
        )
    assert run.verdicts == {"refund": "PASS", "hours": "FAIL", "plain": "ERROR"}, run.text
    assert "rag_response does not say where the answer is" in run.predictions["errors"][0]["message"]
    assert "ragcheck: with another tier: shop (retrieval)" in run.lines
    assert run.summary["tier"] == "mixed"
    assert run.summary["thresholds"].keys() == {"answer_correctness", "groundedness", "recall_at_5"}


def test_a_stream_of_contexts_needs_no_answer(project: Project) -> None:
    event = json.dumps({"contexts": [FOUND], "source_ids": ["terms"]})

    def stream(connection: socket.socket, request: Request) -> bool:
        return reply(f"data: {event}\n\ndata: [DONE]\n\n", content_type="text/event-stream")(connection, request)

    project.write("shop.rag.yaml", QUESTIONS)
    with FakeEndpoint(stream) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}")
    assert run.verdicts == {"refund": "PASS", "hours": "FAIL"}, run.text
    assert "first_token_seconds" not in row_of(run, "refund")


def test_a_failure_in_place_of_the_contexts_of_a_stream_is_an_error(project: Project) -> None:
    def stream(connection: socket.socket, request: Request) -> bool:
        found = [FOUND] if "refund" in request.json["query"] else []
        events = ({"contexts": found, "source_ids": ["terms"] * len(found)}, {"status": "error", "message": "no index"})
        text = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
        return reply(text, content_type="text/event-stream")(connection, request)

    project.write("shop.rag.yaml", QUESTIONS)
    with FakeEndpoint(stream) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}")
    assert run.verdicts == {"refund": "PASS", "hours": "ERROR"}, run.text
    (error,) = run.predictions["errors"]
    assert 'event 2 of the stream reports an error: "no index"' in error["message"]


@pytest.mark.parametrize(
    ("thresholds", "arguments", "wanted"),
    [
        ("0.4", [], {"recall_at_3": 0.4}),
        ("{recall_at_3: 0.2, mrr: 0.1}", ["--rag-min=recall_at_3=0.9"], {"recall_at_3": 0.2, "mrr": 0.1}),
        ("{first_token_seconds: 1}", ["--rag-max=latency_seconds=60"], {"recall_at_3": 0.7}),
        ("{f1: 0.3}", ["--rag-min=recall_at_1=0.5"], {"recall_at_3": 0.7, "recall_at_1": 0.5}),
    ],
)
def test_thresholds_of_the_question_go_over_those_of_the_run(
    project: Project, thresholds: str, arguments: list[str], wanted: dict[str, float]
) -> None:
    extra = f"    top_k: 4\n    thresholds: {thresholds}\n  - id: hours"
    project.write("shop.rag.yaml", QUESTIONS.replace("  - id: hours", extra))
    with FakeEndpoint(json_reply(REPLY)) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}", *arguments)
    assert row_of(run, "refund")["thresholds"] == wanted, run.text
    assert not {"f1", "first_token_seconds"} & row_of(run, "refund").get("maximums", {}).keys()


def test_a_replay_and_a_gate_repeat_the_contexts(project: Project) -> None:
    project.write("shop.rag.yaml", QUESTIONS)
    with FakeEndpoint(json_reply(REPLY)) as endpoint:
        first = project.run(f"--rag-url={endpoint.url}", "--rag-gate=each")
        assert len(endpoint.requests) == 2
    assert main(["baseline", "save"]) == 0
    recorded = project.folder / "ragcheck-results" / "rag_predictions.json"
    again = project.run(f"--rag-replay={recorded.rename(project.folder / 'first.json')}")
    assert again.verdicts == first.verdicts == {"refund": "PASS", "hours": "FAIL"}, again.text
    assert row_of(again, "hours")["contexts"] == REPLY["contexts"]
    with FakeEndpoint(json_reply(REPLY)) as endpoint:
        same = project.run(f"--rag-url={endpoint.url}", "--rag-gate=regression")
        assert len(endpoint.requests) == 2
    assert same.exit_status == 0, same.text
    with FakeEndpoint(json_reply({"contexts": [], "source_ids": []})) as endpoint:
        worse = project.run(f"--rag-url={endpoint.url}", "--rag-gate=regression")
    assert worse.exit_status == 1, worse.text
    assert "refund" in worse.text


def test_rag_check_measures_the_contexts_of_a_call(project: Project) -> None:
    project.write("conftest.py", CONFTEST.replace('raise AssertionError("the judge was looked up")', "return None"))
    project.write(
        "test_shop.py",
        f"""
def test_refund(rag_check):
    record = rag_check("How long?", gold_passages=[{{"text": "{FOUND}", "doc_id": "terms"}}], tier="retrieval")
    record.assert_passed()
    assert record.answer is None

def test_hours(rag_check):
    rag_check("When?", gold_passages=["{LOST}", "9 h"], tier="retrieval").assert_passed()
    rag_check("When?", gold_passages="9 h", tier="retrieval")
""",
    )
    run = project.run("--rag-judge=none")
    assert sorted(run.verdicts.values()) == ["FAIL", "PASS"], run.text
    assert "recall_at_5 0.00 < 0.70: 0 of 2 gold passages are among the contexts" in run.text
    assert run.text.count("test_shop: a gold text of a rag_check has one or two words") == 1


def test_a_passage_that_comes_too_late_is_named_with_its_rank(project: Project) -> None:
    project.write(
        "conftest.py",
        """
import pytest

@pytest.fixture(scope="session")
def rag_client():
    return lambda query, top_k: {"contexts": ["?"] * top_k, "source_ids": [f"d{rank + 1}" for rank in range(top_k)]}
""",
    )
    entry = "{question: Where?, top_k: 8, gold_passages: [{doc_id: d7}, {doc_id: d6}, {doc_id: d9}]}"
    project.write("shop.rag.yaml", f"tier: retrieval\nquestions: [{entry}]\n")
    run = project.run()
    assert "recall_at_5 0.00 < 0.70: 2 of 3 gold passages are among the contexts, at rank 6, 7 (no id is" in run.text


def test_several_texts_may_be_of_one_document_and_another_chunk_of_it_is_none_of_them(project: Project) -> None:
    project.write(
        "shop.rag.yaml",
        f"""
tier: retrieval
questions:
  - {{id: one, question: a?, gold_passages: [{{doc_id: terms, text: {FOUND}}}, {{doc_id: terms, text: {LOST}}}]}}
  - {{id: other, question: b?, gold_passages: {{doc_id: terms, text: {LOST}}}}}
  - {{id: whole, question: c?, gold_passages: {{doc_id: terms}}}}
""",
    )
    with FakeEndpoint(json_reply({"contexts": [FOUND], "source_ids": ["terms"]})) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}")
    scores = {
        row["question_id"]: row["metrics"]["recall_at_5"] for row in run.document("rag_predictions.json")["predictions"]
    }
    assert scores == {"one": 0.5, "other": 0.0, "whole": 1.0}, run.text


def test_gold_passages_by_id_alone_need_an_endpoint_that_gives_ids(project: Project) -> None:
    project.write(
        "shop.rag.yaml",
        "tier: retrieval\nquestions: [{id: refund, question: How long?, gold_passages: [{doc_id: terms}]}]",
    )
    with FakeEndpoint(json_reply(REPLY)) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}")
    assert (run.verdicts, run.scores["refund"]["mrr"]) == ({"refund": "PASS"}, 1.0), run.text
    assert run.document("shop_questions.json")["questions"][0]["gold_passages"] == [{"doc_id": "terms"}]
    with FakeEndpoint(json_reply({"contexts": [FOUND]})) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}")
    assert run.verdicts == {"refund": "ERROR"}, run.text
    assert run.predictions["errors"][0]["message"] == (
        "recall_at_5 could not be measured: a gold passage has only a doc_id, and the endpoint gives no source_ids. "
        "Name them by source_ids= in rag_response, have it return them, or write the text of the passage"
    )
    with FakeEndpoint(json_reply({"contexts": []})) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}")
    assert run.verdicts == {"refund": "FAIL"}, run.text
    run = project.run("--rag-url=http://127.0.0.1:9/query", "--rag-ingest")
    assert run.exit_status == 2
    assert "question 'refund' has a passage without 'text', which ingestion uploads. Write its text." in run.text


@pytest.mark.parametrize(
    ("search", "setting"),
    [
        ({"total": 1, "results": [{"id": "terms", "text": FOUND}]}, "contexts=results[].text source_ids=results[].id"),
        ([{"id": "terms", "text": FOUND}], "contexts=[].text source_ids=[].id"),
        ([FOUND, LOST], "contexts=[]"),
    ],
)
def test_the_error_names_the_setting_that_reads_contexts_without_an_answer(
    search: object, setting: str, project: Project
) -> None:
    project.write("shop.rag.yaml", f"tier: retrieval\nquestions: [{{id: a, question: Q, gold_passages: ['{FOUND}']}}]")
    with FakeEndpoint(json_reply(search)) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}")
        assert f"set rag_response = {setting}\n" in run.predictions["errors"][0]["message"] + "\n", run.text
        run = project.run(f"--rag-url={endpoint.url}", "-o", f"rag_response={setting}")
    assert run.verdicts == {"a": "PASS"}, run.text


def test_a_gold_text_of_two_words_is_named_at_the_end_of_the_run(project: Project) -> None:
    project.write(
        "shop.rag.yaml", "tier: retrieval\nquestions: [{id: refund, question: How long?, gold_passages: 30 days}]"
    )
    with FakeEndpoint(json_reply(REPLY)) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}")
    assert run.verdicts == {"refund": "FAIL"}
    told = "shop: a gold text of refund has one or two words, so that only an equal context is the passage. "
    assert f"{told}Write the whole passage, or an id as {{doc_id: ID}}." in run.lines


def test_a_marked_test_needs_no_judge_either(project: Project) -> None:
    project.write("shop.rag.yaml", QUESTIONS)
    project.write("conftest.py", CONFTEST.partition('@pytest.fixture(scope="session")\ndef rag_judge')[0])
    project.write(
        "test_own.py",
        'import pytest\n@pytest.mark.rag_questions("shop.rag.yaml")\n'
        "def test_it(rag_result): assert rag_result.scores\n",
    )
    run = project.run("test_own.py")
    assert (run.exit_status, run.outcomes) == (0, {"passed": 2}), run.text
