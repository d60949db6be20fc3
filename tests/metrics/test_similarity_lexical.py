from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck import RagAnswer
from pytest_ragcheck.metrics.similarity import Overlap, chrf, rouge_l
from tests.making import a_question

pytest.importorskip("rapidfuzz", reason="the extra lexical is not installed")
pytest.importorskip("sacrebleu", reason="the extra lexical is not installed")

TEXTS = st.text(max_size=30)


@pytest.mark.parametrize(
    ("answer", "acceptable", "expected"),
    [
        # Longest common subsequence "police the gunman" of 4 and 4 words: P = R = 3/4.
        ("police kill the gunman", ["police killed the gunman"], 0.75),
        # "the police" or "gunman": 2 of 4 and 4 words.
        ("the gunman kill police", ["police killed the gunman"], 0.5),
        ("14 days", ["30 days", "14 days."], 1.0),
        ("", ["x"], 0.0),
        ("...", ["..."], 0.0),
        ("срок 30 дней", ["Срок: 30 дней"], 1.0),
        # 返 品 30 日: 4 of 5 and 4
        ("返品は30日", ["返品30日"], 2 * 4 / 9),
        ("क्षमा करें", ["क्षमा"], 2 / 3),
    ],
)
def test_rouge_l_is_computed_by_hand(answer: str, acceptable: list[str], expected: float) -> None:
    assert rouge_l(answer, acceptable) == pytest.approx(expected, abs=1e-12)


def test_chrf_is_one_for_the_same_text_and_takes_the_best_accepted_answer() -> None:
    assert chrf("30 days", ["14 days", "30 days"]) == pytest.approx(1.0)
    assert 0 < chrf("30 day", ["30 days"]) < 1
    assert chrf("", ["30 days"]) == chrf("30 days", [""]) == 0.0


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=3))
def test_both_lie_between_zero_and_one(answer: str, acceptable: list[str]) -> None:
    assert 0 <= rouge_l(answer, acceptable) <= 1
    assert 0 <= chrf(answer, acceptable) <= 1 + 1e-12


def test_they_apply_to_answerable_questions_with_an_expected_answer() -> None:
    metric = Overlap(rouge_l=rouge_l, chrf=chrf)

    def names(**said: object) -> set[str]:
        return set(asyncio.run(metric.score(a_question(**said), RagAnswer(text="30 days"))))

    assert names(expected_answer="30 days") == {"rouge_l", "chrf"}
    assert names() == names(expected_answer="x", answerable=False) == set()
