"""Question files that are not YAML or JSON, as pytest items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.canned import bad, good

if TYPE_CHECKING:
    from tests.harness import Project

FORMS = {
    "deep/prices.rag.csv": "id;question\nprices;What about prices?\n\nterms;What about terms?\n",
    "deep/prices.rag.jsonl": (
        '{"id": "prices", "question": "What about prices?"}\n\n\n{"id": "terms", "question": "What about terms?"}\n'
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_question_of_any_form_is_an_item_that_fails_at_its_line(project: Project, name: str) -> None:
    project.write(name, FORMS[name])
    project.reply_to(good("prices"), bad("terms"))
    run = project.run("--tb=line")
    assert run.verdicts == {"prices": "PASS", "terms": "FAIL"}
    assert run.files[0] == "deep__prices_questions.json"
    assert f"{name}:4" in run.text


@pytest.mark.parametrize("name", FORMS)
def test_a_question_of_any_form_is_selected_by_its_node_id(project: Project, name: str) -> None:
    project.write(name, FORMS[name])
    project.reply_to(good("prices"), good("terms"))
    run = project.run(f"{name}::terms")
    assert run.asked == ["What about terms?"]


@pytest.mark.parametrize("name", FORMS)
def test_what_lies_in_the_output_folder_is_not_collected(project: Project, name: str) -> None:
    project.ask(good("hours"))
    project.write(f"ragcheck-results/{name}", FORMS[name])
    assert project.run().verdicts == {"hours": "PASS"}


@pytest.mark.parametrize("output", [".", ".."])
def test_a_project_within_its_output_folder_is_collected_but_for_what_a_run_wrote(
    project: Project, output: str
) -> None:
    (project.folder / "own").mkdir()
    project.write("own/pytest.ini", "[pytest]\nrag_question_files = *_questions.json\nrag_judge = none\n")
    project.write("own/billing.rag.yaml", "questions: [What?]")
    project.write("own/tests/old_questions.json", '["When?"]')
    written = project.folder / "own" / output / "new_questions.json"
    written.write_text('["Who?"]')
    run = project.run(
        "--rootdir=own", "-c", "own/pytest.ini", "--co", "-q", f"--rag-output=own/{output}", "own", str(written.parent)
    )
    found = {line.partition("::")[0].rpartition("/")[2] for line in run.lines if "::" in line}
    assert found == {"billing.rag.yaml", "old_questions.json"}


def test_a_name_in_capitals_is_collected_too(project: Project) -> None:
    project.ask(good("terms"), file="UP.RAG.JSON")
    run = project.run("-v")
    assert run.outcomes == {"passed": 1}
    assert run.summary["datasets"].keys() == {"UP"}
