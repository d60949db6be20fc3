from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.errors import DatasetError
from pytest_ragcheck.questions.datasets.retrieved_datasets import SUBSETS
from tests.questions.datasets.sources import OWN, content, loaded, questions_of, written

if TYPE_CHECKING:
    from pathlib import Path

ROW: dict[str, Any] = {"id": "x_0", "question": "Who?", "documents": ["Ann did.", "Bo did not."], "response": "Ann."}


def question(folder: Path, *rows: dict[str, Any]) -> Any:
    (only,) = questions_of("ragbench", written(folder, list(rows))).values()
    return only


def test_it_has_twelve_subsets() -> None:
    assert len(set(SUBSETS)) == 12


def test_the_rows_of_two_models_are_one_question() -> None:
    assert len(content("ragbench")) == 10
    found = questions_of("ragbench")
    assert len(found) == 8
    assert found["hagrid_1"].acceptable_answers == (
        "A crossing takes twenty-five minutes.",
        "The ferry to Tern Island takes twenty-five minutes for a crossing.",
    )


def test_a_response_is_a_reference_only_where_the_documents_support_it_and_says_so() -> None:
    found = questions_of("ragbench")
    assert found["hagrid_0"].acceptable_answers == ("The lighthouse of Marrow Point was built in 1871.",)
    assert found["hagrid_0"].metadata == {"expected_answer_from": "supported response of gpt-3.5-turbo-1106"}
    assert found["hagrid_1"].metadata == {
        "expected_answer_from": "supported response of gpt-3.5-turbo-1106 and claude-3-haiku-20240307"
    }
    assert (found["hagrid_6"].expected_answer, found["hagrid_6"].metadata) == (None, {})
    assert all(each.answerable for each in found.values()), "the dataset does not say which are not"


def test_gold_are_the_documents_of_the_relevant_sentences() -> None:
    built = questions_of("ragbench")["hagrid_0"]
    assert [passage.text[:30] for passage in built.gold_passages] == ["The lighthouse of Marrow Point"]
    assert len(built.distractors) == 2


def test_a_key_that_ends_in_a_dot_counts() -> None:
    assert content("ragbench")[4]["all_relevant_sentence_keys"] == ["0c."]
    assert len(questions_of("ragbench")["hagrid_2"].gold_passages) == 1


@pytest.mark.parametrize("keys", [[], None, ["supported_without_sentence"], ["7a"], ["1"]])
def test_without_a_key_of_a_document_none_is_gold(tmp_path: Path, keys: list[str] | None) -> None:
    built = question(tmp_path, {**ROW, "all_relevant_sentence_keys": keys})
    assert (built.gold_passages, len(built.distractors)) == ((), 2)


def test_a_tenth_document_is_not_the_first(tmp_path: Path) -> None:
    documents = [f"Document {number}." for number in range(12)]
    built = question(tmp_path, {**ROW, "documents": documents, "all_relevant_sentence_keys": ["10b", "11aa"]})
    assert [passage.text for passage in built.gold_passages] == ["Document 10.", "Document 11."]


def test_a_document_is_called_by_its_content_whichever_question_has_it() -> None:
    by_text: dict[str, set[str | None]] = {}
    for each in loaded(f"ragbench:hagrid={OWN['ragbench']}").questions:
        for passage in (*each.gold_passages, *each.distractors):
            by_text.setdefault(passage.text, set()).add(passage.doc_id)
    assert all(len(names) == 1 for names in by_text.values())
    assert {name and name[:16] for names in by_text.values() for name in names} == {"ragbench:hagrid:"}
    (name,) = next(names for text, names in by_text.items() if text.startswith("The harbour museum"))
    assert name == "ragbench:hagrid:32597e246ef9"


def test_an_id_of_two_questions_gets_a_hash_which_their_order_does_not_change(tmp_path: Path) -> None:
    rows = [ROW, {**ROW, "question": "Why?"}]
    found = questions_of("ragbench", written(tmp_path, rows))
    assert len(found) == 2
    assert all(name.startswith("x_0-") for name in found)
    assert questions_of("ragbench", written(tmp_path, rows[::-1])) == found


def test_a_file_of_another_subset_is_refused() -> None:
    with pytest.raises(DatasetError) as caught:
        loaded(f"ragbench:covidqa={OWN['ragbench']}")
    assert str(caught.value).splitlines()[0] == (
        "ragbench.jsonl: line 1: expected the subset 'covidqa', found 'hagrid'. Write ragbench:hagrid=PATH."
    )


def test_a_row_with_three_columns_is_enough(tmp_path: Path) -> None:
    built = question(tmp_path, {name: ROW[name] for name in ("question", "documents", "response")})
    assert (built.id, built.expected_answer, built.gold_passages) == ("who-d991", None, ())


def test_parquet_gives_the_same_questions(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow", reason="parquet needs pyarrow, of the extra 'datasets'")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.Table.from_pylist(content("ragbench")), tmp_path / "test-00000-of-00001.parquet")
    assert questions_of("ragbench", tmp_path) == questions_of("ragbench")
    json.dumps([dict(each.metadata) for each in questions_of("ragbench", tmp_path).values()])
