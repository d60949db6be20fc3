"""Each fault of the example server turns a run red, at the affected questions and with its own cause."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from examples.rag_server.faults import faults_from
from tests.examples.conftest import EXAMPLES, running

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.harness import Project, Run

QUESTIONS = """\
ingest: true
questions:
  - id: refund
    question: Within how many days is a refund possible?
    expected_answer: 30 days
    gold_passages: [{doc_id: terms, text: A refund is possible within 30 days.}]
  - id: closes
    question: When does the shop close?
    expected_answer: at 18
    gold_passages: [{doc_id: hours, text: The shop opens at 9 and closes at 18.}]
    distractors: [The ferry to the shop leaves the harbour every morning.]
  - id: founder
    question: Who founded the company?
    answerable: false
"""

EACH = ("refund", "closes", "founder")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The signs of a fault in a run."""

    fails: dict[str, str | None] = field(default_factory=dict)
    """By id of the questions that fail the stage that is blamed; None: none is, for nothing was to be found."""

    errors: dict[str, str] = field(default_factory=dict)
    """By id of the questions without a verdict the kind of the error."""

    says: str
    """A line or a reason has this."""

    left: tuple[str, ...] = ()
    """The documents that stay on the server."""

    status: int = 1

    route: str = "/query"

    skipped: tuple[str, ...] = ()
    """The turns that are not asked."""


FAULTS = {
    "": Shown(says="3 PASS, 0 FAIL, 0 ERROR, 0 skipped", status=0),
    "number": Shown(
        fails={"refund": "grounding", "closes": "grounding"},
        says=("blame: retrieval 0, generation 0, grounding 2 (of 2 FAIL with gold passages; 2 FAIL in all)"),
    ),
    "best": Shown(
        fails={"refund": "retrieval", "closes": "retrieval"},
        says=("blame: retrieval 2, generation 0, grounding 0 (of 2 FAIL with gold passages; 2 FAIL in all)"),
    ),
    "invent": Shown(fails={"founder": None}, says="abstained 0.00 < 1.00: the system"),
    "slow=1": Shown(errors=dict.fromkeys(EACH, "endpoint_timeout"), says="no complete reply within 0.5 s"),
    "error": Shown(errors=dict.fromkeys(EACH, "endpoint_status"), says="the server is broken, on purpose"),
    "cut": Shown(
        errors=dict.fromkeys(EACH, "endpoint_stream"), says="breaks off in the middle of event", route="/query/stream"
    ),
    "event": Shown(
        errors=dict.fromkeys(EACH, "endpoint_stream"),
        says='reports an error: "the stream is broken, on purpose"',
        route="/query/stream",
    ),
    "task=hours": Shown(errors={"closes": "ingestion"}, says="document 'hours' (file hours.txt) was uploaded, and"),
    # The documents do not change the verdicts.
    "delete=hours": Shown(
        says="documents: the run is red because documents are left; the verdicts are not affected", left=("hours.txt",)
    ),
}


SHOP = {
    ("search", "best"): Shown(
        fails=dict.fromkeys(("refund-window", "free-delivery", "complaints"), "retrieval"),
        says="blame: retrieval 3, generation 0, grounding 0 (of 3 FAIL with gold passages; 3 FAIL in all)",
        route="/search",
    ),
    # A text that contains a gold passage is none under the id of another document.
    ("search", "wrong-ids"): Shown(
        fails=dict.fromkeys(("refund-window", "free-delivery", "complaints"), "retrieval"),
        says="recall_at_5 0.00 < 1.00: 0 of 1 gold passages are among the contexts",
        route="/search",
    ),
    ("search", "error"): Shown(
        errors=dict.fromkeys(("refund-window", "free-delivery", "complaints"), "endpoint_status"),
        says="the server is broken, on purpose",
        route="/search",
    ),
    ("conversation", "forgets"): Shown(
        fails=dict.fromkeys(("abroad[turn2]", "complaints[turn2]"), "retrieval"),
        says="the system declined to answer, although the question is answerable",
        route="/chat",
    ),
    ("conversation", "error"): Shown(
        errors=dict.fromkeys(("abroad[turn1]", "complaints[turn1]"), "endpoint_status"),
        says="0 PASS, 0 FAIL, 2 ERROR, 3 skipped",
        route="/chat",
        skipped=("abroad[turn2]", "abroad[turn3]", "complaints[turn2]"),
    ),
}
"""By the example that is run, with its own settings and questions, and the fault."""

