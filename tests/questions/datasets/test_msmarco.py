from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.errors import DatasetError
from tests.questions.datasets.sources import by_column, content, questions_of, written

if TYPE_CHECKING:
    from pathlib import Path


def rows() -> list[dict[str, Any]]:
    columns = content("msmarco")
    return [{name: column[key] for name, column in columns.items()} for key in columns["query"]]


def test_the_official_columns_are_keyed_by_row() -> None:
    built = questions_of("msmarco")["1102432"]
    assert built.question == "how old is the lighthouse of marrow point"
    assert built.acceptable_answers == (
        "It was built in 1871.", "The lighthouse of Marrow Point was built in 1871.",
    )  # fmt: skip
    assert [passage.text[:30] for passage in built.gold_passages] == ["The lighthouse of Marrow Point"]
    assert len(built.distractors) == 2
    assert built.metadata == {"query_type": "NUMERIC"}


def test_a_missing_well_formed_answer_is_the_text_of_an_empty_list() -> None:
    assert content("msmarco")["wellFormedAnswers"]["11"] == "[]"
    assert questions_of("msmarco")["1102433"].acceptable_answers == ("At five in the morning.",)


def test_no_answer_present_is_no_answer() -> None:
    sails = questions_of("msmarco")["1102434"]
    assert (sails.answerable, sails.acceptable_answers, sails.gold_passages) == (False, (), ())


def test_where_no_passage_is_selected_none_is_gold() -> None:
    ticket = questions_of("msmarco")["1102435"]
    assert (ticket.answerable, ticket.gold_passages, len(ticket.distractors)) == (True, (), 2)


def test_json_lines_and_the_hub_s_columns_give_the_same_questions(tmp_path: Path) -> None:
    lines = tmp_path / "dev.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows()), encoding="utf-8")
    hub = [
        {
            **row,
            "passages": by_column(row["passages"]),
            "wellFormedAnswers": [] if row["wellFormedAnswers"] == "[]" else row["wellFormedAnswers"],
        }
        for row in rows()
    ]
    assert questions_of("msmarco", lines) == questions_of("msmarco", written(tmp_path, hub)) == questions_of("msmarco")


def test_one_row_alone_is_a_row(tmp_path: Path) -> None:
    assert list(questions_of("msmarco", written(tmp_path, rows()[0]))) == ["1102432"]


def test_a_column_that_lacks_a_row_is_said_with_the_row(tmp_path: Path) -> None:
    document = content("msmarco")
    del document["answers"]["12"]
    with pytest.raises(DatasetError, match=r"^rows.json: row '12': expected 'answers', found 'passages', 'query', "):
        questions_of("msmarco", written(tmp_path, document))
