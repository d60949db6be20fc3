from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.errors import DatasetError
from pytest_ragcheck.questions.datasets.retrieved_datasets import answer_of
from pytest_ragcheck.questions.datasets.standard_dataset import Row
from tests.questions.datasets.sources import by_column, content, questions_of, written

if TYPE_CHECKING:
    from pathlib import Path


def reading(**said: Any) -> Row:
    nothing = {"unanswerable": False, "extractive_spans": [], "free_form_answer": "", "yes_no": None}
    return Row("here", {**nothing, **said})


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ({"unanswerable": True, "extractive_spans": ["a"], "free_form_answer": "b", "yes_no": True}, None),
        ({"extractive_spans": ["a", " ", "b"], "free_form_answer": "c", "yes_no": True}, "a, b"),
        ({"free_form_answer": "c", "yes_no": True}, "c"),
        ({"yes_no": True}, "Yes"),
        ({"yes_no": False}, "No"),
        ({}, None),
    ],
)
def test_a_reader_s_answer_is_taken_in_the_evaluator_s_order(said: dict[str, Any], answer: str | None) -> None:
    assert answer_of(reading(**said)) == answer


def test_every_reader_s_answer_is_acceptable() -> None:
    measured = questions_of("qasper")["q001"]
    assert measured.acceptable_answers == ("a conductivity probe, calibrated every week", "With a conductivity probe.")
    assert measured.metadata == {"paper": "2401.00001", "title": "Salt behind a Sea Dyke"}


def test_a_no_is_an_answer() -> None:
    assert questions_of("qasper")["q002"].acceptable_answers == ("Yes", "No")


def test_a_question_is_unanswerable_only_if_most_readers_say_so() -> None:
    found = questions_of("qasper")
    assert (found["q003"].answerable, found["q003"].acceptable_answers, found["q003"].gold_passages) == (False, (), ())
    assert (found["q004"].answerable, found["q004"].acceptable_answers) == (True, ("nine",))


def test_gold_are_the_paragraphs_that_readers_name_and_no_captions() -> None:
    fell = questions_of("qasper")["q002"]
    assert [passage.text for passage in fell.gold_passages] == [
        "Salt content fell by 12 percent behind the new sea dyke."
    ]
    assert not any("Figure 2" in passage.text for passage in (*fell.gold_passages, *fell.distractors))


def test_the_rest_of_the_paper_with_its_abstract_is_there_to_mislead() -> None:
    beside = [passage.text for passage in questions_of("qasper")["q004"].distractors]
    assert beside[0] == "We study how a sea dyke changes the salt content of a harbour."
    assert len(beside) == 4
    assert all(beside)


def test_the_hub_s_columns_give_the_same_questions(tmp_path: Path) -> None:
    (key, paper), = content("qasper").items()  # fmt: skip
    qas = [{**qa, "answers": by_column(qa["answers"])} for qa in paper["qas"]]
    row = {**paper, "id": key, "full_text": by_column(paper["full_text"]), "qas": by_column(qas)}
    assert questions_of("qasper", written(tmp_path, [row])) == questions_of("qasper")
    assert questions_of("qasper", written(tmp_path, row)) == questions_of("qasper")


def test_what_is_wrong_in_a_paper_is_said_with_the_paper(tmp_path: Path) -> None:
    document = content("qasper")
    del document["2401.00001"]["qas"][2]["answers"][1]["answer"]
    with pytest.raises(DatasetError) as caught:
        questions_of("qasper", written(tmp_path, document))
    assert str(caught.value).startswith(
        "rows.json: '2401.00001', 'qas' number 3, 'answers' number 2: expected 'answer', found 'annotation_id', "
    )
    with pytest.raises(DatasetError, match=r"^rows.json: expected an object under 'a', found the number 1"):
        questions_of("qasper", written(tmp_path, {"a": 1}))
