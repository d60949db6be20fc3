"""The mean test: judged today, every version, all saved runs, and only as far as it can matter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.summary.gate.procedure.compared_question import (
    ComparedQuestion,
    JudgeAnew,
    KnownRun,
    Look,
    Reply,
    Request,
)
from tests.summary.gate.procedure.outside import METRIC, Outside, decided, look, question, steady

if TYPE_CHECKING:
    from pytest_ragcheck.summary.gate.procedure.mean_test import MeanFinding


def reworded(number: int, before: float, now: float, **scores: float) -> ComparedQuestion:
    return question(number, before=look(f"{number} a", before), now=look(f"{number} b", now, **scores))


def mean_of(questions: list[ComparedQuestion], outside: Outside | None = None) -> MeanFinding | None:
    return decided(questions, outside=outside).mean


def test_a_drop_of_all_changed_answers_is_red_and_names_the_metric() -> None:
    questions = [reworded(n, 0.9, 0.8) for n in range(20)]
    found = mean_of(questions)
    assert found is not None
    assert found.red
    assert found.p == 1 / 2**20
    assert [each.metric for each in found.metrics] == [METRIC]
    assert found.drop == pytest.approx(0.1)


def test_recorded_scores_of_another_day_do_not_count() -> None:
    # The judge was 0.1 more lenient when the answers were saved; today it finds both alike.
    questions = [reworded(n, 0.9, 0.8) for n in range(20)]

    class Today(Outside):
        def __call__(self, request: Request) -> Reply:
            if isinstance(request, JudgeAnew):
                return tuple({METRIC: 0.8} for _ in request.answers)
            return super().__call__(request)

    found = mean_of(questions, Today(questions))
    assert found is not None
    assert found.drop == 0
    assert not found.red


def test_a_drop_below_the_tolerance_is_green() -> None:
    found = mean_of([reworded(n, 0.9, 0.895) for n in range(40)])
    assert found is not None
    assert found.p < 0.001
    assert not found.red


def test_questions_with_the_same_answer_cost_no_judgement_and_count_as_unchanged() -> None:
    questions = [*(reworded(n, 0.9, 0.8) for n in range(10)), *(steady(n) for n in range(10, 100))]
    outside = Outside(questions)
    found = mean_of(questions, outside)
    assert found is not None
    assert found.n_changed == 10
    # 10 changed answers in two versions, once and, because p is low and one metric is asserted, once more.
    assert outside.judged == 40
    assert found.drop == pytest.approx(0.01)


def test_a_fresh_judgement_of_today_is_used_once() -> None:
    fresh = [Look(answer=f"{n} b", scores={METRIC: 0.9}, passed=True, fresh=True) for n in range(10)]
    questions = [question(n, before=look(f"{n} a", 0.9), now=now) for n, now in enumerate(fresh)]
    outside = Outside(questions)
    assert mean_of(questions, outside) is not None
    assert outside.judged == 10


def test_a_metric_that_an_answer_cannot_have_moves_no_mean() -> None:
    # A refusal has no groundedness: over correctness alone, which both answers have, nothing changed.
    questions = [
        replace(
            reworded(n, 0.9, 0.9), thresholds={METRIC: 0.7, "groundedness": 0.7}, known=(KnownRun(looks=(before,)),)
        )
        for n, before in enumerate(look(f"{n} a", 0.9, groundedness=0.7 if n % 2 else 1.0) for n in range(20))
    ]
    found = mean_of(questions)
    assert found is not None
    assert (found.drop, found.red) == (0, False)


def test_so_few_changed_answers_that_no_drop_is_significant_are_not_judged() -> None:
    # 2^-7 is above 0.004, and 2^-8 is not.
    for count, can_be_red in ((7, False), (8, True)):
        questions = [*(reworded(n, 0.95, 0.75) for n in range(count)), *(steady(n) for n in range(count, 30))]
        outside = Outside(questions)
        assert (mean_of(questions, outside) is not None) is can_be_red
        assert bool(outside.judged) is can_be_red


def test_all_saved_runs_count() -> None:
    # One drop of 4 questions over 5 saved runs: 1/6^4 = 0.0008; over one run 1/2^4 says nothing.
    def of(runs: int) -> list[ComparedQuestion]:
        saved = [look(f"{{}} of {run}", 0.9) for run in range(runs)]
        return [
            *(
                ComparedQuestion(
                    key=("set", str(n)),
                    thresholds={METRIC: 0.7},
                    known=tuple(KnownRun(looks=(look(f"{n} {each.answer}", 0.9),)) for each in saved),
                    now=look(f"{n} today", 0.75),
                )
                for n in range(4)
            ),
            *(steady(n, runs=runs) for n in range(4, 12)),
        ]

    assert mean_of(of(1)) is None
    found = mean_of(of(5))
    assert found is not None
    assert found.red
    assert found.p == pytest.approx(1 / 6**4)


@pytest.mark.parametrize("size", [8, 12, 40])
def test_what_can_be_seen_is_never_more_than_the_mean_itself(size: int) -> None:
    # Half fell by 0.5 and half rose: so wide that no drop of few questions is seen.
    questions = [reworded(n, 0.9 if n % 2 else 0.4, 0.4 if n % 2 else 0.9) for n in range(size)]
    questions += [steady(n) for n in range(size, 12)]
    found = mean_of(questions)
    assert found is not None
    assert found.visible_drop is None or found.visible_drop < 0.65
    assert (found.visible_drop is None) is (size < 40)


def test_more_saved_runs_show_a_smaller_drop() -> None:
    # The differences are the same; their noise is known from five saved values each in place of one.
    def visible(runs: int) -> float:
        questions = [question(n, before=look(f"{n} a", 0.8), now=look(f"{n} b", 0.8), runs=runs) for n in range(10)]
        today = {each.now.answer: 0.8 + (0.1 if n % 2 else -0.1) for n, each in enumerate(questions)}

        class Noisy(Outside):
            def __call__(self, request: Request) -> Reply:
                assert isinstance(request, JudgeAnew)
                return tuple({METRIC: today.get(answer, 0.8)} for answer in request.answers)

        found = mean_of(questions, Noisy(questions))
        assert found is not None
        assert found.visible_drop is not None
        return found.visible_drop

    assert 0.1 < visible(5) < 0.85 * visible(1)


def test_answers_that_cannot_be_judged_leave_the_means_out() -> None:
    questions = [reworded(n, 0.9, 0.1) for n in range(20)]

    class Silent(Outside):
        def __call__(self, request: Request) -> Reply:
            return None if isinstance(request, JudgeAnew) else super().__call__(request)

    findings = decided(questions, outside=Silent(questions))
    assert findings.mean is None
    assert len(findings.not_measured) == 20


def test_a_metric_can_drop_alone() -> None:
    # Correctness drops by 0.018 and groundedness stays, so that their mean drops by less than the tolerance of 0.01.
    thresholds = {METRIC: 0.7, "groundedness": 0.7}
    questions = [
        replace(
            question(n, before=look(f"{n} a", 0.9, groundedness=0.9), now=look(f"{n} b", 0.882, groundedness=0.9)),
            thresholds=thresholds,
        )
        for n in range(20)
    ]
    outside = Outside(questions)
    found = mean_of(questions, outside)
    assert found is not None
    assert found.drop == pytest.approx(0.009)
    assert [each.metric for each in found.metrics] == [METRIC]
    assert found.red
    # Two metrics are two looks at each answer, so that each is judged once.
    assert outside.judged == 40


def test_the_drop_is_that_below_the_mean_of_the_saved_runs() -> None:
    questions = [
        replace(
            reworded(n, 0.9, 0.6),
            known=tuple(KnownRun(looks=(look(f"{n} {name}", score),)) for name, score in (("a", 0.9), ("c", 0.7))),
        )
        for n in range(12)
    ]
    found = mean_of(questions)
    assert found is not None
    assert found.drop == pytest.approx(0.2)
    assert found.p == pytest.approx(1 / 3**12)


@pytest.mark.parametrize(("changed", "visible"), [(1, None), (2, 0.01)])
def test_a_visible_drop_needs_two_changed_questions(changed: int, visible: float | None) -> None:
    # Both fell alike, so that nothing but the tolerance of 0.01 hides a drop.
    questions = [
        question(n, before=look(f"{n} a", 0.9), now=look(f"{n} b" if n < changed else f"{n} a", 0.8), runs=300)
        for n in range(10)
    ]
    found = mean_of(questions)
    assert found is not None
    assert found.n_changed == changed
    assert found.visible_drop == pytest.approx(visible)


def test_a_document_has_the_runs_that_all_its_questions_have() -> None:
    # Of each page one question has two saved runs, the other, which was added later, only one.
    questions = [
        question(
            n, before=look(f"{n} a", 0.9), now=look(f"{n} b", 0.8), runs=2 if n % 2 else 1, document=f"page {n // 2}"
        )
        for n in range(40)
    ]
    findings = decided(questions)
    assert findings.count is not None
    assert findings.count.unit == "document"
    assert findings.mean is not None
    assert findings.mean.p == 1 / 2**20
