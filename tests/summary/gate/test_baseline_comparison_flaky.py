"""Which questions are named as flaky."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_ragcheck.report.terminal.gate_lines import QUARANTINE, flaky_lines
from pytest_ragcheck.summary.gate.baseline_comparison import Flaky, flaky_in_history, flaky_in_run
from pytest_ragcheck.summary.gate.baseline_reader import Baseline, BaselineRow
from pytest_ragcheck.verdict.verdict import Verdict
from tests.making import a_question, a_record

if TYPE_CHECKING:
    from pytest_ragcheck.verdict.record import Record


def before(name: str, passes: int, fails: int, **said: Any) -> BaselineRow:
    default = {"dataset_name": "billing", "question": f"What about {name}?", "verdict": Verdict.PASS}
    return BaselineRow(**{**default, "id": name, "passes": passes, "fails": fails, **said})


def baseline(*rows: BaselineRow) -> Baseline:
    return Baseline(name="main.json", rows={row.key: row for row in rows})


def named(records: list[Record], *rows: BaselineRow) -> list[tuple[str, int, int]]:
    found = flaky_in_run(records, baseline(*rows) if rows else None, clean=str)
    return [(each.question_id, each.passes, each.fails) for each in found]


def failing(name: str, **said: Any) -> Record:
    return a_record(name, verdict=Verdict.FAIL, **said)


def test_what_passed_and_failed_before_is_flaky_whatever_it_does_now() -> None:
    rows = [before("a", 3, 1), before("b", 2, 2), before("c", 5, 0), before("d", 0, 5)]
    records = [a_record("a"), failing("b"), failing("c"), a_record("d")]
    # b of 5 times 2, a of 5 times 4; c and d changed.
    assert named(records, *rows) == [("b", 2, 3), ("a", 4, 1)]


def test_what_passes_when_it_is_asked_again_or_in_one_of_its_repeats_is_flaky() -> None:
    repeated = {"f1": ((0.9,), (0.1,), (0.8,))}
    records = [
        failing("again", asked_again=("FAIL", "PASS")),
        a_record("repeats", repeated=repeated, thresholds={"f1": 0.5}),
        failing("each time", asked_again=("FAIL", "FAIL")),
    ]
    assert named(records) == [("again", 1, 2), ("repeats", 2, 1)]


def test_what_is_in_quarantine_or_has_another_text_is_not_named() -> None:
    quarantined = a_record("a", question=a_question("a", quarantine="flaky"))
    assert named([quarantined, a_record("b")], before("a", 1, 1), before("b", 1, 1, question="Another?")) == []


def test_the_history_alone_names_the_closest_to_half_and_half_first() -> None:
    found = flaky_in_history(baseline(before("a", 9, 1), before("b", 1, 1), before("c", 4, 0)))
    assert [each.question_id for each in found] == ["b", "a"]


def test_the_lines_say_how_often_and_what_to_do() -> None:
    one = Flaky(dataset_name="billing", question_id="a", passes=2, fails=3)
    assert list(flaky_lines([one])) == ["flaky: billing::a passed 2 of 5 times", QUARANTINE]
    assert list(flaky_lines([one] * 23))[-2:] == ["flaky: 3 more", QUARANTINE]
    assert list(flaky_lines([])) == []
