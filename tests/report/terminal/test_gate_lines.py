"""The lines of the gate's decision."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.report.terminal.gate_lines import decision_headline, decision_lines, decision_text
from pytest_ragcheck.summary.gate.baseline_comparison import compare
from pytest_ragcheck.summary.gate.baseline_reader import Baseline, BaselineRow
from pytest_ragcheck.summary.gate.gate_decision import Decision, decide, red_by_themselves, tolerated
from pytest_ragcheck.summary.gate.saved_answer import SavedAnswer
from pytest_ragcheck.summary.run_outcomes import GateRules
from pytest_ragcheck.verdict.verdict import Verdict
from tests.making import OFFLINE, a_question, a_record, an_error, some_outcomes

if TYPE_CHECKING:
    from pytest_ragcheck.verdict.record import Record

LIMIT = {"groundedness": 0.7}
REGRESSION = GateRules(gate="regression")


def before(name: str, groundedness: float = 0.9, **said: Any) -> BaselineRow:
    default: dict[str, Any] = {
        "dataset_name": "billing",
        "question": f"What about {name}?",
        "verdict": Verdict.PASS,
        "metrics": {"groundedness": groundedness},
        "thresholds": LIMIT,
        "prompt_version": OFFLINE.prompt_version,
    }
    row = BaselineRow(**{**default, "id": name, **said})
    saved = SavedAnswer(passed=row.verdict is Verdict.PASS, scores=row.metrics)
    return replace(row, saved=((saved,),))


def now(name: str, groundedness: float = 0.9, **said: Any) -> Record:
    verdict = Verdict.PASS if groundedness >= 0.7 else Verdict.FAIL
    return a_record(name, verdict=verdict, scores={"groundedness": groundedness}, thresholds=LIMIT, **said)


def decided(rows: list[BaselineRow], records: list[Record], rules: GateRules = REGRESSION) -> Decision:
    baseline = Baseline(name="main.json", rows={row.key: row for row in rows})
    outcomes = some_outcomes(*records)
    comparison = compare(baseline, outcomes, rules, clean=str, expects=lambda dataset, name: True)
    return decide(outcomes, comparison, rules)


def test_a_set_under_10_questions_is_decided_as_confirmed_and_says_so() -> None:
    rows = [before(f"q{i}", 0.8) for i in range(4)]
    records = [now(f"q{i}", 0.9 if i % 2 else 0.7) for i in range(4)]
    assert list(decision_lines(decided(rows, records))) == [
        "baseline main.json: 4 as before",
        (
            "4 questions replayed, or ran without this gate or with another baseline: "
            "nothing was scored or asked again, or judged side by side. "
            "Ask the system with --rag-gate=regression and the baseline."
        ),
        "fewer than 10 questions to compare: regression decides as confirmed, so one confirmed question is red",
    ]


def test_a_gate_that_cannot_turn_red_says_so() -> None:
    failing = [before("a", 0.3, verdict=Verdict.FAIL)]
    decision = decided(failing, [now("a", 0.3)], GateRules(gate="confirmed"))
    assert list(decision_lines(decision))[-1] == (
        "no compared question passed in its latest saved run, so the gate cannot turn red. Save a run that passes."
    )
    decision = decided([*failing, before("b")], [now("a", 0.3), an_error("b")], GateRules(gate="confirmed"))
    assert list(decision_lines(decision))[-1] == (
        "no compared question passed in its latest saved run, so the gate cannot turn red. "
        "1 ERROR in place of recorded answers turned the run red."
    )
    # The missing questions turned it red.
    decision = decided([*failing, before("gone")], [now("new")], GateRules(gate="confirmed"))
    assert decision.red
    assert list(decision_lines(decision))[-1].startswith("no question can be compared. If the ")


@pytest.mark.parametrize(("first", "red"), [(0.9, "red at 4"), (0.3, "red at 9 questions, by their share alone,")])
def test_questions_that_failed_in_an_earlier_run_count_for_the_share_alone(first: float, red: str) -> None:
    earlier = SavedAnswer(passed=first > 0.5, scores={"groundedness": first})
    rows = [before(f"q{i}") for i in range(20)]
    rows = [replace(row, saved=((earlier,), *row.saved)) for row in rows]
    counted = [line for line in decision_lines(decided(rows, [now(f"q{i}") for i in range(20)])) if "broke" in line]
    assert len(counted) == 1
    assert f"; the gate turns {red} with 2 saved runs" in counted[0]


@pytest.mark.parametrize(("n_failed", "of", "shown"), [(4, 20, False), (5, 50, True), (5, 51, False)])
def test_many_questions_that_fail_at_first_are_counted(n_failed: int, of: int, *, shown: bool) -> None:
    again: dict[str, Any] = {f"q{i}": {"groundedness": 0.3, "asked_again": ("FAIL", "PASS")} for i in range(n_failed)}
    names = [f"q{i}" for i in range(of)]
    # A question that failed before does not count.
    rows = [*map(before, names), before("old", 0.3, verdict=Verdict.FAIL)]
    records = [*(now(name, **again.get(name, {})) for name in names), now("old", 0.3)]
    lines = list(decision_lines(decided(rows, records, GateRules(gate="confirmed"))))
    line = f"{n_failed} of {of} questions that passed before failed at first; rag_gate = regression tests the means"
    assert (line in lines) is shown
    assert not any("at first" in line for line in decision_lines(decided(rows, records)))


def test_a_green_gate_has_no_text_and_a_red_one_says_it_in_its_first_line() -> None:
    green = decided([before("a")], [now("a", 0.3, asked_again=("FAIL", "PASS"))])
    assert (green.red, decision_text(green), decision_headline(green)) == (False, "", "")
    red = decided([before("a", passes=60)], [now("a", 0.3, asked_again=("FAIL", "FAIL"))])
    assert (red.red, sorted(red.red_questions)) == (True, [("billing", "a")])
    assert decision_headline(red) == decision_text(red).splitlines()[0] == "1 confirmed as failing against main.json"


def test_both_a_missing_question_and_a_low_rate_are_said_in_one_line() -> None:
    rows = [before("a"), before("gone")]
    low = decided(rows, [now("a", 0.3)], GateRules(gate="rate:0.9"))
    # A rate looks at nothing else.
    assert decision_headline(low) == "pass rate 0.000 (0 of 1; 95 % interval 0.000 to 0.793) is below 0.9"
    assert low.red_questions == {("billing", "a")}


def test_a_refused_baseline_holds_no_question_against_the_run() -> None:
    refused = decided([before("a", tier="generation")], [now("a", 0.3)])
    assert (refused.red, refused.red_questions, refused.findings) == (True, frozenset(), None)
    assert decision_headline(refused) == "main.json cannot be compared: tier: generation then, end_to_end now"


def test_an_error_and_a_fail_that_nothing_excuses_turn_a_run_red_by_themselves() -> None:
    quarantined = now("kept apart", 0.3, question=a_question("kept apart", quarantine="flaky"))
    records = [now("fine"), now("known", 0.3), now("new", 0.3), an_error("late"), quarantined, now("marked", 0.3)]
    outcomes = some_outcomes(*records, excused={("billing", "marked"): "expected to fail"})
    baseline = Baseline(name="main.json", rows={row.key: row for row in [before("known", verdict=Verdict.FAIL)]})
    excused = tolerated(outcomes, REGRESSION, baseline, clean=str)
    assert excused == {
        ("billing", "known"): "FAIL in main.json too",
        ("billing", "kept apart"): "in quarantine: flaky",
        ("billing", "marked"): "expected to fail",
    }
    held = red_by_themselves(some_outcomes(*records, tolerated=excused))
    assert [record.question.id for record in held] == ["new", "late"]


def test_a_question_under_another_name_is_named_with_the_remedy() -> None:
    rows = [before("kept"), before("a", dataset_name="shop")]
    accept = "If the new answers are right, accept them: ragcheck baseline accept"
    moved = decision_text(decided(rows, [now("kept"), now("a")], GateRules()))
    assert moved.endswith(f"\nIf questions only have other names, restore their dataset_name (shop) and ids. {accept}")
    assert decision_text(decided(rows, [now("kept"), now("b")], GateRules())).endswith(f"\n{accept}")


@pytest.mark.parametrize(
    ("n", "more"),
    [
        (4, "saving more runs does"),
        (12, "and the count takes those that passed in all saved runs; rag_gate = confirmed decides on each"),
    ],
)
def test_what_can_be_done_about_questions_that_failed_in_one_saved_run(n: int, more: str) -> None:
    rows = [before(f"q{i}") for i in range(n)]
    unsteady = SavedAnswer(passed=False, scores={"groundedness": 0.3})
    rows[0] = replace(rows[0], saved=((unsteady,), *rows[0].saved))
    lines = list(decision_lines(decided(rows, [now(f"q{i}") for i in range(n)])))
    start = "1 question failed in one saved run and passed in another: asking them again does not help, "
    assert f"{start}{more}" in lines


def test_confirmed_questions_that_the_count_leaves_out_are_said_with_a_remedy() -> None:
    rows = [before(f"q{i}") for i in range(12)]
    unsteady = SavedAnswer(passed=False, scores={"groundedness": 0.3})
    rows[0] = replace(rows[0], saved=((unsteady,), *rows[0].saved))
    broken = {f"q{i}": now(f"q{i}", 0.3, asked_again=("FAIL", "FAIL")) for i in range(2)}
    lines = list(decision_lines(decided(rows, [broken.get(f"q{i}", now(f"q{i}")) for i in range(12)])))
    at = next(place for place, line in enumerate(lines) if line.startswith("1 of 12 questions broke, 0 improved"))
    assert lines[at + 1] == (
        "the count leaves out 1 confirmed as failing, which did not pass in all saved runs; "
        "rag_gate = confirmed decides on each"
    )
    every = list(decision_lines(decided([before(f"q{i}") for i in range(12)], [*broken.values(), now("q2")])))
    assert not any("the count leaves out" in line for line in every)
