"""Differences that make a run and a baseline incomparable, and lost scores, which are red only beyond chance."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pytest_ragcheck.judging.judgement import JudgeIdentity
from pytest_ragcheck.summary.gate.baseline_comparison import compare
from pytest_ragcheck.summary.gate.baseline_reader import Baseline, BaselineRow
from pytest_ragcheck.summary.gate.comparability import LostScores, differences, lost_scores
from pytest_ragcheck.summary.gate.gate_replies import Change
from pytest_ragcheck.summary.gate.saved_answer import SavedAnswer
from pytest_ragcheck.summary.run_outcomes import GateRules
from pytest_ragcheck.verdict.verdict import Verdict
from tests.making import a_question, a_record, some_outcomes

ROW: dict[str, Any] = {
    "dataset_name": "billing",
    "id": "a",
    "question": "What about a?",
    "verdict": Verdict.PASS,
    "metrics": {"f1": 1.0},
    "prompt_version": "offline-1",
    "judge": JudgeIdentity(kind="offline", prompt_version="offline-1"),
    "tier": "end_to_end",
    "top_k": 5,
}
NOW: dict[str, Any] = {"scores": {"f1": 1.0}, "top_k": 5}
OPENAI = JudgeIdentity(kind="openai", model="m-2", prompt_version="offline-1")


@pytest.mark.parametrize(
    ("row", "now", "words"),
    [
        ({}, {}, ()),
        ({}, {"judge": OPENAI}, ("judge: offline then, openai m-2 now",)),
        ({"prompt_version": "offline-0"}, {}, ("prompt: offline-0 then, offline-1 now",)),
        ({"tier": "generation"}, {}, ("tier: generation then, end_to_end now",)),
        ({"top_k": 3}, {}, ("top_k: 3 then, 5 now",)),
        ({"metrics": {"f1": 1.0, "mrr": 1.0}}, {}, ("metrics: mrr then, no score on any answer now",)),
        # Another question may have other metrics.
        ({"question": "Which a?", "metrics": {"f1": 1.0, "mrr": 1.0}}, {}, ()),
        # One answer may lack citation markers by chance.
        ({"metrics": {"f1": 1.0, "citation_validity": 1.0}}, {}, ()),
        (
            {"metrics": {"f1": 1.0, "citation_validity": 1.0}},
            {"dropped": {"citation_validity": "the answer has no citation markers"}},
            ("metrics: citation_validity then, no score on any answer now",),
        ),
        # A right refusal has no citations.
        (
            {"metrics": {"citation_validity": 1.0}},
            {
                "question": a_question("a", answerable=False),
                "dropped": {"citation_validity": "the answer has no citation markers"},
            },
            (),
        ),
        # With some judges a refusal has no groundedness.
        ({"metrics": {"abstained": 0.0, "groundedness": 1.0}}, {"scores": {"abstained": 1.0}}, ()),
        (
            {"metrics": {"abstained": 0.0, "groundedness": 1.0}},
            {"scores": {"abstained": 0.0}},
            ("metrics: groundedness then, no score on any answer now",),
        ),
        ({"dataset_name": "other"}, {}, ("dataset: other then, billing now",)),
        ({"top_k": None, "tier": None, "judge": None}, {}, ()),
        ({"verdict": Verdict.ERROR, "top_k": 3}, {}, ()),
        (
            {"judge": None, "prompt_version": None},
            {},
            ("judge: none then, offline now", "prompt: none then, offline-1 now"),
        ),
    ],
)
def test_what_differs_is_named(row: dict[str, Any], now: dict[str, Any], words: tuple[str, ...]) -> None:
    old = BaselineRow(**{**ROW, **row})
    outcomes = some_outcomes(a_record(**{"question": a_question("a"), **NOW, **now}))
    baseline = Baseline(name="main.json", rows={old.key: old})
    found = differences(compare(baseline, outcomes, outcomes.rules, clean=str, expects=lambda dataset, name: True))
    assert found == words


def test_a_run_without_a_question_is_of_no_other_dataset() -> None:
    row, outcomes = BaselineRow(**ROW), some_outcomes()
    baseline = Baseline(name="main.json", rows={row.key: row})
    assert differences(compare(baseline, outcomes, outcomes.rules, clean=str, expects=lambda dataset, name: True)) == ()


@pytest.mark.parametrize(("n", "of", "refused"), [(8, 8, False), (9, 9, True), (9, 18, True), (9, 19, False)])
def test_nine_answers_lack_citation_markers_not_by_chance(n: int, of: int, *, refused: bool) -> None:
    names = [f"q{i}" for i in range(of)]
    metrics = [{"f1": 1.0, **({"citation_validity": 1.0} if i < n else {})} for i in range(of)]
    rows = [
        BaselineRow(**{**ROW, "id": name, "question": f"What about {name}?", "metrics": each})
        for name, each in zip(names, metrics, strict=True)
    ]
    outcomes = some_outcomes(*(a_record(name, **NOW) for name in names))
    baseline = Baseline(name="main.json", rows={row.key: row for row in rows})
    found = differences(compare(baseline, outcomes, outcomes.rules, clean=str, expects=lambda dataset, name: True))
    assert bool(found) is refused


def test_of_many_values_the_first_are_named() -> None:
    rows = [
        BaselineRow(**{**ROW, "id": name, "question": f"What about {name}?", "top_k": i + 10})
        for i, name in enumerate("abcdefg")
    ]
    outcomes = some_outcomes(*(a_record(name, **NOW) for name in "abcdefg"))
    baseline = Baseline(name="main.json", rows={row.key: row for row in rows})
    found = differences(compare(baseline, outcomes, outcomes.rules, clean=str, expects=lambda dataset, name: True))
    assert found == ("top_k: 10, 11, 12, 13, 14, 2 more then, 5 now",)


METRIC = "citation_validity"


def change(number: int, *runs: bool, now: bool, metric: str = METRIC) -> Change:
    """The change of a question with a score in some of its saved runs, latest last, and maybe now."""
    saved = tuple((SavedAnswer(passed=True, scores={metric: 1.0} if has else {}),) for has in runs)
    row = BaselineRow(
        dataset_name="billing", id=f"q{number}", question=f"What about q{number}?", verdict=Verdict.PASS, saved=saved
    )
    scores = {metric: 1.0} if now else {}
    asserted = {"thresholds": {metric: 1.0}} if now else {"dropped": {metric: "the answer has no citation markers"}}
    return Change(
        before=row, now=a_record(question=a_question(f"q{number}"), scores=scores, **asserted), reworded=False
    )


def test_the_latest_saved_run_is_compared_with_today() -> None:
    pairs = [((True, False), True), ((False, True), False), ((True, True), True), ((True, False), False)]
    (found,) = lost_scores(change(number, *runs, now=now) for number, (runs, now) in enumerate(pairs))
    assert found == LostScores(METRIC, lost=[("billing", "q1")], n_gained=1, n=3)


@pytest.mark.parametrize(
    ("n_lost", "n_gained", "n", "red"),
    [
        # 9 are 3 standard deviations of 9: 9^2 >= 9 * 9.
        (8, 0, 8, False),
        (9, 0, 9, True),
        # (17 - 5)^2 = 144 < 9 * 22 = 198 <= (20 - 5)^2 = 225, and 9 * 25 = 225.
        (17, 5, 50, False),
        (20, 5, 50, True),
        # A fifth of 60 is 12.
        (11, 0, 60, False),
        (12, 0, 60, True),
        (45, 0, 50, True),
    ],
)
def test_lost_scores_are_red_beyond_chance(n_lost: int, n_gained: int, n: int, red: bool) -> None:
    lost = [("billing", f"q{number}") for number in range(n_lost)]
    assert LostScores(METRIC, lost=lost, n_gained=n_gained, n=n).red is red


@pytest.mark.parametrize("metric", ["abstained", "recall_at_5", "f1", "groundedness", "must_cite"])
def test_a_score_that_labels_or_judge_can_remove_is_counted_and_never_red(metric: str) -> None:
    (found,) = lost_scores(change(number, True, now=False, metric=metric) for number in range(20))
    assert (found.metric, found.n, found.red) == (metric, 20, False)


@pytest.mark.parametrize("chance", [0.05, 0.2, 0.5, 0.8, 0.95])
@pytest.mark.parametrize("n", [20, 50, 300])
def test_scores_that_are_there_at_random_are_nearly_never_red(chance: float, n: int) -> None:
    noise, runs = random.Random(n), 2_000
    red = 0
    for _ in range(runs):
        both = [(noise.random() < chance, noise.random() < chance) for _ in range(n)]
        lost = [("billing", str(place)) for place, (had, has) in enumerate(both) if had and not has]
        gained = sum(has and not had for had, has in both)
        red += LostScores(METRIC, lost=lost, n_gained=gained, n=sum(map(any, both))).red
    # The rule promises at most 0.13 %: 2.6 of 2,000, and by chance rarely more than 8.
    assert red <= 8


def test_a_setting_of_few_questions_names_them() -> None:
    rows = [BaselineRow(**{**ROW, "id": name, "question": f"What about {name}?"}) for name in "abc"]
    top_k = {"a": 5, "b": 9, "c": 5}
    records = [a_record(question=a_question(name), **{**NOW, "top_k": n}) for name, n in top_k.items()]
    baseline = Baseline(name="b", rows={row.key: row for row in rows})
    compared = compare(baseline, some_outcomes(*records), GateRules(), clean=str, expects=lambda *_: True)
    assert differences(compared) == ("top_k: 5 then, 9 now (billing::b)",)
