"""A streamed answer from the endpoint to the result files."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from tests.harness import two_ways
from tests.servers.fake_endpoint import FakeEndpoint, chunked

if TYPE_CHECKING:
    from tests.harness import Project, Run


def events(*values: Any) -> list[bytes]:
    return [f"data: {json.dumps(value)}\n\n".encode() for value in values]


def run_over(project: Project, stream: list[bytes], *arguments: str) -> Run:
    project.write("billing.rag.yaml", "questions: [{id: window, question: How long?, expected_answer: 30 days}]")
    with FakeEndpoint(chunked(stream, content_type="text/event-stream")) as endpoint:
        return project.run(f"--rag-url={endpoint.url}", "--rag-judge=offline", *arguments)


WHOLE = events({"answer": "Within"}, {"answer": " 30 days."}, {"contexts": ["Refunds are possible within 30 days."]})


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
            "first_token_seconds could not be measured: the answer was not streamed over a network, or is empty. "
            "Leave the maximum out."
        ),
    )


def test_a_stream_that_breaks_off_is_an_error_of_its_own_kind(project: Project) -> None:
    run = run_over(project, [*WHOLE, b"data: {"])
    kind, message = run.errors_by_id["window"]
    assert kind == "endpoint_stream"
    assert "the stream breaks off in the middle of event 4" in message
    assert run.verdicts == {"window": "ERROR"}


def test_streams_can_be_refused(project: Project) -> None:
    run = run_over(project, WHOLE, "-orag_stream=off")
    kind, message = run.errors_by_id["window"]
    assert kind == "endpoint_reply"
    assert "the reply is a stream of events" in message
    assert "Set rag_stream = auto" in message
