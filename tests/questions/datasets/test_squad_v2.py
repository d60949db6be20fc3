from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.errors import DatasetError
from tests.questions.datasets.sources import OWN, by_column, content, loaded, questions_of, written

if TYPE_CHECKING:
    from pathlib import Path


def hub_rows() -> list[dict[str, object]]:
    """The own file as the hub's columns: no is_impossible, no plausible_answers."""
    return [
        {
            "id": qa["id"],
            "title": article["title"],
            "context": paragraph["context"],
            "question": qa["question"],
            "answers": by_column(qa["answers"]) if qa["answers"] else {"text": [], "answer_start": []},
        }
        for article in content("squad_v2")["data"]
        for paragraph in article["paragraphs"]
        for qa in paragraph["qas"]
    ]


def test_every_accepted_answer_is_read_each_once() -> None:
    built = questions_of("squad_v2")["56f01"]
    assert built.question == "When was the lighthouse of Marrow Point built?"
    assert (built.expected_answer, built.acceptable_answers) == ("1871", ("1871", "in 1871"))
    assert built.metadata == {"title": "Harbour"}


def test_an_impossible_question_has_no_answer_for_the_plausible_ones_are_wrong() -> None:
    designed = questions_of("squad_v2")["56f03"]
    assert (designed.answerable, designed.acceptable_answers) == (False, ())


def test_the_paragraph_is_gold_only_if_it_answers_but_is_always_sent() -> None:
    found = questions_of("squad_v2")
    (gold,) = found["56f01"].gold_passages
    (beside,) = found["56f03"].distractors
    assert found["56f03"].gold_passages == found["56f01"].distractors == ()
    assert gold == beside


def test_a_document_is_a_paragraph_not_a_question() -> None:
    found = questions_of("squad_v2").values()
    documents = {passage for question in found for passage in (*question.gold_passages, *question.distractors)}
    assert len(documents) == 4
    assert {passage.doc_id for passage in documents if passage.text.startswith("The lighthouse")} == {
        "squad_v2:e9154b142649"
    }


def test_the_hub_s_columns_give_the_same_questions(tmp_path: Path) -> None:
    assert questions_of("squad_v2", written(tmp_path, hub_rows())) == questions_of("squad_v2")


def test_an_answerable_question_without_an_answer_is_refused(tmp_path: Path) -> None:
    document = content("squad_v2")
    document["data"][0]["paragraphs"][0]["qas"][1]["answers"] = []
    with pytest.raises(DatasetError) as caught:
        questions_of("squad_v2", written(tmp_path, document))
    assert str(caught.value) == (
        "rows.json, 'data' number 1, 'paragraphs' number 1, 'qas' number 2: expected at least one answer of a question "
        "that is not is_impossible under 'answers', found a list of 0.\n"
        'squad_v2 is read from JSON of {"version", "data": [{"title", "paragraphs": [{"context", "qas"}]}]}, '
        "or the hub's columns id, title, context, question, answers."
    )


def test_a_foreign_file_is_distinguished_from_one_of_its_own() -> None:
    with pytest.raises(DatasetError, match=r"^hotpotqa.json: row 1: expected 'answers', found '_id', 'answer', "):
        loaded(f"squad_v2={OWN['hotpotqa']}")
