"""The estimate of a run's requests and cost before it asks."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_ragcheck import GoldPassage
from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.plugin.collecting.cost_preview import estimate, estimate_lines
from pytest_ragcheck.questions.question import in_conversation
from tests.making import a_question

QUESTIONS = [a_question("a"), a_question("b", expected_answer="30 days"), a_question("c", top_k=50)]


def lines(settings: Settings, *, own_judge: bool = False) -> list[str]:
    return list(estimate_lines(estimate(QUESTIONS, settings, own_judge=own_judge), settings))


def model(**said: Any) -> Settings:
    return Settings.of(judge="openai", judge_model="m", **said)


def test_calls_are_counted_with_all_repeats() -> None:
    estimated = estimate(QUESTIONS, model(repeats=2, judge_repeats=3), own_judge=False)
    assert (estimated.questions, estimated.system_calls, estimated.judge_calls) == (3, 6, 18)
    once = estimate(QUESTIONS, model(), own_judge=False)
    assert once.input_tokens is not None
    assert estimated.input_tokens is not None
    assert abs(estimated.input_tokens - 6 * once.input_tokens) <= 6  # each is rounded down


def test_questions_of_the_tier_retrieval_have_no_judge() -> None:
    searched = a_question("search", tier="retrieval", gold_passages=(GoldPassage(text="Refunds take 30 days."),))
    one, both = ([searched], [QUESTIONS[0], searched])
    assert [estimate(asked, model(), own_judge=False).judge_calls for asked in (one, both)] == [0, 1]
    assert [estimate(asked, Settings.of(), own_judge=True).judge_calls for asked in (one, both)] == [0, None]
    assert estimate(both, model(), own_judge=False).system_calls == 2


def test_tokens_are_those_of_the_prompt_with_contexts_of_a_usual_length() -> None:
    few = estimate(QUESTIONS[:1], model(top_k=1), own_judge=False).input_tokens
    many = estimate(QUESTIONS[:1], model(top_k=11), own_judge=False).input_tokens
    assert few is not None
    assert many is not None
    # Ten more contexts of 800 characters, and as JSON two quotes, a comma, a line end and a blank around each.
    # Both are rounded down.
    assert many - few == pytest.approx(10 * 805 / 4, abs=1)


def test_a_later_turn_carries_the_earlier_ones() -> None:
    turns = in_conversation("refund", [QUESTIONS[0]] * 3)
    alone, *later = (estimate([turn], model(top_k=1), own_judge=False).input_tokens or 0 for turn in turns)
    # An answer of 500 characters and a context of 800 for each earlier turn.
    assert later[0] - alone > (500 + 800) / 4
    assert later[1] - later[0] > (500 + 800) / 4


def test_a_price_that_is_known_is_said() -> None:
    settings = model(judge_price=(1000.0, 0.0))
    estimated = estimate(QUESTIONS, settings, own_judge=False)
    assert estimated.usd == (estimated.input_tokens or 0) / 1000
    assert lines(settings)[-1] == f"price                about ${estimated.usd:.4f}"
    assert lines(settings)[:4] == [
        "dry run: nothing was asked",
        "questions            3",
        "calls to the system  3",
        "calls to the judge   3 to m at most, known verdicts none",
    ]


def test_a_price_that_is_not_known_is_not_zero() -> None:
    (price,) = [line for line in lines(model(judge_url="http://localhost:1/v1")) if line.startswith("price")]
    assert price.startswith("price                unknown: ")
    assert price.endswith("et rag_judge_price")


def test_judges_without_a_network_are_not_called_over_one() -> None:
    for settings in (Settings.of(judge="offline"), Settings.of(judge="none"), model(metrics=("overlap",))):
        assert lines(settings)[-1] == "calls to the judge   0 over the network"


def test_of_a_judge_of_the_users_own_nothing_is_known() -> None:
    assert lines(model(), own_judge=True)[-1] == "calls to the judge   unknown: a rag_judge fixture makes them"


def test_further_calls_of_metrics_are_named() -> None:
    assert lines(model(metrics=("judge", "ragas")))[-1].startswith("further              for RAGAS' metrics")
    assert lines(model(metrics=("judge", "citations")))[-1].startswith("further              for citations a call for")
