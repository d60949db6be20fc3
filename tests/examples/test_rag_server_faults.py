"""Each fault of the example server turns a run red, and the run blames what is wrong; without one it is green."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from .conftest import running

if TYPE_CHECKING:
    from tests.harness import Project

QUESTIONS = """\
ingest: true
questions:
  - id: refund
    question: Within how many days is a refund possible?
    expected_answer: 30 days
    gold_passages: [{doc_id: "shop:terms", text: A refund is possible within 30 days.}]
    distractors: [{doc_id: "shop:price", text: A refund is free of charge.}]
  - id: opens
    question: When does the shop open?
    expected_answer: at 9
    gold_passages: [{doc_id: "shop:hours", text: The shop opens at 9.}]
  - id: founder
    question: Who founded the company?
    answerable: false
"""

REFUND, OPENS, FOUNDER = "refund", "opens", "founder"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a run says."""

    status: int = 1
    fails: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    said: str
    """In the text of every failure, or else in what is printed."""

    options: tuple[str, ...] = ()


FAULTS = {
    "": Found(status=0, said="3 PASS, 0 FAIL, 0 ERROR, 0 skipped"),
    "number": Found(fails=(REFUND, OPENS), said="the answer says what the contexts do not"),
    "best": Found(fails=(REFUND, OPENS), said="blame     retrieval: the contexts lack the gold passages"),
    "invent": Found(fails=(FOUNDER,), said="the system answered, although the question is unanswerable"),
    "slow=3": Found(
        errors=(REFUND, OPENS, FOUNDER), said="/query: no whole reply within 1 s", options=("-o", "rag_timeout=1")
    ),
    "error": Found(errors=(REFUND, OPENS, FOUNDER), said="/query: status 500 Internal Server Error"),
    "task=hours": Found(errors=(OPENS,), said="document 'shop:hours' (file shop_hours.txt) was uploaded, and the"),
    "delete=hours": Found(said="documents: the run is red for what is left; the verdicts are not touched by it"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_turns_the_run_red_with_its_own_blame(project: Project, fault: str) -> None:
    found = FAULTS[fault]
    project.write("shop.rag.yaml", QUESTIONS)
    with running(project.folder, fault=fault) as server:
        run = project.run(f"--rag-url={server.url}/query", "--rag-judge=offline", *found.options)
        left = sorted(name for name in server.documents().values() if name.startswith("shop_"))
    assert run.exit_status == found.status, run.text
    verdicts = dict.fromkeys((REFUND, OPENS, FOUNDER), "PASS")
    verdicts |= dict.fromkeys(found.fails, "FAIL") | dict.fromkeys(found.errors, "ERROR")
    assert run.verdicts == verdicts, run.text
    for name in (*found.fails, *found.errors):
        assert found.said in "\n".join(run.section(f" {name} ")), run.text
    assert found.said in run.text
    assert left == (["shop_hours.txt"] if fault.startswith("delete") else [])
