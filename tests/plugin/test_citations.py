"""Citations in a run: one further request to the judge's model, kept for later runs, and baselines."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_ragcheck.summary.gate.saved_answer import label_digests
from tests.making import a_question
from tests.servers.openai_server import OpenAIServer, completion, verdict

if TYPE_CHECKING:
    import pytest

    from tests.harness import Project
    from tests.servers.openai_server import Reply, Request

CONFTEST = """
import pytest
from pytest_ragcheck import RagAnswer, RagClient

@pytest.fixture(scope="session")
def rag_client():
    def ask(query, top_k):
        return {"answer": "It is 30 days [1]. It is free [2].", "contexts": ["30 days.", "5 EUR."]}
    return RagClient.from_callable(ask)
"""


def judges(request: Request) -> Reply:
    if "=== BEGIN sentences" not in request.prompt:
        return verdict()(request)
    found = [
        {"number": each["number"], "supported": "30" in each["sentence"], "alone": [], "needed": []}
        for each in request.block("sentences")
    ]
    return completion(json.dumps({"nonce": request.nonce, "sentences": found}))


def write_project(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGCHECK_JUDGE_API_KEY", "k")
    project.write("conftest.py", CONFTEST)
    project.write("billing.rag.yaml", "questions:\n- {id: terms, question: How long?, expected_answer: 30 days}\n")
    project.write("pytest.ini", "[pytest]\nrag_metrics = +citations\n")


def test_a_model_judges_the_citations_in_one_further_request_that_later_runs_keep(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_project(project, monkeypatch)
    with OpenAIServer(judges) as judge:
        options = ("--rag-judge-model=m", f"--rag-judge-url={judge.url}", "--rag-min=citation_recall=1")
        run = project.run(*options)
        asked = len(judge.requests)
        again = project.run(*options)
        assert (asked, len(judge.requests)) == (2, 2)
    assert run.section(" terms ")[0] == 'citation_recall 0.50 < 1.00: [2] does not support "It is free."'
    for each in (run, again):
        (row,) = each.predictions["predictions"]
        assert {name: row["metrics"][name] for name in ("citation_precision", "citation_recall")} == {
            "citation_precision": 0.5,
            "citation_recall": 0.5,
        }


def test_a_replay_without_the_sentences_tells_what_is_wrong_with_the_citations(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_project(project, monkeypatch)
    with OpenAIServer(judges) as judge:
        least = ("--rag-min=citation_recall=1", "--rag-min=citation_precision=1")
        options = ("--rag-judge-model=m", f"--rag-judge-url={judge.url}", *least)
        project.run(*options, "--rag-output=recorded")
        replay = project.run(*options, "--rag-replay=recorded")
    first = replay.section(" terms ")[0]
    assert first.endswith(": a cited context does not support its sentence; no cited context supports a sentence")


def test_a_threshold_on_citations_without_their_group_is_refused(project: Project) -> None:
    project.write("conftest.py", CONFTEST)
    project.write("billing.rag.yaml", "questions: [How long?]\n")
    run = project.run("--rag-min=citation_recall=1")
    assert "rag_min: citation_recall is measured by the group 'citations'" in run.stderr


def test_a_baseline_tells_that_another_document_has_to_be_cited() -> None:
    plain = a_question("terms", expected_answer="30 days")
    demanding = replace(plain, must_cite=("terms.md",))
    changed = {part for part, digest in label_digests(plain).items() if label_digests(demanding)[part] != digest}
    assert changed == {"mentions"}
