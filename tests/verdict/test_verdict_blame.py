from __future__ import annotations

import pytest

from pytest_ragcheck import GoldPassage, RagAnswer
from pytest_ragcheck.verdict.verdict import BLAMES, blame
from tests.making import a_question

FIRST = GoldPassage(text="Refunds are possible within 30 days.")
SECOND = GoldPassage(text="Shipping is never refunded.")
QUESTION = a_question(gold_passages=(FIRST, SECOND))
OTHER = "Opening hours are from nine to five."

BOTH = (FIRST.text, SECOND.text)
ONE = (OTHER, FIRST.text)
NONE = (OTHER,)


@pytest.mark.parametrize(
    ("contexts", "short", "declined", "blamed"),
    [
        (NONE, ["answer_correctness"], False, "retrieval"),
        (NONE, ["groundedness"], False, "retrieval"),
        (NONE, ["answer_correctness"], True, "retrieval"),
        ((), ["groundedness"], False, "retrieval"),
        (BOTH, ["answer_correctness"], False, "generation"),
        (BOTH, ["must_mention", "f1"], False, "generation"),
        (BOTH, ["answer_correctness", "groundedness"], True, "generation"),
        (BOTH, ["groundedness"], False, "grounding"),
        (BOTH, ["answer_correctness", "groundedness"], False, "grounding"),
        (BOTH, ["ragas_faithfulness"], False, "grounding"),
        (ONE, ["answer_correctness"], False, "generation"),
        (ONE, ["groundedness", "recall_at_3"], False, "grounding"),
        (ONE, ["recall_at_3", "map"], False, "retrieval"),
        (BOTH, ["ragas_context_relevance"], False, "retrieval"),
        (BOTH, ["brevity", "recall_at_1"], False, "generation"),
        (BOTH, ["must_not_retrieve", "recall_at_1"], False, "retrieval"),
        (BOTH, ["must_not_retrieve", "groundedness"], False, "grounding"),
    ],
)
def test_the_first_rule_that_holds_decides(
    contexts: tuple[str, ...], short: list[str], declined: bool, blamed: str
) -> None:
    answer = RagAnswer(text="14 days", contexts=contexts)
    assert blame(QUESTION, answer, short, declined=declined) == blamed
    assert blamed in BLAMES


@pytest.mark.parametrize("short", [["must_not_retrieve"], []], ids=["a leak", "too slow"])
@pytest.mark.parametrize("contexts", [BOTH, NONE])
@pytest.mark.parametrize("tier", ["end_to_end", "retrieval"])
def test_a_fault_that_has_nothing_to_do_with_gold_passages_blames_no_part(
    tier: str, contexts: tuple[str, ...], short: list[str]
) -> None:
    question = a_question(gold_passages=(FIRST, SECOND), tier=tier)
    assert blame(question, RagAnswer(text="x", contexts=contexts), short, declined=False) == ""


def test_an_answer_to_an_unanswerable_question_is_blamed_on_the_generation() -> None:
    question = a_question(answerable=False, gold_passages=(FIRST,))
    for contexts in (BOTH, NONE):
        assert blame(question, RagAnswer(text="x", contexts=contexts), ["abstained"], declined=False) == "generation"


def test_passages_that_went_along_with_the_question_are_not_the_retrievals() -> None:
    question = a_question(gold_passages=(FIRST,), tier="generation")
    assert blame(question, RagAnswer(text="x", contexts=NONE), ["groundedness"], declined=False) == "grounding"


def test_without_gold_passages_nothing_is_blamed() -> None:
    assert blame(a_question(), RagAnswer(text="x", contexts=BOTH), ["f1"], declined=False) == ""
