"""The decision over whole runs: collapses are red, drift is not, and only asserted metrics count."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_ragcheck.summary.gate.procedure.compared_question import (
    AskAgain,
    ComparedQuestion,
    JudgeAnew,
    KnownRun,
    Look,
    Outcome,
    Reply,
    Request,
)
from tests.summary.gate.procedure.outside import (
    METRIC,
    THRESHOLD,
    Outside,
    broke,
    decided,
    gate,
    look,
    question,
    steady,
)


@pytest.mark.parametrize(
    "questions",
    [
        [broke(n, document="handbook") for n in range(40)],
        [(broke if n % 10 < 4 and n < 175 else steady)(n, document=f"page {n // 10}") for n in range(200)],
        [broke(n) for n in range(8)],
        [broke(n, document=f"page {n}") for n in range(10)],
        [(broke if n < 10 else steady)(n, document="page" if n < 3 else "") for n in range(25)],
        [(broke if n < 8 else steady)(n) for n in range(40)],
        [(broke if n < 10 else steady)(n, document=f"page {n // 10}") for n in range(200)],
    ],
    ids=["one document", "70 of 200", "8 of 8", "10 of 10", "10 of 25", "8 of 40", "a lost document"],
)
def test_a_collapse_is_red_from_one_saved_run(questions: list[ComparedQuestion]) -> None:
    findings = decided(questions)
    assert findings.red
    assert len(findings.confirmed) == sum(not each.now.passed for each in questions)


def test_six_broken_questions_are_red_from_one_saved_run_and_fewer_from_more() -> None:
    for runs, needed in ((1, 6), (2, 4), (5, 3)):
        for count in (needed - 1, needed):
            questions = [(broke if n < count else steady)(n, runs=runs) for n in range(30)]
            # Changed answers of so few questions cannot move a mean, so that the count test has all false alarms.
            assert decided(questions).red is (count == needed), (runs, count)


@pytest.mark.parametrize(
    ("saved", "confirmed"),
    [
        # Five failures after p passes and f failures have a chance of C(f + 5, 5) / C(p + f + 6, 5).
        ("p fp", True),  # C(6, 5) / C(9, 5) = 6 / 126 = 0.048
        ("p p f", True),
        ("p p p p fp", True),
        ("p fp fp", True),  # C(7, 5) / C(11, 5) = 21 / 462 = 0.045
        ("p f fp", False),  # C(7, 5) / C(10, 5) = 21 / 252 = 0.083
        ("p f", False),  # C(6, 5) / C(8, 5) = 6 / 56 = 0.11
        # Today has the answer that was recorded last.
        ("p p s", False),
        ("f fp", False),
        ("p p p p ff", False),
        ("p p p p f f", False),
    ],
)
@pytest.mark.parametrize("gate", ["confirmed", "regression"])
def test_a_flaky_question_is_confirmed_if_it_fails_more_than_its_saved_runs_explain(
    saved: str, gate: str, *, confirmed: bool
) -> None:
    looks = {"p": look("right", 0.9), "f": look("wrong, too", 0.2), "s": look("wrong", 0.2)}
    known = tuple(KnownRun(looks=tuple(map(looks.__getitem__, run))) for run in saved.split())
    flaky = replace(broke(0), known=known, now=looks["s"])
    others = [steady(n) for n in range(1, 12)]
    asked = Outside([flaky, *others])
    findings = decided([flaky, *others], name=gate, outside=asked)
    assert findings.confirmed == ((flaky.key,) if confirmed else ())
    assert findings.red is (confirmed and gate == "confirmed")
    n_asked = sum(isinstance(request, AskAgain) for request in asked.served)
    assert n_asked == (4 if confirmed else 0)
    passing = replace(flaky, now=looks["p"])
    assert not decided([passing, *others], name=gate).confirmed


def test_a_more_lenient_judge_hides_no_wrong_answer() -> None:
    questions = [
        broke(n) if n < 8 else question(n, before=look(f"{n} a", 0.9), now=look(f"{n} b", 0.93)) for n in range(40)
    ]
    assert decided(questions, outside=Outside(questions, shift=0.03)).red


def test_a_stricter_judge_of_the_same_answers_is_never_asked() -> None:
    questions = [steady(n, score=0.71) for n in range(100)]
    outside = Outside(questions, shift=-0.03)
    findings = decided(questions, outside=outside)
    assert not findings.red
    assert outside.served == []


def test_a_stricter_judge_of_new_words_is_named_and_confirms_nothing() -> None:
    # Judged 0.72 when it was saved and 0.69 today, the recorded answer as well as the new one.
    questions = [question(n, before=look(f"{n} a", 0.72), now=look(f"{n} b", 0.69)) for n in range(40)]

    def stricter(request: Request) -> Reply:
        if isinstance(request, AskAgain):
            return questions[int(request.key[1])].now
        return tuple({METRIC: 0.69} for _ in request.answers)

    findings = gate(questions, stricter)
    assert {each.outcome for each in findings.candidates} == {Outcome.JUDGE_STRICTER}
    assert not findings.red


def test_a_recorded_failure_that_the_judge_passes_today_is_not_confirmed() -> None:
    # The system alternates between two answers. One was judged 0.69 when it was saved, and keeps that verdict today.
    good, other = look("good", 0.9), look("other", 0.69)
    alternating = ComparedQuestion(
        key=("set", "0"),
        thresholds={METRIC: THRESHOLD},
        known=(KnownRun(looks=(other,)), KnownRun(looks=(good,))),
        now=other,
    )

    def lenient(request: Request) -> Reply:
        if isinstance(request, AskAgain):
            return other
        return tuple({METRIC: 0.9 if answer == "good" else 0.75} for answer in request.answers)

    findings = gate([alternating, *(steady(n) for n in range(1, 20))], lenient, name="confirmed")
    assert [each.outcome for each in findings.candidates] == [Outcome.NOT_WORSE]
    assert not findings.red


def test_only_asserted_metrics_can_be_red() -> None:
    questions = [
        question(n, before=look(f"{n} a", 0.9, token_f1=0.9), now=look(f"{n} b", 0.9, token_f1=0.1)) for n in range(100)
    ]
    assert not decided(questions).red


def test_a_question_that_passes_when_asked_again_is_not_confirmed() -> None:
    questions = [broke(0), *(steady(n) for n in range(1, 20))]
    outside = Outside(questions, again={"0": look("0 right again", 0.9)})
    findings = decided(questions, outside=outside)
    assert [each.outcome for each in findings.candidates] == [Outcome.PASSED_AGAIN]
    assert len(outside.served) == 1


@pytest.mark.parametrize(("again", "asks"), [([0.9], 2), ([0.9, 0.9], 2), ([0.9, 0.2], 4)])
def test_a_question_with_looks_that_differ_is_asked_again_more_often(again: list[float], asks: int) -> None:
    seen = KnownRun(looks=tuple(look("0 right", score) for score in again))
    questions = [replace(broke(0), known=(seen,)), *(steady(n) for n in range(1, 30))]
    outside = Outside(questions)
    decided(questions, outside=outside)
    assert sum(isinstance(request, AskAgain) for request in outside.served) == asks


def test_a_candidate_that_cannot_be_asked_again_is_no_regression_and_is_listed() -> None:
    questions = [broke(0), *(steady(n) for n in range(1, 20))]
    findings = decided(questions, outside=Outside(questions, again={"0": None}))
    assert findings.not_measured == (("set", "0"),)
    assert not findings.red


def test_under_confirmed_one_broken_question_is_red_after_four_further_asks() -> None:
    questions = [broke(0), *(steady(n) for n in range(1, 100))]
    outside = Outside(questions)
    findings = decided(questions, name="confirmed", outside=outside)
    assert findings.red
    assert (findings.count, findings.mean) == (None, None)
    assert sum(isinstance(request, AskAgain) for request in outside.served) == 4
    assert outside.judged == 10


def test_only_recorded_answers_with_a_text_are_judged_side_by_side() -> None:
    broken = [question(n, before=look(None, 0.9), now=look(f"{n} wrong", 0.2)) for n in range(3)]
    broken[2] = replace(broken[2], known=(KnownRun(looks=(look("2 right", 0.9), look(None, 0.9))),))
    outside = Outside(broken)
    assert len(decided(broken, name="confirmed", outside=outside).confirmed) == 3
    assert {request.key for request in outside.served if isinstance(request, JudgeAnew)} == {broken[2].key}


def test_a_known_failure_may_fail_under_confirmed() -> None:
    failing = look("0 wrong", 0.2)
    questions = [question(0, before=failing, now=look("0 wrong otherwise", 0.1)), steady(1)]
    assert not decided(questions, name="confirmed").red


@pytest.mark.parametrize(("size", "name"), [(9, "confirmed"), (10, "regression")])
def test_a_set_of_fewer_than_ten_questions_is_decided_as_under_confirmed(size: int, name: str) -> None:
    questions = [broke(0), *(steady(n) for n in range(1, size))]
    findings = decided(questions)
    assert findings.gate == name
    assert findings.red is (name == "confirmed")


def test_what_breaks_beside_what_was_broken_in_the_saved_run_is_noise() -> None:
    failed = KnownRun(looks=tuple(look(f"bad {n}", 0.2) for n in range(3)))
    mended = [
        ComparedQuestion(
            key=("set", str(n)), thresholds={METRIC: THRESHOLD}, known=(failed,), now=look(f"good {n}", 0.9)
        )
        for n in range(6, 12)
    ]
    questions = [*(broke(n) for n in range(6)), *mended, *(steady(n) for n in range(12, 100))]
    answers: dict[str | None, Look] = {each.now.answer: each.now for each in questions}
    answers |= {each.answer: each for one in questions for run in one.known for each in run.looks}

    def serve(request: Request) -> Reply:
        if isinstance(request, AskAgain):
            return questions[int(request.key[1])].now
        return tuple(answers[answer].scores for answer in request.answers)

    findings = gate(questions, serve)
    assert findings.count is not None
    assert (findings.count.broken, findings.count.improved) == (6, 6)
    assert not findings.red


def test_the_set_says_how_many_broken_questions_it_can_show() -> None:
    found = decided([steady(n) for n in range(30)]).count
    assert found is not None
    assert found.needed == 6
    few = decided([steady(n, document=f"page {n // 10}") for n in range(30)]).count
    assert few is not None
    assert (few.unit, few.needed) == ("question", 6)


def test_documents_are_the_units_if_answers_elsewhere_changed_too() -> None:
    # Of 5 documents one is wrong and all others are worded otherwise: too few units to show anything.
    questions = [
        broke(n, document="page 0")
        if n < 10
        else question(n, before=look(f"{n} a", 0.9), now=look(f"{n} b", 0.9), document=f"page {n // 10}")
        for n in range(50)
    ]
    found = decided(questions).count
    assert found is not None
    assert (found.unit, found.broken, found.needed) == ("document", 1, None)


def test_half_of_a_set_that_breaks_in_one_of_two_documents_is_red_by_its_share() -> None:
    # All other answers changed too, so that the document is the unit, and two documents prove nothing.
    questions = [
        broke(n, document="page 0")
        if n < 20
        else question(n, before=look(f"{n} a", 0.9), now=look(f"{n} b", 0.9), document="page 1")
        for n in range(40)
    ]
    findings = decided(questions)
    assert findings.count is not None
    assert (findings.count.unit, findings.count.needed) == ("document", None)
    # (c - u)^2 >= 9 (c + u) from 9 on, and a fifth of 40 is 8.
    assert (findings.count.floor, findings.count.floor_red) == (9, True)
    assert findings.red


def test_questions_that_failed_in_the_latest_run_raise_the_floor_even_if_they_are_flaky() -> None:
    # They passed in the first run and failed in the second in one look of two, so that they show no improvement.
    passed, flaky = KnownRun(looks=(look("good", 0.9),)), KnownRun(looks=(look("bad", 0.2), look("bad", 0.2)))
    known = (flaky, passed, flaky)
    returned = [
        ComparedQuestion(key=("set", str(n)), thresholds={METRIC: THRESHOLD}, known=known, now=look("good", 0.9))
        for n in range(3)
    ]
    found = decided([*returned, *(steady(n, runs=3) for n in range(3, 30))]).count
    assert found is not None
    assert (found.improved, found.floor) == (0, 17)  # 3 + (9 + sqrt(81 + 72 * 3)) / 2, rounded up


def test_questions_added_later_count_beside_those_with_more_saved_runs() -> None:
    # (1/2)^6 = 0.016 is the least p of six questions with one saved run: as red as in a set of their own.
    for count in (5, 6):
        added = [(broke if n < count else steady)(n) for n in range(8)]
        assert decided([*added, *(steady(n, runs=5) for n in range(8, 100))]).red is (count == 6)


def test_a_broken_question_more_is_never_less_evidence() -> None:
    # (1/6)^3 * 1/2 = 0.0023: three questions with five saved runs and one with a single run.
    old = [broke(n, runs=5) for n in range(3)]
    steadily = [steady(n, runs=5) for n in range(4, 50)]
    for questions in ([*old, steady(3), *steadily], [*old, broke(3), *steadily]):
        findings = decided(questions)
        assert findings.count is not None
        assert findings.count.red
        assert findings.count.needed == findings.count.broken
        assert findings.count.p == pytest.approx(1 / (216 if findings.count.broken == 3 else 432))


def test_a_set_of_too_few_passing_questions_cannot_be_red_by_counts_and_says_so() -> None:
    for passing in (5, 6, 9):
        failing = [question(n, before=look(f"{n}", 0.2), now=look(f"{n}", 0.2)) for n in range(passing, 40)]
        findings = decided([*(steady(n) for n in range(passing)), *failing])
        assert findings.count is not None
        assert findings.count.needed == (None if passing == 5 else 6)
        assert findings.count.floor == (9 if passing == 9 else None)
