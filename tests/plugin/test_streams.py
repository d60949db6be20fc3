"""A streamed answer from the endpoint to the result files."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.harness import two_ways
from tests.servers.fake_endpoint import FakeEndpoint, chunked, raw

if TYPE_CHECKING:
    from tests.harness import Project, Run


def events(*values: Any) -> list[bytes]:
    return [f"data: {json.dumps(value)}\n\n".encode() for value in values]


def run_over(project: Project, stream: list[bytes], *arguments: str) -> Run:
    project.write("billing.rag.yaml", "questions: [{id: window, question: How long?, expected_answer: 30 days}]")
    with FakeEndpoint(chunked(stream, content_type="text/event-stream")) as endpoint:
        return project.run(f"--rag-url={endpoint.url}", "--rag-judge=offline", *arguments)


LIMIT = '; the reply is unfinished: finish_reason "length" (the token limit was reached)'
CONTEXTS = {"contexts": ["Refunds are possible within 30 days."]}
WHOLE = events({"answer": "Within"}, {"answer": " 30 days."}, CONTEXTS)


@two_ways
def test_a_streamed_answer_is_judged_whole_and_its_first_token_is_timed(project: Project) -> None:
    run = run_over(project, WHOLE, "--junitxml=junit.xml", "--rag-report=report.html")
    assert run.verdicts == {"window": "PASS"}, run.text
    [row] = run.predictions["predictions"]
    assert row["prediction"] == "Within 30 days."
    assert 0 < row["first_token_seconds"] <= row["latency_seconds"]
    performance = run.summary["performance"]
    assert performance["first_token_p50_seconds"] == performance["first_token_p95_seconds"]
    junit = (project.folder / "junit.xml").read_text(encoding="utf-8")
    assert re.search(r'name="ragcheck.first_token_seconds" value="0\.\d+"', junit)
    assert ">first token<" in (project.folder / "report.html").read_text(encoding="utf-8")


def test_the_time_of_the_first_token_has_a_maximum(project: Project) -> None:
    run = run_over(project, WHOLE, "--rag-max=first_token_seconds=0.000001")
    assert run.verdicts == {"window": "FAIL"}
    [row] = run.predictions["predictions"]
    assert row["reason"].startswith("first_token_seconds 0.")
    run = run_over(project, events({"answer": "", "contexts": []}), "--rag-max=first_token_seconds=1")
    assert run.errors_by_id["window"] == (
        "unscored",
        (
            "first_token_seconds could not be measured: the answer is empty, or was not read as a stream over a "
            "network. Leave the maximum out."
        ),
    )


def test_a_stream_that_breaks_off_is_an_error_of_its_own_kind(project: Project) -> None:
    run = run_over(project, [*WHOLE, b"data: {"])
    kind, message = run.errors_by_id["window"]
    assert kind == "endpoint_stream"
    assert "the stream breaks off in the middle of event 4" in message
    assert run.verdicts == {"window": "ERROR"}


def test_a_stream_whose_connection_breaks_within_the_answer_is_not_asked_again(project: Project) -> None:
    project.write("billing.rag.yaml", "questions: [{id: window, question: How long?, expected_answer: 30 days}]")
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 100\r\n\r\n"
    with FakeEndpoint(raw(head + WHOLE[0])) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}", "--rag-judge=offline")
    kind, message = run.errors_by_id["window"]
    assert (kind, len(endpoint.requests)) == ("endpoint_stream", 1)
    assert "the reply's body broke off" in message


@pytest.mark.parametrize(
    ("stream", "note"),
    [
        (events({"answer": "Within", **CONTEXTS}, {"finish_reason": "length"}), LIMIT),
        (events({"answer": "Within", "finish_reason": "length", **CONTEXTS}), LIMIT),
        (events({"answer": "Within", **CONTEXTS}, {"finishReason": "length"}), LIMIT.replace("h_r", "hR")),
        (events({"answer": "With", "finish_reason": "tool_calls", **CONTEXTS}, {"answer": "in"}), ""),
        (events({"answer": "Within", "finish_reason": "stop", **CONTEXTS}), ""),
    ],
    ids=["after the text", "with the text", "of AI SDK", "going on", "ended"],
)
def test_the_failure_of_an_answer_that_was_cut_off_says_so(project: Project, stream: list[bytes], note: str) -> None:
    run = run_over(project, stream)
    [row] = run.predictions["predictions"]
    assert row["reason"] == f'the answer does not have "30 days"{note}'
    assert note in run.text


def test_an_answer_that_was_cut_off_after_what_is_expected_passes_without_a_reason(project: Project) -> None:
    run = run_over(project, [*WHOLE, *events({"finish_reason": "length"})])
    [row] = run.predictions["predictions"]
    assert (row["verdict"], row["reason"]) == ("PASS", "")


def test_streams_can_be_refused(project: Project) -> None:
    run = run_over(project, WHOLE, "-orag_stream=off")
    kind, message = run.errors_by_id["window"]
    assert kind == "endpoint_reply"
    assert "the reply is a stream of events" in message
    assert "Set rag_stream = auto" in message
