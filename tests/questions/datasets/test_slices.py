"""
Rows of the real datasets, in each of their official forms.

They are no part of the project; without them beside the checkout these tests are skipped.
"""

from __future__ import annotations

import pytest

from tests.questions.datasets.sources import SLICES, questions_of

pytestmark = pytest.mark.skipif(not SLICES.is_dir(), reason="no slices of the datasets lie beside the checkout")


@pytest.mark.parametrize(
    ("name", "official", "hub", "count"),
    [
        ("squad_v2", "squad_v2/dev-v2.0.slice.json", "squad_v2/hf_columns.jsonl", 48),
        ("hotpotqa", "hotpotqa/hotpot_dev_distractor_v1.slice.json", "hotpotqa/hf_columns.jsonl", 11),
        ("qasper", "qasper/qasper-v0.1.slice.json", "qasper/hf_columns.jsonl", 13),
    ],
)
def test_the_official_file_and_the_hub_s_columns_give_the_same_questions(
    name: str, official: str, hub: str, count: int
) -> None:
    found = questions_of(name, SLICES / official)
    assert len(found) == count
    assert questions_of(name, SLICES / hub) == found


def test_half_of_squad_v2_is_unanswerable_and_half_of_the_rest_has_several_answers() -> None:
    found = questions_of("squad_v2", SLICES / "squad_v2/dev-v2.0.slice.json").values()
    answerable = [question for question in found if question.answerable]
    assert len(answerable) == 24
    assert sum(len(question.acceptable_answers) > 1 for question in answerable) >= 10
    assert all(len(question.gold_passages) == 1 for question in answerable)
    assert all(question.distractors and not question.gold_passages for question in found if not question.answerable)


def test_every_hotpotqa_question_has_two_gold_passages() -> None:
    found = questions_of("hotpotqa", SLICES / "hotpotqa/hf_columns.jsonl").values()
    assert {len(question.gold_passages) for question in found} == {2}


def test_a_ragbench_row_with_all_of_its_columns_is_read() -> None:
    (built,) = questions_of("ragbench", SLICES / "ragbench/raw_row.constructed.jsonl").values()
    assert (built.id, len(built.gold_passages), len(built.distractors)) == ("hagrid_0", 1, 1)
    assert built.expected_answer is not None
    assert "1776" in built.expected_answer
