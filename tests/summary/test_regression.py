"""Which of what became worse is more than noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.questions.question import GoldPassage
from pytest_ragcheck.summary.baseline import Baseline, BaselineRow
from pytest_ragcheck.summary.comparison import compare
from pytest_ragcheck.summary.looks import looks
from pytest_ragcheck.summary.regression import Regression, regression
from pytest_ragcheck.verdict import Verdict
from tests.making import a_question, a_record, some_outcomes

if TYPE_CHECKING:
    from pytest_ragcheck.record import Record

PASS, FAIL = Verdict.PASS, Verdict.FAIL
TWICE = ("FAIL", "FAIL")


def before(name: str, verdict: Verdict = PASS, score: float = 0.9, **said: Any) -> BaselineRow:
    default = {"dataset_name": "billing", "question": f"What about {name}?", "passes": 1, "metrics": {"f1": score}}
    return BaselineRow(**{**default, "id": name, "verdict": verdict, **said})


def now(name: str, verdict: Verdict = PASS, score: float = 0.9, **said: Any) -> Record:
    question = a_question(name, **said.pop("asked", {}))
    return a_record(name, question=question, verdict=verdict, scores={"f1": score}, **said)


def weighed(rows: list[BaselineRow], records: list[Record], **said: float) -> Regression:
    baseline = Baseline(name="main.json", rows={row.key: row for row in rows})
    comparison = compare(baseline, some_outcomes(*records), clean=str, would_meet=lambda dataset, name: True)
    return regression(comparison, **{"error_rate": 0.01, "tolerance": 0.01, **said})


def failing(count: int, **said: Any) -> list[Record]:
    return [now(f"q{i}", FAIL, asked_again=TWICE, **said) for i in range(count)]


def test_a_question_that_passes_when_it_is_asked_again_is_a_suspect() -> None:
    found = weighed([before("a")], [now("a", FAIL, asked_again=("FAIL", "PASS"))])
    assert ([change.before.id for change in found.suspects], found.worse) == (["a"], False)


def test_one_question_that_fails_each_time_is_a_suspect_unless_more_is_known_of_it() -> None:
    found = weighed([before("a")], [now("a", FAIL, asked_again=TWICE)])
    assert (len(found.suspects), found.certain, found.worse) == (1, (), False)


def test_a_question_that_is_known_to_be_stable_turns_the_gate_red_alone() -> None:
    # 20 passes and 3 fails: at most (20/23)^20 (3/23)^3 = 0.00014, and of one question that is below 0.01 / 3.
    rows, records = [before("a", passes=20)], [now("a", FAIL, asked_again=TWICE)]
    assert [change.before.id for change in weighed(rows, records).certain] == ["a"]
    assert not weighed([before("a", passes=20, fails=1)], records).worse


@pytest.mark.parametrize(("saves", "red"), [(3, False), (4, True)])
def test_a_few_questions_of_a_short_history_turn_the_gate_red_together(saves: int, red: bool) -> None:
    # Of 32 questions that passed 3 times each, 3 or more fail 3 times: 0.0135; of 4 passes 0.0024, below 0.01 / 3.
    rows = [before(f"q{i}", passes=saves) for i in range(32)]
    records = [*failing(3), *(now(f"q{i}") for i in range(3, 32))]
    found = weighed(rows, records)
    assert ([change.before.id for change in found.certain], found.worse) == (["q0", "q1", "q2"] if red else [], red)


def test_repeats_show_that_a_question_is_stable() -> None:
    # 5 passes, and 5 + 2 fails: at most 5^5 7^7 / 12^12 = 0.00029.
    repeated = {"f1": ((0.1,),) * 5}
    records = [now("a", FAIL, repeated=repeated, thresholds={"f1": 0.5}, asked_again=TWICE)]
    assert len(weighed([before("a", passes=5)], records).certain) == 1


@pytest.mark.parametrize(("count", "red"), [(7, False), (8, True)])
def test_enough_flips_turn_the_gate_red_together(count: int, red: bool) -> None:
    # 0.5^7 = 0.0078 is not below 0.01 / 2, and 0.5^8 = 0.0039 is; the scores are the same.
    found = weighed([before(f"q{i}") for i in range(count)], failing(count))
    assert (found.worse, len(found.together), len(found.suspects)) == (red, count * red, count * (not red))


def test_flips_up_are_held_against_flips_down() -> None:
    rows = [before(f"q{i}") for i in range(9)] + [before(f"up{i}", FAIL) for i in range(4)]
    found = weighed(rows, failing(9) + [now(f"up{i}") for i in range(4)])
    assert (found.up, found.worse) == (4, False)
    # Of 13 flips 9 or more down: (715 + 286 + 78 + 13 + 1) / 8192.
    assert found.flips_p == pytest.approx(1093 / 8192)


def test_questions_that_share_a_document_flip_as_one() -> None:
    shared = {"gold_passages": (GoldPassage(text="30 days.", doc_id="terms"),)}
    found = weighed([before(f"q{i}") for i in range(20)], failing(20, asked=shared))
    assert (found.flips_p, found.worse) == (0.5, False)


@pytest.mark.parametrize(("drop", "tolerance", "dropped"), [(0.1, 0.01, ["f1"]), (0.1, 0.15, []), (-0.1, 0.01, [])])
def test_a_mean_that_drops_turns_the_gate_red_if_it_is_by_more_than_the_tolerance(
    drop: float, tolerance: float, dropped: list[str]
) -> None:
    rows = [before(f"q{i}") for i in range(20)]
    found = weighed(rows, [now(f"q{i}", score=0.9 - drop) for i in range(20)], tolerance=tolerance)
    assert ([mean.metric for mean in found.dropped], found.worse) == (dropped, bool(dropped))


def test_a_mean_that_drops_for_one_question_is_noise() -> None:
    rows = [before(f"q{i}") for i in range(20)]
    records = [now(f"q{i}", score=0.1 if i == 0 else 0.9) for i in range(20)]
    (mean,) = weighed(rows, records).means
    assert (mean.before, mean.now) == pytest.approx((0.9, 0.86))
    assert (mean.n, mean.p, mean.dropped) == (20, 0.5, False)


def test_a_question_in_quarantine_is_not_weighed() -> None:
    rows = [before(f"q{i}") for i in range(20)]
    found = weighed(rows, failing(20, score=0.1, asked={"quarantine": "flaky"}))
    assert (found.worse, found.means, found.suspects) == (False, (), ())


def test_an_error_when_a_question_is_asked_again_is_no_excuse() -> None:
    found = weighed([before("a")], [now("a", FAIL, asked_again=("ERROR",))])
    assert ([change.before.id for change in found.unanswered], found.worse) == (["a"], True)


def test_each_answer_is_a_look() -> None:
    repeated = {"f1": ((0.9,), (0.1, 0.9, 0.8), (0.2,)), "mrr": ((1.0,), (1.0,), (1.0,))}
    assert looks(PASS, repeated, {"f1": 0.5}) == (2, 1)
    assert looks(PASS, {"f1": ((0.9, 0.8),)}, {"f1": 0.5}) == (1, 0)
    assert looks(FAIL, {}, {}) == (0, 1)
    assert looks(Verdict.ERROR, {}, {}) == (0, 0)
