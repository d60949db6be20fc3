from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.errors import DatasetError
from tests.questions.datasets.sources import content, questions_of, written

if TYPE_CHECKING:
    from pathlib import Path


def test_a_question_has_an_answer_and_the_context_that_it_is_in() -> None:
    hours = questions_of("golden")["bridge-hours"]
    assert (hours.question, hours.expected_answer) == (
        "When does the swing bridge open for ships?", "At ten and at four o'clock.",
    )  # fmt: skip
    (gold,) = hours.gold_passages
    assert gold.text.startswith("The swing bridge opens for ships")
    assert hours.metadata == {"document": "bridge.md"}


def test_an_id_that_is_not_given_is_made_from_the_question() -> None:
    assert list(questions_of("golden")) == [
        "bridge-hours", "what-turns-the-swing-bridge-635c", "how-large-is-the-lens-of-the-refractor-e639",
    ]  # fmt: skip


def test_two_contexts_of_one_document_have_two_names() -> None:
    names = [question.gold_passages[0].doc_id for question in questions_of("golden").values()]
    assert len(set(names)) == 3
    assert [name and name.rpartition(":")[0] for name in names] == ["golden:bridge.md", "golden:bridge.md", "golden"]


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("answer", "", "expected a text that is not blank under 'answer', found a blank text."),
        ("context", "\n", "expected a text that is not blank under 'context', found a blank text."),
        ("question", None, "expected a text under 'question', found null."),
    ],
)
def test_a_part_that_is_missing_is_said_with_its_row(tmp_path: Path, name: str, value: object, problem: str) -> None:
    rows = content("golden")
    rows[1][name] = value
    with pytest.raises(DatasetError) as caught:
        questions_of("golden", written(tmp_path, rows))
    assert str(caught.value) == (
        f"rows.json: row 2: {problem}\n"
        'golden is read from a JSON list of {"id"?, "question", "answer", "context", "document"?}.'
    )
