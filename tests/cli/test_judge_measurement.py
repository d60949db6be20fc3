"""Labelled answers are read, and a wrong file is refused with a reason."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.cli.judge_measurement import LabelledAnswer, LabelledAnswers, read_labelled_answers
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.questions.question import EarlierTurn, Question
from pytest_ragcheck.rag.answer import RagAnswer

if TYPE_CHECKING:
    from pathlib import Path

ROW: dict[str, Any] = {
    "id": "r1",
    "question": "How long?",
    "contexts": ["30 days."],
    "expected_answers": ["30 days"],
    "answer": "30 days.",
    "label_correct": 1,
    "label_grounded": None,
    "meta": {"group": "billing"},
}


def labelled(folder: Path, *rows: Any, **options: Any) -> LabelledAnswers:
    path = folder / "labelled.jsonl"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return read_labelled_answers(path, **options)


def complaint(folder: Path, *rows: Any, **options: Any) -> str:
    with pytest.raises(UsageError) as caught:
        labelled(folder, *rows, **options)
    return str(caught.value).replace(f"{folder / 'labelled.jsonl'}", "FILE")


def test_a_row_is_an_answer_with_its_label_and_group(tmp_path: Path) -> None:
    assert labelled(tmp_path, ROW).rows == (
        LabelledAnswer(
            question=Question(
                dataset_name="labels", id="r1", question="How long?", all_acceptable_answers=("30 days",)
            ),
            answer=RagAnswer(text="30 days.", contexts=("30 days.",)),
            good=True,
            group="group billing",
        ),
    )


def test_a_row_of_a_conversation_has_its_earlier_turns(tmp_path: Path) -> None:
    history = [{"question": "Is it refunded?", "answer": "Yes.", "contexts": ["All is refunded."]}, {"answer": ""}]
    (row,) = labelled(tmp_path, {**ROW, "history": history}).rows
    assert row.question.history == (
        EarlierTurn(question="Is it refunded?", answer="Yes.", contexts=("All is refunded.",)),
        EarlierTurn(question="", answer=""),
    )
    assert complaint(tmp_path, {**ROW, "history": ["Yes."]}) == (
        "FILE:1: history is ['Yes.']. Write a list of objects, each with question, answer and contexts."
    )
    assert complaint(tmp_path, {**ROW, "history": [{"question": "Why?"}]}) == (
        "FILE:1: answer is None. Write a string."
    )


def test_a_row_that_repeats_another_is_refused_because_it_is_no_new_answer(tmp_path: Path) -> None:
    other = {**ROW, "answer": "A month."}
    copy = dict(reversed(ROW.items()))
    bare = {"answer": "No.", "label_correct": 0}
    assert complaint(tmp_path, ROW, other, copy, bare, {**bare, "label_correct": None}, bare) == (
        "FILE:3: repeats line 1. Delete one of them.\nFILE:6: repeats line 4. Delete one of them."
    )
    assert len(labelled(tmp_path, ROW, other, bare).rows) == 3


@pytest.mark.parametrize(
    ("label", "score"),
    [("label_grounded", "groundedness"), ("label_correct", "answer_correctness"), ("label_abstained", "abstained")],
)
def test_each_label_belongs_to_a_score(tmp_path: Path, label: str, score: str) -> None:
    assert labelled(tmp_path, {"answer": "No.", "contexts": [], label: 0}).score == score


def test_rows_without_the_label_are_left_out_and_blank_lines_skipped(tmp_path: Path) -> None:
    found = labelled(tmp_path, ROW, "", {**ROW, "id": "r2", "label_correct": None}, {"answer": "a", "label_correct": 0})
    assert [(row.question.id, row.good, row.group) for row in found.rows] == [
        ("r1", True, "group billing"),
        ("line 4", False, "line 4"),
    ]


def test_a_label_may_be_a_float_as_pandas_writes_a_column_with_gaps(tmp_path: Path) -> None:
    found = labelled(tmp_path, {**ROW, "label_correct": 1.0}, {**ROW, "label_correct": 0.0})
    assert [row.good for row in found.rows] == [True, False]


def test_of_two_labels_the_chosen_one_is_read(tmp_path: Path) -> None:
    both = {**ROW, "label_grounded": 0}
    assert complaint(tmp_path, both) == (
        "FILE: it has label_grounded and label_correct. Choose one with --label=grounded or correct."
    )
    assert [row.good for row in labelled(tmp_path, both, label="label_grounded").rows] == [False]


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (["{"], "FILE:1: it is not JSON (Expecting property name"),
        pytest.param(["[" * 200_000], "FILE:1: it is not JSON (maximum recursion depth", id="nested"),
        (["[1]"], "FILE:1: it is list, not an object. Write one object a line."),
        (
            [{"answer": "a"}],
            "FILE: no row has a label. Give rows one of label_grounded, label_correct, label_abstained, with 1 or 0.",
        ),
        ([{**ROW, "label_correct": 0.5}], "FILE:1: label_correct is 0.5. Write 1, 0 or null."),
        ([{**ROW, "label_correct": "yes"}], "FILE:1: label_correct is 'yes'. Write 1, 0 or null."),
        (
            [{"answer": "a", "context": ["c"], "label_grounded": 1}],
            "FILE:1: there are no contexts. Write a list of strings, or [] if there were none.",
        ),
        ([{**ROW, "answer": None}], "FILE:1: answer is None. Write a string."),
        ([{**ROW, "question": 3}], "FILE:1: question is 3. Write a string."),
        ([{**ROW, "contexts": "text"}], "FILE:1: contexts is 'text'. Write a list of strings."),
        ([{**ROW, "expected_answers": [1]}], "FILE:1: expected_answers is [1]. Write a list of strings."),
        ([{**ROW, "meta": 1}], "FILE:1: meta is 1. Write an object."),
        (["", ROW, {**ROW, "answer": 1}], "FILE:3: answer is 1. Write a string."),
    ],
)
def test_a_mistake_is_reported_with_its_line(tmp_path: Path, rows: list[Any], text: str) -> None:
    assert complaint(tmp_path, *rows).startswith(text)


def test_of_many_mistakes_ten_are_shown(tmp_path: Path) -> None:
    lines = complaint(tmp_path, *[{**ROW, "answer": None}] * 13).splitlines()
    assert lines[9:] == ["FILE:10: answer is None. Write a string.", "and 3 more"]


def test_a_chosen_label_that_no_row_has_is_reported(tmp_path: Path) -> None:
    assert complaint(tmp_path, ROW, label="label_abstained") == (
        "FILE: no row has a label_abstained that is 1 or 0. Label some answers, or choose another --label."
    )


def test_a_file_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none.jsonl: it cannot be read \(No such file or directory\)"):
        read_labelled_answers(tmp_path / "none.jsonl")
    (tmp_path / "latin.jsonl").write_bytes(b'{"answer": "\xe9"}')
    with pytest.raises(UsageError, match=r"latin.jsonl: it is not UTF-8 \(byte 12\)\. Save it as UTF-8\."):
        read_labelled_answers(tmp_path / "latin.jsonl")
