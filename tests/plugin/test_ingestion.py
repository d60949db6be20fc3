"""Documents go up before the questions, once a run, and are gone after it; how runs end is in test_ends.py."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.check_documents import THERE
from tests.check_documents import run as shared
from tests.harness import two_ways
from tests.servers.document_server import DocumentServer

if TYPE_CHECKING:
    from pathlib import Path

    from tests.harness import Project, Run

QUESTIONS = """\
ingest: true
questions:
  - id: refund
    question: Within how many days is a refund possible?
    expected_answer: 30 days
    gold_passages: [{doc_id: "shop:terms", text: A refund is possible within 30 days.}]
    distractors: [Nobody lives here.]
  - id: opens
    question: When does the shop open?
    expected_answer: at 9
    gold_passages: [{doc_id: "shop:hours", text: The shop opens at 9.}]
    distractors: [{doc_id: "shop:terms", text: A refund is possible within 30 days.}]
"""

# Notes what the server has as soon as the documents are there, and then does what the row wants.
END = """\
import json, os, signal, time, urllib.request
import pytest

def test_end(pytestconfig):
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({{}}))
    for _ in range(200):
        with direct.open({url!r}) as reply:
            names = sorted(row["file_name"] for row in json.load(reply))
        if len(names) == 4:
            break
        time.sleep(0.05)
    with open("during.json", "w") as file:
        json.dump(names, file)
    {what}
"""

BEFORE = {"old": "shop_terms.txt"}
DURING = 4


def run_to(project: Project, server: DocumentServer, what: str, *arguments: str, apart: bool = False) -> Run:
    project.write("shop.rag.yaml", QUESTIONS)
    project.write("test_zz_end.py", END.format(url=f"{server.url.removesuffix('/query')}/documents", what=what))
    options = (f"--rag-url={server.url}", "--rag-judge=offline", "-o", "rag_cache=off", *arguments)
    return project.run(*options, where="apart" if apart else "here")


def ledgers(project: Project) -> list[str]:
    folder = project.folder / "ragcheck-results" / ".ragcheck" / "documents"
    return sorted(path.name for path in folder.glob("*/ledger.jsonl"))


def seen_during(project: Project) -> list[str]:
    names: list[str] = json.loads((project.folder / "during.json").read_text())
    return names


@two_ways
def test_documents_are_there_during_the_run_and_gone_after_it(project: Project) -> None:
    with DocumentServer(there=BEFORE) as server:
        run = run_to(project, server, "pass")
        assert sorted(server.uploaded) == sorted(set(server.uploaded))
        assert len(server.uploaded) == 3
        assert server.documents == BEFORE
        assert all(r.json["include_chunks"] for r in server.requests if (r.method, r.path) == ("POST", "/query"))
    assert run.verdicts == {"refund": "PASS", "opens": "PASS"}, run.text
    assert len(seen_during(project)) == DURING
    assert ledgers(project) == []
    assert run.summary["documents"] == {"deleted": 3, "kept": 0, "left": []}
    assert "documents: 3 deleted" in run.lines
    (row,) = (row for row in run.predictions["predictions"] if row["question_id"] == "opens")
    assert row["source_ids"] == ["shop:hours"]
    assert row["metadata"]["server_source_ids"][0].startswith("id-")
    assert run.summary["overall_metrics"]["recall_at_1"] == 1.0


def test_what_a_killed_run_left_is_deleted_by_the_next(project: Project) -> None:
    with DocumentServer(there=BEFORE) as server:
        run_to(project, server, "os.kill(os.getpid(), signal.SIGKILL)", apart=True)
        assert len(server.documents) == DURING
        assert len(ledgers(project)) == 1
        run = run_to(project, server, "pass")
        assert server.documents == BEFORE, run.text
    assert run.summary["documents"]["deleted"] == 6
    assert ledgers(project) == []


def test_what_cannot_be_deleted_is_told_and_the_results_are_there(project: Project) -> None:
    with DocumentServer(there=BEFORE, undeletable="hours") as server:
        run = run_to(project, server, "pass")
        assert sorted(server.documents.values()) == ["shop_hours.txt", "shop_terms.txt"]
    (left,) = run.summary["documents"]["left"]
    assert left["file_name"] == "shop_hours.txt"
    assert f"WARNING: document {left['id']} (file shop_hours.txt) is left: {left['reason']}" in run.lines
    assert run.verdicts == {"refund": "PASS", "opens": "PASS"}
    assert len(ledgers(project)) == 1


@pytest.mark.parametrize(
    ("keep", "what", "left"),
    [("always", "pass", 4), ("on-failure", "assert False", 4), ("on-failure", "pass", 1)],
)
def test_documents_are_kept_where_that_is_asked_for(project: Project, keep: str, what: str, left: int) -> None:
    with DocumentServer(there=BEFORE) as server:
        run = run_to(project, server, what, "-o", f"rag_keep_documents={keep}")
        assert len(server.documents) == left
    assert run.summary["documents"]["kept"] == left - 1
    assert len(ledgers(project)) == (left > 1)


def test_the_questions_of_a_document_that_failed_are_errors_and_the_rest_runs(project: Project) -> None:
    with DocumentServer(failing="hours") as server:
        project.write("shop.rag.yaml", QUESTIONS.replace("ingest: true\n", ""))
        run = project.run(f"--rag-url={server.url}", "--rag-judge=offline", "--rag-ingest")
        assert server.documents == {}
    assert run.verdicts == {"refund": "PASS", "opens": "ERROR"}
    kind, message = run.errors_by_id["opens"]
    assert kind == "ingestion"
    assert "document 'shop:hours' (file shop_hours.txt) was uploaded, and the server could not read it" in message


def test_without_being_asked_for_nothing_goes_up(project: Project) -> None:
    project.write("shop.rag.yaml", QUESTIONS.replace("ingest: true\n", ""))
    with DocumentServer() as server:
        project.run(f"--rag-url={server.url}", "--rag-judge=offline", "-o", "rag_shape=server")
        assert server.uploaded == []
        assert {request.path for request in server.requests} == {"/query"}


def test_a_function_takes_no_documents(project: Project) -> None:
    project.write(
        "conftest.py",
        "import pytest\n"
        "@pytest.fixture(scope='session')\n"
        "def rag_client():\n"
        "    return lambda query: {'answer': query, 'contexts': []}\n",
    )
    project.write("shop.rag.yaml", QUESTIONS)
    run = project.run("--rag-judge=offline")
    kind, message = run.errors_by_id["opens"]
    assert kind == "ingestion"
    assert "is a function, which has no routes for documents" in message


@pytest.mark.parametrize("options", [(), ("-n2",)], ids=["plain", "n2"])
def test_documents_that_questions_share_go_up_once(tmp_path: Path, options: tuple[str, ...]) -> None:
    seen = shared(tmp_path / "run", *options, documents=20, questions=100)
    assert (seen.status, seen.uploads, seen.distinct, seen.left) == (0, 20, 20, THERE), seen.text
