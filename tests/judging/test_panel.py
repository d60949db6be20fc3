"""Several judgements of one answer: the combined judgement, and the recorded votes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pytest_ragcheck import JudgeError, JudgeIdentity, Judgement, Panel, RagAnswer, UsageError
from pytest_ragcheck.judging.panel import afresh, combined, judge_by_all
from tests.making import Judges, a_question

QUESTION = a_question(expected_answer="30 days")
ANSWER = RagAnswer(text="30 days.", contexts=("30 days.",))


class InTurn:
    """A judge whose judgements follow one another."""

    def __init__(self, *scores: float, reason: str = "") -> None:
        self._scores = list(scores)
        self._reason = reason

    async def judge(self, question: Any, answer: Any) -> Judgement:
        score = self._scores.pop(0)
        return Judgement(answer_correctness=score, groundedness=score, error_message=f"{self._reason}{score}")


def judged(judge: Any, **settings: Any) -> Judgement:
    async def run() -> Judgement:
        return await judge_by_all(QUESTION, ANSWER, judge, **settings)

    return asyncio.run(run())


def test_one_judgement_stays_as_it_is_and_has_no_votes():
    assert judged(InTurn(0.4)) == Judgement(
        answer_correctness=0.4, groundedness=0.4, error_message="0.4", abstained=False
    )


def test_repeats_come_to_their_median_and_all_are_kept_in_their_order():
    judgement = judged(InTurn(0.9, 0.2, 0.6), repeats=3)
    assert judgement.groundedness == 0.6
    assert judgement.error_message == "0.6"
    assert judgement.votes == {"answer_correctness": [0.9, 0.2, 0.6], "groundedness": [0.9, 0.2, 0.6]}
    assert judged(InTurn(0.2, 0.6), repeats=2).groundedness == pytest.approx(0.4)


def test_a_panel_takes_the_mean_or_what_more_than_half_reach():
    def panel(rule: Any) -> Judgement:
        return judged(Panel([InTurn(0.9), InTurn(0.2), InTurn(0.7)], rule))

    assert panel("mean").groundedness == pytest.approx(0.6)
    assert panel("majority").groundedness == 0.7


@pytest.mark.parametrize(
    ("scores", "score"),
    [((0.9, 0.2), 0.2), ((0.9, 0.8, 0.2, 0.1), 0.2), ((0.9, 0.8, 0.7, 0.1), 0.7), ((0.5, 0.5), 0.5)],
)
def test_by_majority_a_score_passes_exactly_if_more_than_half_of_the_scores_pass(scores, score):
    both = combined([Judgement(groundedness=value) for value in scores], "majority")
    assert both.groundedness == score
    for threshold in (0.1, 0.2, 0.5, 0.7, 0.8, 0.9):
        met = sum(value >= threshold for value in scores)
        assert (score >= threshold) is (2 * met > len(scores))


def test_repeats_of_a_panel_are_of_each_of_its_judges():
    judgement = judged(Panel([InTurn(0.1, 0.2, 0.3), InTurn(0.9, 0.8, 0.7)]), repeats=3)
    assert judgement.groundedness == pytest.approx(0.5)
    assert judgement.votes["groundedness"] == [0.1, 0.2, 0.3, 0.9, 0.8, 0.7]


def test_a_judgement_that_is_of_several_already_is_not_asked_for_again():
    votes = {"groundedness": [0.1, 0.5, 0.6]}
    recorded = Judges(groundedness=0.5, answer_correctness=None, votes=votes)
    assert judged(recorded, repeats=3).votes == votes
    assert len(recorded.judged) == 1


def test_a_score_that_one_does_not_give_is_that_of_the_others():
    judgement = combined([Judgement(groundedness=0.5), Judgement(groundedness=0.7, answer_correctness=0.1)], "mean")
    assert judgement.answer_correctness == 0.1
    assert judgement.votes == {"groundedness": [0.5, 0.7], "answer_correctness": [0.1]}
    assert combined([Judgement(), Judgement()], "mean") == Judgement()


@pytest.mark.parametrize(
    ("said", "together"), [((True, True, False), True), ((True, False), False), ((None, True), True), ((None,), None)]
)
def test_an_answer_abstains_where_more_than_half_of_those_who_say_so_do(said, together):
    assert combined([Judgement(abstained=each) for each in said], "mean").abstained is together


def test_the_reason_is_that_of_the_nearest_judgement_which_names_one():
    judgement = combined(
        [
            Judgement(groundedness=0.5, unsupported_claims=("a",)),
            Judgement(groundedness=0.5, error_message="Berlin is invented.", unsupported_claims=("b",)),
            Judgement(groundedness=0.1, error_message="All is invented."),
        ],
        "median",
    )
    assert (judgement.error_message, judgement.unsupported_claims) == ("Berlin is invented.", ("b",))


def test_it_is_of_an_earlier_run_only_if_all_of_it_is():
    assert combined([Judgement(cached=True), Judgement(cached=True)], "mean").cached
    assert not combined([Judgement(cached=True), Judgement()], "mean").cached


def test_a_judge_that_fails_fails_the_panel_and_the_repeats():
    failing = Judges(JudgeError("no reply"))
    for judge, repeats in ((Panel([Judges(groundedness=1.0), failing]), 1), (failing, 3)):
        with pytest.raises(JudgeError, match=r"^no reply$"):
            judged(judge, repeats=repeats)


def test_every_request_waits_for_room_of_its_own():
    waited = []

    async def run(request: Any) -> Judgement:
        waited.append(request)
        judgement: Judgement = await request()
        return judgement

    judged(Panel([InTurn(0.1, 0.2), InTurn(0.9, 0.8)]), repeats=2, run=run)
    assert len(waited) == 4


def test_a_panel_is_a_judge_that_says_who_sits_on_it():
    class Named(InTurn):
        identity = JudgeIdentity(kind="openai", model="m-1", prompt_version="en-2")

    panel = Panel([Named(0.2), Judges(groundedness=1.0, answer_correctness=1.0)], "majority")
    assert panel.identity == JudgeIdentity(kind="panel", model="majority of openai m-1, Judges", prompt_version="en-2")
    assert asyncio.run(panel.judge(QUESTION, ANSWER)).groundedness == 0.2
    assert panel.chat is None


def test_a_method_of_a_users_judge_named_like_one_of_the_cache_is_not_called():
    class Named(InTurn):
        def afresh(self) -> None:
            raise NotImplementedError

    judge = Named(0.2, 0.3)
    again = afresh(Panel([judge, judge]))
    assert isinstance(again, Panel)
    assert again.judges == (judge, judge)
    assert afresh(judge) is judge


def test_a_panel_closes_those_that_can_be_closed():
    class Plain(InTurn):
        closed = False

        def aclose(self) -> None:
            self.closed = True

    class Closing(InTurn):
        closed = False

        async def aclose(self) -> None:
            self.closed = True

    closing, plain = Closing(), Plain()
    asyncio.run(Panel([closing, InTurn(), plain]).aclose())
    assert closing.closed
    assert plain.closed


def test_a_judge_that_is_no_list_of_judges_is_refused():
    single: Any = None
    with pytest.raises(UsageError) as caught:
        Panel(single)
    assert str(caught.value) == "Panel: None is not a list of judges. Write Panel([first, second])."


def test_the_judges_of_a_panel_may_come_one_by_one():
    assert len(Panel(InTurn() for _ in range(2)).judges) == 2  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("judges", "rule", "text"),
    [
        (1, "mean", "Panel: a panel needs at least two judges, not 1."),
        (2, "median", "Panel: unknown rule 'median'. Choose one of mean, majority."),
    ],
)
def test_what_is_no_panel_is_refused(judges: int, rule: Any, text: str):
    with pytest.raises(UsageError) as caught:
        Panel([InTurn()] * judges, rule)
    assert str(caught.value) == text
