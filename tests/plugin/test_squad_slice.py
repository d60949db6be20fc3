"""
Real questions: a slice of SQuAD v2 as a question file, with answers of known quality, judged offline.

The slice is no part of the project (CC BY-SA 4.0); without it beside the checkout these tests are skipped.
"""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.examples.conftest import running

if TYPE_CHECKING:
    from tests.harness import Project, Run

SLICE = Path(__file__).parents[3] / "shared" / "data" / "slices" / "squad_v2"

pytestmark = pytest.mark.skipif(not SLICE.is_dir(), reason="the SQuAD v2 slice does not lie beside the checkout")

CONFTEST = """\
import json
from pathlib import Path

import pytest

from pytest_ragcheck import RagClient

REPLIES = json.loads((Path(__file__).parent / "replies.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def rag_client():
    return RagClient.from_callable(REPLIES.__getitem__)
"""

Row = dict[str, Any]


def rows() -> list[Row]:
    """Question, accepted answers and paragraph of both files of the slice, each question once."""
    official = json.loads((SLICE / "dev-v2.0.slice.json").read_bytes())
    hub = [json.loads(line) for line in (SLICE / "hf_columns.jsonl").read_text(encoding="utf-8").splitlines()]
    found: dict[str, Row] = {}
    for article in official["data"]:
        for paragraph in article["paragraphs"]:
            for qa in paragraph["qas"]:
                texts = [answer["text"] for answer in qa["answers"]]
                found[qa["question"]] = {"question": qa["question"], "answers": texts, "context": paragraph["context"]}
    for row in hub:
        answers = row["answers"]["text"]
        found[row["question"]] = {"question": row["question"], "answers": answers, "context": row["context"]}
    return list(found.values())


@pytest.fixture
def squad(project: Project) -> list[Row]:
    """The slice as a question file of the project."""
    found = rows()
    project.write("conftest.py", CONFTEST)
    project.write(
        "squad.rag.json",
        json.dumps(
            [
                {"question": row["question"], "all_acceptable_answers": row["answers"]}
                if row["answers"]
                else {"question": row["question"], "answerable": False}
                for row in found
            ]
        ),
    )
    assert len([row for row in found if row["answers"]]) >= 20
    assert len([row for row in found if not row["answers"]]) >= 10
    return found


def passed(project: Project, found: list[Row], answers: list[str]) -> set[str]:
    """The questions that pass with these answers, one for each row, over the row's own paragraph."""
    replies = {
        row["question"]: {"answer": answer, "contexts": [row["context"]]}
        for row, answer in zip(found, answers, strict=True)
    }
    project.write("replies.json", json.dumps(replies))
    return {row["question"] for row in judged(project.run("--rag-judge=offline")) if row["verdict"] == "PASS"}


def judged(run: Run) -> list[Row]:
    assert run.predictions["errors"] == []
    rows: list[Row] = run.predictions["predictions"]
    return rows


def test_right_answers_pass(project: Project, squad: list[Row]) -> None:
    answerable = {row["question"] for row in squad if row["answers"]}
    found = passed(project, squad, [row["answers"][0] if row["answers"] else "42" for row in squad])
    assert len(found & answerable) >= 0.95 * len(answerable)


def test_other_questions_answers_do_not(project: Project, squad: list[Row]) -> None:
    answerable = [row for row in squad if row["answers"]]
    texts = iter(chain(answerable[7:], answerable[:7]))
    others = [next(texts)["answers"][0] if row["answers"] else "42" for row in squad]
    found = passed(project, squad, others)
    assert len(found & {row["question"] for row in answerable}) <= 0.10 * len(answerable)


def test_refusals_pass_exactly_on_the_unanswerable_questions(project: Project, squad: list[Row]) -> None:
    found = passed(project, squad, ["The passage does not answer this question."] * len(squad))
    assert found == {row["question"] for row in squad if not row["answers"]}


def test_over_a_real_rag_every_question_has_an_outcome_and_workers_change_nothing(
    project: Project, squad: list[Row], tmp_path_factory: pytest.TempPathFactory
) -> None:
    corpus = tmp_path_factory.mktemp("corpus")
    for number, context in enumerate(sorted({row["context"] for row in squad})):
        (corpus / f"{number}.md").write_text(context, encoding="utf-8")
    (project.folder / "conftest.py").unlink()
    outcomes = []
    with running(corpus) as server:
        for workers in ((), ("-n2",)):
            run = project.run(f"--rag-url={server.url}/query", "--rag-judge=offline", *workers, subprocess=True)
            assert sum(run.counts.values()) == len(squad)
            assert run.counts["error"] == run.counts["skipped"] == 0
            outcomes.append([{**row, "latency_seconds": None, "asked_at": None} for row in judged(run)])
    assert outcomes[0] == outcomes[1]
    assert {row["verdict"] for row in outcomes[0]} == {"PASS", "FAIL"}
