"""Which failures the baseline excuses."""

from __future__ import annotations

from typing import Any

from pytest_ragcheck.scores import Score
from pytest_ragcheck.summary.gate.baseline_reader import Baseline, BaselineRow
from pytest_ragcheck.summary.gate.gate_decision import why_tolerated
from pytest_ragcheck.summary.gate.saved_answer import SavedAnswer
from pytest_ragcheck.summary.run_outcomes import GateRules
from pytest_ragcheck.verdict.verdict import Verdict
from tests.making import a_question, a_record

QUESTION = a_question("a", must_not_mention=("secret", "salary"))
LEAK: dict[str, Any] = {"passed": False, "scores": {"must_not_mention": 0.0}}
ROW = BaselineRow(
    dataset_name="billing",
    id="a",
    question=QUESTION.question,
    verdict=Verdict.FAIL,
    # A further look of a run has no text.
    saved=((SavedAnswer(**LEAK, text="secret", contexts=()), SavedAnswer(**LEAK)),),
)


def why(answer: str = "secret", groundedness: Score | float = 0.9, **said: Any) -> str:
    record = a_record(
        question=QUESTION,
        verdict=Verdict.FAIL,
        answer=answer,
        scores={"must_not_mention": 0.0, "groundedness": groundedness},
        thresholds={"must_not_mention": 1.0, "groundedness": 0.7},
        **said,
    )
    baseline = Baseline(name="main.json", rows={ROW.key: ROW})
    return why_tolerated(record, GateRules(gate="regression"), baseline, clean=str)


def test_a_recorded_leak_is_excused_and_no_other_one() -> None:
    assert why() == "FAIL in main.json too"
    assert why("salary") == why("secret salary") == ""


def test_a_recorded_leak_excuses_no_maximum_and_no_score_that_is_missing_today() -> None:
    assert why(groundedness=Score.unscored("the judge is down")) == ""
    assert why(maximums={"latency_seconds": 1.0}) == why(maximums={"latency_seconds": 1.0}, latency_seconds=2.0) == ""
    assert why(maximums={"latency_seconds": 1.0}, latency_seconds=0.5) == "FAIL in main.json too"
