"""Tokens and money of a question: an unknown number is None, never 0."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck import Judgement, RagAnswer
from pytest_ragcheck.check import PreparedQuestion, check_question
from pytest_ragcheck.concurrency.limiter import NO_LIMIT, Limiter, StepLimiters
from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.engine.budget import Budget, BudgetedLimiter, OverBudget
from pytest_ragcheck.engine.limits.request_limiter import RequestLimiter
from pytest_ragcheck.engine.limits.slots import SharedTable
from pytest_ragcheck.judging.model.completion import TokenUse, metered, note_use, reported_use
from pytest_ragcheck.metrics.cost import Cost, has_table, price_usd, summed, system_cost, usd_of, with_judge
from pytest_ragcheck.summary.aggregate import aggregate
from tests.making import Answers, a_question, a_record, an_error, some_outcomes

if TYPE_CHECKING:
    from pathlib import Path

OWN = {"m": (1.0, 10.0)}
USE = TokenUse(model="m", url="http://j", input_tokens=1000, output_tokens=100)
# 1000 tokens at $1 and 100 at $10 a million.
USD = 0.002


@pytest.mark.parametrize(
    ("extra", "cost"),
    [
        ({}, Cost()),
        ({"metrics": None, "usage": []}, Cost()),
        (
            {"metrics": {"input_tokens": 7, "output_tokens": 2, "cost_usd": 0.5}},
            Cost(system_input_tokens=7, system_output_tokens=2, system_usd=0.5),
        ),
        (
            {"usage": {"prompt_tokens": 7, "completion_tokens": 0}},
            Cost(system_input_tokens=7, system_output_tokens=0),
        ),
        ({"metrics": {"input_tokens": -1, "output_tokens": "2", "cost_usd": True}}, Cost()),
        ({"metrics": {"input_tokens": float("nan"), "cost_usd": float("inf")}}, Cost()),
    ],
)
def test_a_system_says_in_its_reply_what_it_used(extra: dict[str, Any], cost: Cost) -> None:
    assert system_cost(extra) == cost


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        ({"prompt_tokens": 7, "completion_tokens": 0}, (7, 0)),
        ({"input_tokens": 7, "output_tokens": 0}, (7, 0)),
        ({"prompt_tokens": None, "completion_tokens": -1}, (None, None)),
        ({"prompt_tokens": True, "completion_tokens": "3"}, (None, None)),
        ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, (None, None)),
        ({"prompt_tokens": 0, "completion_tokens": 9}, (None, 9)),
        (None, (None, None)),
    ],
)
def test_a_server_that_does_not_say_what_was_used_leaves_it_unknown(usage: Any, tokens: tuple[int | None, ...]) -> None:
    for reply in (SimpleNamespace(usage=SimpleNamespace(**usage) if usage else None), {"usage": usage}):
        use = reported_use(reply, model="m", url=None)
        assert (use.input_tokens, use.output_tokens) == tokens
    assert reported_use("html", model="m", url=None).input_tokens is None


@pytest.mark.parametrize(
    ("further", "written"),
    [
        ({}, 100),
        ({"total_tokens": 1100}, 100),
        ({"total_tokens": 1100, "completion_tokens_details": {"reasoning_tokens": 60}}, 100),  # OpenAI
        ({"total_tokens": 1700}, 700),  # Gemini
        ({"total_tokens": 1700, "completion_tokens_details": {"reasoning_tokens": 600}}, 700),  # xAI
        ({"total_tokens": 1700, "completion_tokens": None}, 700),
        # Tokens from a cache are input.
        ({"total_tokens": 1700, "cache_read_input_tokens": 400, "cache_creation_input_tokens": 200}, 100),
        ({"total_tokens": 0}, 100),
        ({"total_tokens": "1700"}, 100),
    ],
)
def test_reasoning_that_only_the_total_counts_is_output(further: dict[str, Any], written: int) -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, **further}
    use = reported_use({"usage": usage}, model="m", url=None)
    assert (use.input_tokens, use.output_tokens) == (1000, written)


@pytest.mark.parametrize(("reported", "cached"), [(6, 6), (0, 0), (8, None), (-1, None), ("6", None)])
def test_cached_tokens_are_a_part_of_the_input(reported: Any, cached: int | None) -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": reported}}
    assert reported_use({"usage": usage}, model="m", url=None).cached_tokens == cached


def test_meters_of_questions_that_run_at_once_do_not_mix() -> None:
    async def question(number: int) -> list[TokenUse]:
        with metered() as uses:
            await asyncio.sleep(0)
            with metered() as inner:
                note_use(TokenUse(model=f"m{number}", url=None))
                await asyncio.sleep(0)
            assert inner == uses
            return uses

    async def both() -> list[list[TokenUse]]:
        return list(await asyncio.gather(question(1), question(2)))

    assert [[use.model for use in uses] for uses in asyncio.run(both())] == [["m1"], ["m2"]]
    note_use(USE)  # no meter is open


def test_a_sum_with_an_unknown_part_is_unknown() -> None:
    assert with_judge(Cost(), [], OWN) == Cost()
    both = with_judge(Cost(system_usd=1.0), [USE, USE], OWN)
    assert both == Cost(
        asked_judge=True, judge_input_tokens=2000, judge_output_tokens=200, judge_usd=2 * USD, system_usd=1.0
    )
    unknown = with_judge(Cost(), [USE, TokenUse(model="other", url="http://j", input_tokens=1)], OWN)
    assert unknown == Cost(asked_judge=True, judge_input_tokens=1001)
    assert summed([Cost(system_usd=1.0), Cost(system_usd=2.0)]) == Cost(system_usd=3.0)
    assert summed([Cost(system_usd=1.0), Cost()]) == Cost()
    # An earlier turn of a conversation is not judged.
    turns = [Cost(system_usd=1.0), Cost(asked_judge=True, judge_usd=2.0, system_usd=1.0)]
    assert summed(turns) == Cost(asked_judge=True, judge_usd=2.0, system_usd=2.0)
    assert summed([*turns, Cost(asked_judge=True, system_usd=1.0)]) == Cost(asked_judge=True, system_usd=3.0)


def test_a_recorded_use_costs_what_it_cost_then() -> None:
    assert (
        usd_of(TokenUse(model="m", url=None, input_tokens=1, output_tokens=1, recorded=True, recorded_usd=0.5), OWN)
        == 0.5
    )
    assert usd_of(TokenUse(model="m", url=None, input_tokens=1, output_tokens=1, recorded=True), OWN) is None


@pytest.mark.skipif(not has_table(), reason="genai-prices is not installed")
def test_the_table_has_prices_of_providers_and_none_of_servers_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    million = partial(price_usd, input_tokens=1_000_000, output_tokens=1_000_000, own={})
    known = million("gpt-4o-mini", None)
    assert known is not None
    assert known > 0
    assert million("gpt-4o-mini", "https://api.openai.com/v1") == known
    assert million("gpt-4o-mini", "http://localhost:11434/v1") is None
    assert million("no-such-model", None) is None
    use = TokenUse(model="gpt-4o-mini", url=None, input_tokens=1_000_000, output_tokens=1_000_000)
    cheaper = usd_of(replace(use, cached_tokens=500_000), {})
    assert cheaper is not None
    assert 0 < cheaper < known
    assert usd_of(replace(use, cached_tokens=500_000), {"gpt-4o-mini": (1.0, 2.0)}) == 3.0
    assert million("gpt-4o-mini", None, own={"gpt-4o-mini": (1.0, 2.0)}) == 3.0


class Metered:
    """A judge that uses tokens, as a language model does."""

    async def judge(self, question: Any, answer: RagAnswer) -> Judgement:
        note_use(USE)
        return Judgement(answer_correctness=1.0, groundedness=1.0)


PRICED = Settings.of(judge_model="m", judge_price=OWN["m"])
ANSWER = RagAnswer(text="30 days", contexts=("30 days",), extra={"metrics": {"cost_usd": 0.25}})


def checked(settings: Settings = PRICED, judging: Limiter = NO_LIMIT) -> Any:
    question = a_question(expected_answer="30 days")
    prepared = PreparedQuestion(question=question, client=Answers(ANSWER), judge=Metered(), settings=settings)
    return check_question(prepared, StepLimiters(judging=judging))


def test_a_record_says_what_its_question_cost() -> None:
    record = asyncio.run(checked())
    assert record.cost.known() == {
        "judge_input_tokens": 1000, "judge_output_tokens": 100, "judge_usd": USD, "system_usd": 0.25,
    }  # fmt: skip
    assert type(record).from_json(record.to_json()) == record


def test_asked_several_times_it_cost_as_much_more() -> None:
    settings = Settings.of(judge_model="m", judge_price=OWN["m"], repeats=2, judge_repeats=3)
    cost = asyncio.run(checked(settings)).cost
    assert (cost.judge_input_tokens, cost.system_usd) == (6000, 0.5)


def test_the_summary_adds_up_the_questions_with_a_verdict() -> None:
    cost = Cost(asked_judge=True, judge_input_tokens=10, judge_output_tokens=1, judge_usd=0.5, system_usd=0.25)
    outcomes = some_outcomes(
        a_record("a", cost=cost),
        a_record("b", cost=Cost(system_usd=0.25), verdict_cached=True),
        an_error("c", cost=cost),
    )
    sums = {name: value for name, value in aggregate(outcomes).totals.performance.items() if "latency" not in name}
    assert sums == {
        "judge_input_tokens": 10, "judge_output_tokens": 1, "judge_cost_usd": 0.5, "system_cost_usd": 0.5,
        "cost_usd": 1.0,
    }  # fmt: skip
    assert aggregate(some_outcomes(a_record("a"))).totals.performance == {}


def test_a_budget_lets_nothing_begin_once_it_is_spent() -> None:
    budget = Budget(1.5 * USD, OWN)
    room = BudgetedLimiter(budget, RequestLimiter(1))

    async def run() -> None:
        for _ in range(2):
            await checked(judging=room)
        with pytest.raises(OverBudget) as caught:
            await checked(judging=room)
        assert str(caught.value) == "not run: --rag-max-cost of $0.003 is reached (spent $0.0040: judge $0.0040)"

    asyncio.run(run())
    with pytest.raises(OverBudget):
        budget.check()


def test_budgets_of_several_processes_add_up_in_their_table(tmp_path: Path) -> None:
    here, there = (Budget(1.0, OWN, table=SharedTable(tmp_path / "budget")) for _ in range(2))
    here.spend(0.4)
    there.spend_on([], "preflight")
    there.spend(0.35, "judge")
    here.check()
    there.spend(0.25)
    with pytest.raises(OverBudget, match=re.escape("(spent $1.0000: judge $0.3500, system $0.6500)")):
        here.check()


def test_what_is_not_known_and_what_was_recorded_is_not_counted() -> None:
    budget = Budget(USD, OWN)
    budget.spend_on([TokenUse(model="m", url=None), TokenUse(model="m", url=None, recorded=True, recorded_usd=9.0)])
    budget.spend(None)
    budget.check()
