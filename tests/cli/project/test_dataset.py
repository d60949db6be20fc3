from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.questions.reader import read_question_file
from pytest_ragcheck.scores import ASSERTABLE
from tests.questions.datasets.sources import OWN, loaded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., tuple[int, str, str]]


def test_the_datasets_are_listed_with_tiers_and_what_they_test(ragcheck: Command) -> None:
    status, printed, errors = ragcheck("dataset")
    assert (status, errors) == (0, "")
    squad = printed[printed.index("squad_v2\n") :].splitlines()
    assert squad[1:3] == [
        "  tiers    generation", "  tests    abstention: questions with and without an answer in their paragraph",
    ]  # fmt: skip
    assert printed.index("golden\n") < printed.index("  from     a file only\n") < printed.index("qasper\n")


@pytest.mark.parametrize("name", OWN)
def test_a_dataset_is_written_as_a_question_file(name: str, tmp_path: Path, ragcheck: Command) -> None:
    output = tmp_path / f"{name}_questions.json"
    questions = loaded(f"{name}={OWN[name]}").questions
    assert ragcheck("dataset", name, str(OWN[name]), "-o", str(output)) == (
        0, f"{output}: {len(questions)} questions of {name}={OWN[name]}\n", "",
    )  # fmt: skip
    read = read_question_file(output, root=tmp_path, known_metrics=ASSERTABLE)
    assert read.questions == questions
    # A dataset for one tier only names that tier.
    assert read.tier == ("generation" if name in {"squad_v2", "golden"} else None)


def test_a_sample_is_that_of_a_run(tmp_path: Path, ragcheck: Command) -> None:
    output = tmp_path / "few.rag.json"
    named = f"ragbench:hagrid={OWN['ragbench']}"
    status, _, _ = ragcheck("dataset", named, "--samples=3", "--seed=2", "-o", str(output))
    document = json.loads(output.read_bytes())
    taken = loaded(named, samples=3, seed=2)
    assert (status, document["dataset_name"]) == (0, "ragbench:hagrid")
    assert [row["id"] for row in document["questions"]] == [question.id for question in taken.questions]


NO_CHOICE = (
    "is not of the form NAME[:SUBSET][@SPLIT][=PATH]; "
    "write, for example, squad_v2=dev-v2.0.json or ragbench:covidqa@test"
)
NO_OUTPUT = "give -o a name that pytest collects as a question file, such as"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            ["a b"],
            f"'a b' {NO_CHOICE}",
        ),
        (["golden"], "golden is read from a file; write golden=PATH."),
        (["golden=a.json", "b.json"], "two files are given, a.json and b.json. Give one."),
        (["golden=a.json"], "golden=a.json: there is no such file. Give the path of the dataset's file."),
        (
            ["ragbench:hagrid", str(OWN["ragbench"])],
            f"{NO_OUTPUT} -o ragbench-hagrid_questions.json.",
        ),
        (
            ["golden", str(OWN["golden"]), "-o", "golden.json"],
            f"{NO_OUTPUT} -o golden_questions.json.",
        ),
        (
            ["golden", str(OWN["golden"]), "-o", "g_questions.json", "--samples=0"],
            "--samples: '0' is not a whole number from 1; write one such as 5",
        ),
        (
            ["golden", str(OWN["golden"]), "-o", "g_questions.json", "--seed=x"],
            "--seed: 'x' is not a whole number from 0; write one such as 2",
        ),
    ],
)
def test_wrong_usage_says_what_to_write(arguments: list[str], problem: str, ragcheck: Command) -> None:
    assert ragcheck("dataset", *arguments) == (2, "", f"ragcheck dataset: {problem}\n")


def test_a_foreign_file_and_a_folder_that_is_a_file_end_with_status_1(tmp_path: Path, ragcheck: Command) -> None:
    (tmp_path / "no").touch()
    output = tmp_path / "no" / "golden_questions.json"
    status, printed, errors = ragcheck("dataset", "golden", str(OWN["qasper"]), "-o", str(output))
    assert (status, printed) == (1, "")
    assert errors.startswith("ragcheck dataset: qasper.json: expected 'question', found '2401.00001'.\ngolden is read ")
    status, _, errors = ragcheck("dataset", "golden", str(OWN["golden"]), "-o", str(output))
    assert status == 1
    assert str(output.parent) in errors


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("injection", '[{"id": "a", "question": "When?"}]'),
        ("golden", '[{"question": "Q", "answer": "A", "context": "A"}]'),
    ],
)
def test_the_file_with_the_questions_is_never_overwritten(
    name: str, text: str, tmp_path: Path, ragcheck: Command
) -> None:
    path = tmp_path / "own.rag.json"
    path.write_text(text)
    again = tmp_path / "." / ".." / tmp_path.name / path.name
    assert ragcheck("dataset", name, str(path), "-o", str(again)) == (
        2, "", f"ragcheck dataset: -o: {path} holds the questions. Choose another file.\n",
    )  # fmt: skip
    assert path.read_text() == text


def test_a_missing_folder_of_the_output_is_created(tmp_path: Path, ragcheck: Command) -> None:
    output = tmp_path / "new" / "sub" / "golden_questions.json"
    status, _, errors = ragcheck("dataset", "golden", str(OWN["golden"]), "-o", str(output))
    assert (status, errors, output.is_file()) == (0, "", True)


def test_a_document_with_two_texts_is_refused_because_planted_questions_are_uploaded(
    tmp_path: Path, ragcheck: Command
) -> None:
    path, output = tmp_path / "own.rag.json", tmp_path / "planted.rag.json"
    questions = [
        {"id": name, "question": "When?", "gold_passages": [{"doc_id": "terms", "text": f"Within {name} days."}]}
        for name in ("30", "60")
    ]
    path.write_text(json.dumps({"tier": "generation", "questions": questions}))
    assert ragcheck("check", str(path))[0] == 0
    status, printed, errors = ragcheck("dataset", "injection", str(path), "-o", str(output))
    assert (status, printed, output.exists()) == (2, "", False)
    assert errors == (
        f"ragcheck dataset: {path}:1: question '60' has the document 'terms' with a second text, and ingestion uploads "
        "one text for each 'doc_id'. Give each text a 'doc_id' of its own.\n"
    )


def test_questions_whose_gold_passages_have_no_text_to_upload_are_named(tmp_path: Path, ragcheck: Command) -> None:
    path, output = tmp_path / "own.rag.json", tmp_path / "planted.rag.json"
    fees, terms = {"doc_id": "fees.md", "text": "Returns are free."}, {"doc_id": "terms.md"}
    passages = {"a": [terms], "b": [fees], "c": [fees, terms]}
    questions = [{"id": name, "question": "When?", "gold_passages": gold} for name, gold in passages.items()]
    path.write_text(json.dumps({"questions": questions}))
    status, printed, _ = ragcheck("dataset", "injection", str(path), "-o", str(output))
    assert status == 0
    assert printed.splitlines()[1:] == ["  not carried over: gold passages without a text to upload, of a, c"]
    path.write_text(json.dumps({"questions": questions[1:2]}))
    _, printed, _ = ragcheck("dataset", "injection", str(path), "-o", str(output))
    assert len(printed.splitlines()) == 1