CITED = """\
defaults: {thresholds: {citation_validity: 1, citation_recall: 1, citation_precision: 1}}
questions:
  - id: refund
    question: Within how many days does the shop give a refund?
    expected_answer: 30 days
    must_cite: terms.md
  - id: closes
    question: When does the shop close?
    expected_answer: at 18
    must_cite: hours.md
  - id: founder
    question: Who founded the company?
    answerable: false
"""

CITATIONS = {
    "": Shown(says="3 PASS, 0 FAIL, 0 ERROR, 0 skipped", status=0),
    "citation-wrong": Shown(
        fails=dict.fromkeys(("refund", "closes")),
        says='[2] does not support "The shop gives a refund within 30 days."',
    ),
    "citation-invented": Shown(
        fails=dict.fromkeys(("refund", "closes")),
        says='"The shop gives a refund within 30 days." cites [3], which is none of the 2 contexts',
    ),
}
"""Of the server with citation markers, by fault."""

QUESTIONS_OF = {
    "search": ("refund-window", "free-delivery", "complaints"),
    "conversation": ("abroad[turn1]", "abroad[turn2]", "abroad[turn3]", "complaints[turn1]", "complaints[turn2]"),
}


def test_the_tables_have_every_fault() -> None:
    with pytest.raises(ValueError, match="Known: ") as raised:
        faults_from("none")
    known = str(raised.value).partition("Known: ")[2].rstrip(".").split(", ")
    # The faults of test_planted_documents.py and test_identities.py.
    elsewhere = {"obeys", "leaks"}
    tables = (*FAULTS, *CITATIONS, *(fault for _, fault in SHOP))
    assert set(known) - elsewhere == {fault.partition("=")[0] for fault in tables if fault}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_turns_the_run_red_with_its_cause(project: Project, tmp_path: Path, fault: str) -> None:
    project.write("shop.rag.yaml", QUESTIONS)
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    shown = FAULTS[fault]
    with running(corpus, fault=fault) as server:
        options = ("-o", "rag_timeout=0.5", "-o", "rag_retries=0") if shown.errors else ()
        run = project.run(
            f"--rag-url={server.url}{shown.route}", f"-orag_base_url={server.url}", "--rag-judge=offline", *options
        )
        assert tuple(server.documents().values()) == shown.left
    check(run, shown, EACH)


@pytest.mark.parametrize(("folder", "fault"), SHOP)
def test_a_fault_turns_an_example_red_with_its_cause(project: Project, folder: str, fault: str) -> None:
    shutil.copytree(EXAMPLES / folder, project.folder, dirs_exist_ok=True)
    shown = SHOP[folder, fault]
    with running(EXAMPLES / "shop" / "documents", fault=fault) as server:
        run = project.run(f"--rag-url={server.url}{shown.route}", "-orag_retries=0")
    check(run, shown, QUESTIONS_OF[folder])


@pytest.mark.parametrize("fault", CITATIONS)
def test_a_wrong_citation_turns_the_run_red_with_its_sentence(project: Project, tmp_path: Path, fault: str) -> None:
    project.write("shop.rag.yaml", CITED)
    (corpus := tmp_path / "corpus").mkdir()
    (corpus / "terms.md").write_text("The shop gives a refund within 30 days.", encoding="utf-8")
    (corpus / "hours.md").write_text("The shop opens at 9 and closes at 18.", encoding="utf-8")
    shown = CITATIONS[fault]
    with running(corpus, fault=fault, environment={"RAG_SERVER_CITATIONS": "1"}) as server:
        run = project.run(
            f"--rag-url={server.url}/query", "--rag-judge=offline", "-orag_shape=server", "-orag_metrics=+citations"
        )
    check(run, shown, EACH)


def check(run: Run, shown: Shown, questions: Sequence[str]) -> None:
    bad = {**dict.fromkeys(shown.fails, "FAIL"), **dict.fromkeys(shown.errors, "ERROR")}
    asked = dict.fromkeys((question for question in questions if question not in shown.skipped), "PASS")
    assert run.verdicts == {**asked, **bad}
    assert {key: kind for key, (kind, _) in run.errors_by_id.items()} == shown.errors
    blamed = {
        row["question_id"]: row.get("blame") for row in run.predictions["predictions"] if row["verdict"] == "FAIL"
    }
    assert blamed == shown.fails
    assert shown.says in run.text
    assert run.exit_status == shown.status
