"""A question that is asked several times: its combined record, and the parts of the variance."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from pytest_ragcheck import GoldPassage, Judgement, Question, RagAnswer, Settings, Verdict
from pytest_ragcheck.check import PreparedQuestion, check_question
from pytest_ragcheck.errors import EndpointTimeout, JudgeError
from pytest_ragcheck.metrics.metric_choice import choose_metrics
from pytest_ragcheck.verdict.record import Record
from pytest_ragcheck.verdict.repeats import Variance, spread, variances
from tests.making import a_question

QUESTION = a_question(expected_answer="30 days")


def about(value: float) -> Any:
    return pytest.approx(value)


class InTurn:
    """A system whose answers follow one another; an exception among them is raised."""

    def __init__(self, *answers: Any) -> None:
        self.left = list(answers)

    async def ask(self, question: Any) -> RagAnswer:
        answer = self.left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        ids = ("pay.md#1" if "leak" in answer else "terms.md",)
        return RagAnswer(text=answer, contexts=("30 days.",), source_ids=ids, latency_seconds=float(len(answer)))


class ByAnswer:
    """A judge that has its judgements of each answer in turn."""

    def __init__(self, **scores: list[float]) -> None:
        self._scores = scores

    async def judge(self, question: Any, answer: RagAnswer) -> Judgement:
        score = self._scores[answer.text].pop(0)
        return Judgement(answer_correctness=1.0, groundedness=score, error_message=f"{answer.text} is bad")


def checked(system: InTurn, judge: Any, question: Question = QUESTION, **settings: Any) -> Record:
    chosen = Settings.of(judge="openai", **settings)

    prepared = PreparedQuestion(
        question=question, client=system, judge=judge, metrics=choose_metrics(chosen), settings=chosen
    )
    return asyncio.run(check_question(prepared))


def test_a_question_that_is_asked_once_and_judged_once_has_nothing_repeated():
    record = checked(InTurn("a"), ByAnswer(a=[0.9]))
    assert (record.repeated, record.unstable) == ({}, {})


class Alternating:
    """A judge that scores correctness and groundedness as the answer spells them, 0 or 1."""

    async def judge(self, question: Any, answer: RagAnswer) -> Judgement:
        correctness, groundedness = map(float, answer.text.split())
        return Judgement(answer_correctness=correctness, groundedness=groundedness, error_message=answer.text)


@pytest.mark.parametrize(
    ("answers", "verdict"),
    [
        # The medians of both scores are 1.
        (("0 1", "1 0", "1 1", "0 1", "1 0"), Verdict.FAIL),
        (("0 1", "1 0", "1 1"), Verdict.FAIL),
        (("0 1", "1 0", "1 1", "1 1"), Verdict.PASS),
        (("0 1", "1 1", "1 1"), Verdict.PASS),
    ],
)
def test_most_answers_decide_if_each_fails_another_score(answers: tuple[str, ...], verdict: Verdict):
    record = checked(InTurn(*answers), Alternating(), repeats=len(answers))
    assert record.verdict is verdict
    failed = sum("0" in answer for answer in answers)
    if verdict is Verdict.FAIL:
        assert record.reason == f"{failed} of {len(answers)} answers failed, in different scores: 0 1"
        assert (record.answer, record.shortfalls) == ("0 1", {"answer_correctness": 0.0})
    assert record.repeated["groundedness"] == tuple((float(answer[2]),) for answer in answers)


def test_repeated_judgements_give_their_median_and_a_large_spread_is_unstable():
    record = checked(InTurn("a"), ByAnswer(a=[0.9, 0.5, 0.6]), judge_repeats=3)
    assert record.verdict is Verdict.FAIL
    assert record.scores["groundedness"].value == 0.6
    assert record.repeated["groundedness"] == ((0.9, 0.5, 0.6),)
    assert record.unstable == {"groundedness": pytest.approx(0.4)}
    assert record.text().splitlines()[1] == "unstable: groundedness is 0.50 to 0.90 in 3 judgements"
    assert Record.from_json(record.to_json()).repeated == record.repeated


def test_a_spread_within_the_limit_is_stable():
    assert checked(InTurn("a"), ByAnswer(a=[0.9, 0.8]), judge_repeats=2).unstable == {}


def test_repeated_answers_come_to_their_median_and_show_the_one_that_is_nearest():
    system = InTurn("aaa", "b", "cc")
    record = checked(system, ByAnswer(aaa=[0.9], b=[0.2], cc=[0.4]), repeats=3)
    assert system.left == []
    assert record.verdict is Verdict.FAIL
    assert (record.answer, record.latency_seconds, record.reason) == ("cc", 2.0, "cc is bad")
    assert record.repeated["groundedness"] == ((0.9,), (0.2,), (0.4,))
    assert record.repeated["f1"] == ((0.0,), (0.0,), (0.0,))
    assert "unstable: groundedness is 0.20 to 0.90 in 3 judgements of 3 answers" in record.text()


def test_most_of_the_answers_being_good_is_a_pass():
    record = checked(InTurn("a", "b", "a"), ByAnswer(a=[0.9, 0.9], b=[0.1]), repeats=3)
    assert (record.verdict, record.answer, record.reason) == (Verdict.PASS, "a", "")


GUARDED = a_question(expected_answer="30 days", must_not_retrieve=("pay.md",), must_not_mention=("secret",))


def test_a_prohibition_that_one_of_the_answers_breaks_is_a_fail():
    judge = ByAnswer(a=[0.9, 0.9], leak=[0.9])
    record = checked(InTurn("a", "leak", "a"), judge, GUARDED, repeats=3)
    assert (record.verdict, record.answer) == (Verdict.FAIL, "leak")
    assert record.text().splitlines()[0] == (
        "must_not_retrieve 0.00 < 1.00: must_not_retrieve is broken in 1 of 3 attempts; "
        "the contexts leak 'pay.md' (the id pay.md#1 is at rank 1)"
    )
    assert record.repeated["must_not_retrieve"] == ((1.0,), (0.0,), (1.0,))


def test_in_the_tier_retrieval_the_contexts_leak():
    question = a_question(
        tier="retrieval", gold_passages=(GoldPassage(doc_id="terms.md"),), must_not_retrieve=["pay.md"]
    )
    record = checked(InTurn("a", "leak"), None, question, repeats=2)
    assert record.reason.startswith(
        "must_not_retrieve is broken in 1 of 2 attempts; the contexts leak 'pay.md' (the id pay.md#1 is at rank 1)"
    )


def test_the_answer_that_breaks_a_prohibition_is_shown_whatever_its_other_scores():
    judge = ByAnswer(a=[0.1], b=[0.1], **{"secret leak": [1.0]})
    record = checked(InTurn("a", "b", "secret leak"), judge, GUARDED, repeats=3)
    assert record.answer == "secret leak"
    assert record.reason.startswith(
        "must_not_mention is broken in 1 of 3 attempts; must_not_retrieve is broken in 1 of 3 attempts; "
    )


def test_an_error_hides_no_broken_prohibition():
    down = EndpointTimeout("no reply within 60 s", url="canned")
    record = checked(InTurn("leak", down), ByAnswer(leak=[0.9]), GUARDED, repeats=3)
    assert record.verdict is Verdict.FAIL
    assert "broken in 1 of 2 attempts" in record.reason
    assert checked(InTurn("a", down), ByAnswer(a=[0.9]), GUARDED, repeats=3).verdict is Verdict.ERROR


def test_a_leak_beside_a_failed_judge_is_a_fail_of_all_answers():
    class Failing(ByAnswer):
        async def judge(self, question: Any, answer: RagAnswer) -> Judgement:
            if answer.text == "leak":
                raise JudgeError("no quota")
            return await super().judge(question, answer)

    record = checked(InTurn("leak", "a"), Failing(a=[0.9]), GUARDED, repeats=2)
    assert (record.verdict, record.answer, record.error_kind) == (Verdict.FAIL, "leak", "")
    assert record.reason == (
        "must_not_retrieve is broken in 1 of 2 attempts; the contexts leak 'pay.md' (the id pay.md#1 is at rank 1); "
        "answer_correctness and groundedness could not be measured: no quota"
    )
    every = checked(InTurn("leak", "leak"), Failing(), GUARDED, repeats=2)
    assert (every.verdict, every.reason) == (Verdict.FAIL, record.reason.replace("1 of 2", "2 of 2"))


def test_an_answer_that_fails_to_come_is_an_error_and_ends_the_asking():
    system = InTurn("a", EndpointTimeout("no reply within 60 s", url="canned"), "a")
    record = checked(system, ByAnswer(a=[0.9, 0.9]), repeats=3)
    assert (record.verdict, record.error_kind) == (Verdict.ERROR, "endpoint_timeout")
    assert system.left == ["a"]


def test_the_spread_is_over_all_values():
    assert spread(((0.5, 0.75), (0.25,))) == 0.5


def test_the_variance_is_split_by_hand():
    # Within the answers: var(0.4, 0.6) = 0.02 and var(0.8, 0.8) = 0, mean 0.01. Between their means 0.5 and 0.8:
    # 0.045, of which 0.01 / 2 is the judge's.
    split = variances([{"groundedness": ((0.4, 0.6), (0.8, 0.8))}])
    assert split == {"groundedness": Variance(judge=about(0.01), system=about(0.04))}


def test_what_was_not_repeated_has_no_variance():
    assert variances([{"f1": ((0.5,), (0.7,))}]) == {"f1": Variance(judge=None, system=about(0.02))}
    assert variances([{"f1": ((0.5, 0.7),)}]) == {"f1": Variance(judge=about(0.02), system=None)}
    assert variances([{"f1": ((0.5,),)}]) == {}


def test_a_judge_that_explains_it_all_leaves_the_system_nothing():
    assert variances([{"f1": ((0.0, 1.0), (1.0, 0.0))}])["f1"].system == 0.0


def test_the_split_finds_what_a_simulation_put_in():
    rng = random.Random(7)
    questions = []
    for _ in range(4000):
        answers = [rng.gauss(0.5, 0.2) for _ in range(3)]
        questions.append({"m": tuple(tuple(rng.gauss(answer, 0.1) for _ in range(3)) for answer in answers)})
    split = variances(questions)["m"]
    assert split.judge == pytest.approx(0.01, rel=0.05)
    assert split.system == pytest.approx(0.04, rel=0.05)
