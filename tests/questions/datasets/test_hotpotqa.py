from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.errors import DatasetError
from tests.questions.datasets.sources import content, questions_of, written

if TYPE_CHECKING:
    from pathlib import Path


def test_gold_are_the_paragraphs_whose_titles_are_supporting_facts() -> None:
    older = questions_of("hotpotqa")["5a8b0001"]
    assert [passage.text[:31] for passage in older.gold_passages] == [
        "The lighthouse of Marrow Point ", "The lighthouse of Gannet Rock w",
    ]  # fmt: skip
    assert len(older.distractors) == 4
    assert (older.expected_answer, older.metadata) == ("yes", {"type": "comparison", "level": "hard"})


def test_sentences_are_joined_as_they_are_for_they_bring_their_blanks_along() -> None:
    gold = questions_of("hotpotqa")["5a8b0002"].gold_passages
    assert gold[0].text.startswith("The tram of line 3 climbs from the harbour to the observatory. The line opened")


def test_a_sentence_that_is_not_there_and_a_title_that_is_not_there_do_no_harm() -> None:
    found = questions_of("hotpotqa")
    assert ["Kestrel Hill", 7] in content("hotpotqa")[1]["supporting_facts"]
    assert len(found["5a8b0002"].gold_passages) == 2
    assert ["Not among them", 0] in content("hotpotqa")[2]["supporting_facts"]
    assert len(found["5a8b0003"].gold_passages) == 2


def test_one_of_two_supporting_paragraphs_is_no_gold(tmp_path: Path) -> None:
    rows = content("hotpotqa")[:2]
    rows[0]["context"] = [pair for pair in rows[0]["context"] if pair[0] != "Gannet Rock"]
    rows[1]["supporting_facts"] = [["Line 3", 0], ["Kestrel &amp; Hill", 0]]
    rows[1]["context"] = [
        ["Kestrel & Hill" if pair[0] == "Kestrel Hill" else pair[0], pair[1]] for pair in rows[1]["context"]
    ]
    found = questions_of("hotpotqa", written(tmp_path, rows))
    first, second = found["5a8b0001"], found["5a8b0002"]
    assert (len(first.gold_passages), len(first.distractors)) == (0, 5)
    assert first.metadata["missing_paragraphs"] == ["Gannet Rock"]
    assert (len(second.gold_passages), "missing_paragraphs" in second.metadata) == (2, False)


def lists(names: tuple[str, str], pairs: list[list[Any]]) -> dict[str, list[Any]]:
    """Pairs as the hub writes them."""
    return {name: [pair[place] for pair in pairs] for place, name in enumerate(names)}


def test_the_hub_s_columns_give_the_same_questions(tmp_path: Path) -> None:
    rows = [
        {
            **{name: row[name] for name in ("question", "answer", "type", "level")},
            "id": row["_id"],
            "supporting_facts": lists(("title", "sent_id"), row["supporting_facts"]),
            "context": lists(("title", "sentences"), row["context"]),
        }
        for row in content("hotpotqa")
    ]
    assert questions_of("hotpotqa", written(tmp_path, rows)) == questions_of("hotpotqa")


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("answer", " ", "expected an answer under 'answer', found a blank text."),
        (
            "context",
            [["A", "text"]],
            "expected paragraphs as lists of sentences under 'context', found the text 'text'.",
        ),
        (
            "supporting_facts",
            None,
            "expected a list of pairs of title and sent_id under 'supporting_facts', found null",
        ),
        ("context", [[["A"], ["text"]]], "expected texts as titles under 'context', found a list of 1."),
        (
            "supporting_facts",
            [[{}, 0]],
            "expected texts as titles under 'supporting_facts', found an object with nothing.",
        ),
    ],
)
def test_a_row_that_is_none_is_refused(tmp_path: Path, name: str, value: object, problem: str) -> None:
    rows = content("hotpotqa")
    rows[1][name] = value
    with pytest.raises(DatasetError) as caught:
        questions_of("hotpotqa", written(tmp_path, rows))
    assert str(caught.value).startswith(f"rows.json: row 2: {problem}")
