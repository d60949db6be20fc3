"""A run names a judge's model that was replaced behind the same name since the baseline."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.cli import main
from tests.servers.fake_endpoint import FakeEndpoint, json_reply
from tests.servers.openai_server import OpenAIServer, verdict
from tests.servers.openai_server import json_reply as completion_of

if TYPE_CHECKING:
    import socket

    from tests.harness import Project
    from tests.servers.fake_endpoint import Request as Asked
    from tests.servers.openai_server import Reply, Request

NAMED = "the judge's server has another model behind the same name: m-2025-08 fp_2, in the baseline m-2025-01 fp_1"


@pytest.mark.parametrize(("model", "named"), [("m-2025-08 fp_2", True), ("m-2025-01 fp_1", False)])
def test_a_replaced_model_of_the_judge_is_named_beside_the_baseline(project: Project, model: str, named: bool) -> None:
    project.write("one.rag.json", json.dumps([{"id": "q", "question": "How long?", "expected_answer": "30 days"}]))
    served = ["m-2025-01 fp_1"]
    answers = ["30 days."]

    def answer(connection: socket.socket, request: Asked) -> bool:
        return json_reply({"answer": answers[0], "contexts": ["Within 30 days."]})(connection, request)

    def judge_reply(request: Request) -> Reply:
        name, fingerprint = served[0].split()
        reply = json.loads(verdict()(request).body)
        return completion_of({**reply, "model": name, "system_fingerprint": fingerprint})

    with (
        FakeEndpoint(answer) as endpoint,
        OpenAIServer(judge_reply) as judge,
    ):
        options = (f"--rag-url={endpoint.url}", f"--rag-judge-url={judge.url}", "--rag-judge-model=m")
        first = project.run(*options)
        (row,) = first.predictions["predictions"]
        assert row["judgement"]["served_by"] == "m-2025-01 fp_1"
        assert main(["baseline", "save"]) == 0
        served[0], answers[0] = model, "It is 30 days."
        second = project.run(*options)
    assert (NAMED in second.lines) is named
