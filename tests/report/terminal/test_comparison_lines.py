"""The lines of a comparison with a baseline."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.judging.judgement import JudgeIdentity
from pytest_ragcheck.report.terminal.comparison_lines import accept_command, comparison_lines, regressions_text
from pytest_ragcheck.summary.gate.baseline_comparison import Comparison, compare
from pytest_ragcheck.summary.gate.baseline_reader import Baseline, BaselineRow
from pytest_ragcheck.verdict.verdict import Verdict
from tests.making import OFFLINE, a_question, a_record, an_error, some_outcomes

if TYPE_CHECKING:
    from pytest_ragcheck.verdict.record import Record

PASS, FAIL, ERROR = Verdict.PASS, Verdict.FAIL, Verdict.ERROR
LIMIT = {"groundedness": 0.7}


def before(name: str, verdict: Verdict = PASS, groundedness: float = 0.91, **said: Any) -> BaselineRow:
    default: dict[str, Any] = {"dataset_name": "billing", "question": f"What about {name}?"}
    if verdict is not ERROR:
        default |= {
            "metrics": {"groundedness": groundedness},
            "thresholds": LIMIT,
            "prompt_version": OFFLINE.prompt_version,
        }
    return BaselineRow(**{**default, "id": name, "verdict": verdict, **said})


def now(name: str, groundedness: float = 0.9, **said: Any) -> Record:
    failing = groundedness < said.get("thresholds", LIMIT)["groundedness"]
    default = {"thresholds": LIMIT, "reason": "No price is there." if failing else ""}
    verdict = FAIL if failing else PASS
    return a_record(name, verdict=verdict, scores={"groundedness": groundedness}, **{**default, **said})


def compared(rows: list[BaselineRow], records: list[Record], **said: Any) -> Comparison:
    baseline = Baseline(name="main.json", rows={row.key: row for row in rows})
    default: dict[str, Any] = {"clean": str, "expects": lambda dataset, name: not name.startswith("apart")}
    outcomes = some_outcomes(*records, excused=said.pop("excused", {}))
    return compare(baseline, outcomes, outcomes.rules, **{**default, **said})


def lines(rows: list[BaselineRow], records: list[Record], **said: Any) -> list[str]:
    return list(comparison_lines(compared(rows, records, **said)))


def test_regressions_stand_first_and_what_stayed_is_counted() -> None:
    rows = [before("kept"), before("new-fail"), before("gone"), before("new-pass", FAIL, 0.3), before("old", FAIL, 0.2)]
    rows += [before("down"), before("excused"), before("apart")]
    records = [now("kept"), now("new-fail", 0.41), now("new-pass"), now("old", 0.1)]
    records += [an_error("down", reason="no reply within 60 s\nRaise the limit."), now("added"), now("excused", 0.5)]
    assert lines(rows, records, excused={("billing", "excused"): "expected to fail"}) == [
        (
            "baseline main.json: 1 newly failing, 1 missing, 1 failing as expected, 1 not measured, 1 still failing, "
            "1 newly passing, 1 new, 1 as before"
        ),
        "newly failing:",
        "  new-fail: groundedness 0.91 -> 0.41 < 0.70: No price is there.",
        "missing:",
        "  gone: PASS before: What about gone?",
        "failing as expected:",
        "  excused: groundedness 0.91 -> 0.50 < 0.70: No price is there.",
        "not measured:",
        "  down: no reply within 60 s",
        "still failing:",
        "  old: groundedness 0.20 -> 0.10 < 0.70: No price is there.",
        "newly passing:",
        "  new-pass: groundedness 0.30 -> 0.90 >= 0.70",
        "new:",
        "  added: PASS",
        "not compared, because not run: 1 question of billing",
    ]


def test_nothing_but_a_line_where_nothing_differs() -> None:
    assert lines([before("a"), before("b")], [now("a"), now("b")]) == ["baseline main.json: 2 as before"]


def test_a_run_that_has_nothing_of_the_baseline_says_so() -> None:
    assert lines([before("apart")], []) == [
        "baseline main.json: nothing was compared",
        "not compared, because not run: 1 question of billing",
    ]


@pytest.mark.parametrize(
    ("rows", "records", "text"),
    [
        ([before("a")], [now("a", 0.1)], "1 newly failing against main.json"),
        ([before("a"), before("b")], [], "2 missing against main.json"),
        ([before("a"), before("b")], [now("a", 0.1)], "1 newly failing, 1 missing against main.json"),
    ],
)
def test_the_headline_counts_what_turns_the_gate_red(rows: list[BaselineRow], records: list[Record], text: str) -> None:
    comparison = compared(rows, records)
    assert regressions_text(comparison).splitlines()[0] == text
    assert regressions_text(comparison).splitlines()[0] == text


def test_the_text_of_the_gate_has_the_regressions_and_the_way_out() -> None:
    text = regressions_text(compared([before("a"), before("b"), before("c")], [now("a", 0.1), now("c"), now("d")]))
    assert text.splitlines() == [
        "1 newly failing, 1 missing against main.json",
        "",
        "newly failing:",
        "  a: groundedness 0.91 -> 0.10 < 0.70: No price is there.",
        "missing:",
        "  b: PASS before: What about b?",
        "",
        "If the new answers are right, accept them: ragcheck baseline accept",
    ]


HERE = Path("/project/tests")
OUTPUT = Path("ragcheck-results")


@pytest.mark.parametrize(
    ("results", "baseline", "options"),
    [
        ("ragcheck-results", "ragcheck-baseline.json", ""),
        ("my out", "main.json", " --results 'my out' -o main.json"),
        ("../ragcheck-results", "/base.json", " --results ../ragcheck-results -o /base.json"),
        ("/project/ragcheck-results", "ragcheck-baseline.json", " --results /project/ragcheck-results"),
    ],
)
def test_the_command_names_the_files_that_are_not_where_it_looks(results: str, baseline: str, options: str) -> None:
    command = accept_command(results=HERE / results, baseline=HERE / baseline, start=HERE, is_plain=True, output=OUTPUT)
    assert command == f"ragcheck baseline accept{options}"


def test_the_shells_of_windows_can_run_the_command() -> None:
    here = PureWindowsPath("C:/my project")
    found = {"results": here / "my out", "baseline": here / "tests" / "main.json"}
    assert accept_command(**found, start=here, is_plain=True, output=OUTPUT) == (
        'ragcheck baseline accept --results "my out" -o tests/main.json'
    )
    elsewhere = PureWindowsPath("D:/")
    assert accept_command(**found, start=elsewhere, is_plain=True, output=OUTPUT) == (
        'ragcheck baseline accept --results "C:/my project/my out" -o "C:/my project/tests/main.json"'
    )


def test_the_command_names_all_files_if_it_looks_elsewhere() -> None:
    found = {"results": HERE / "ragcheck-results", "baseline": HERE / "ragcheck-baseline.json"}
    assert accept_command(**found, start=HERE, is_plain=False, output=OUTPUT) == (
        "ragcheck baseline accept --results ragcheck-results -o ragcheck-baseline.json"
    )


def test_of_a_long_group_ten_are_shown_and_the_rest_counted() -> None:
    names = [f"q{number}" for number in range(13)]
    found = lines([before(name) for name in names], [now(name, 0.1) for name in names])
    assert len(found) == 1 + 1 + 10 + 1
    assert found[-2:] == ["  q9: groundedness 0.91 -> 0.10 < 0.70: No price is there.", "  ... and 3 more"]
    changed = lines([before(name, question="?") for name in names], [now(name) for name in names])
    assert changed[-1] == (
        "compared although the question's text or labels changed: q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, 3 more"
    )


def test_questions_are_named_by_their_dataset_too_where_there_are_several() -> None:
    other = a_record(question=a_question("a", dataset_name="other"))
    assert lines([before("a")], [now("a", 0.1), other])[2:] == [
        "  billing::a: groundedness 0.91 -> 0.10 < 0.70: No price is there.",
        "new:",
        "  other::a: PASS",
    ]


@pytest.mark.parametrize(
    ("was", "became", "threshold", "numbers"),
    [
        (0.91, 0.41, 0.7, "0.91 -> 0.41 < 0.70"),
        (0.7, 0.6999, 0.7, "0.7000 -> 0.6999 < 0.7000"),
        (0.704, 0.699, 0.7, "0.704 -> 0.699 < 0.700"),
        (0.75, 0.75, 0.8, "0.75 -> 0.75 < 0.80"),
        (0.91, 0.41, 0.725, "0.910 -> 0.410 < 0.725"),
        (0.140613, 0.1406134, 0.7, "0.14 -> 0.14 < 0.70"),
        (0.9, 0.699999, 0.7, "0.900000 -> 0.699999 < 0.700000"),
    ],
)
def test_numbers_have_the_decimals_that_tell_them_apart(
    was: float, became: float, threshold: float, numbers: str
) -> None:
    found = lines([before("a", groundedness=was)], [now("a", became, thresholds={"groundedness": threshold})])
    assert found[2] == f"  a: groundedness {numbers}: No price is there."


def test_a_score_that_was_not_measured_before_stands_alone() -> None:
    assert lines([before("a", metrics={})], [now("a", 0.1, reason="")])[2] == "  a: groundedness 0.10 < 0.70"


def test_every_score_that_is_too_low_is_there() -> None:
    record = a_record(
        "a", verdict=FAIL, scores={"f1": 0.1, "groundedness": 0.2, "exact_match": 1.0}, thresholds={**LIMIT, "f1": 0.5}
    )
    assert (
        lines([before("a", metrics={"f1": 0.6})], [record])[2]
        == "  a: groundedness 0.20 < 0.70, f1 0.60 -> 0.10 < 0.50"
    )


def test_what_was_an_error_says_of_which_kind() -> None:
    rows = [before(name, ERROR, error_kind="judge_reply") for name in "ab"]
    assert lines(rows, [now("a", 0.1), now("b")])[1:] == [
        "still failing:",
        "  a: ERROR before (judge_reply), now groundedness 0.10 < 0.70: No price is there.",
        "newly passing:",
        "  b: ERROR before (judge_reply)",
    ]


def test_a_question_may_pass_because_less_is_asserted() -> None:
    row = before("a", FAIL, metrics={"f1": 0.1}, thresholds={"f1": 0.5})
    assert lines([row], [now("a")])[2] == "  a: no score that is asserted now was too low"


def test_who_judged_otherwise_is_named() -> None:
    rows = [before("a", prompt_version="en-1"), before("b", prompt_version=None), before("c")]
    judge = JudgeIdentity(kind="openai", model="gpt-5", prompt_version="en-2")
    records = [now("a", judge=judge), now("b", judge=judge), now("c", judge=None)]
    assert lines(rows, records)[-1] == (
        "the baseline was judged by en-1, no named prompt, offline-1, this run by openai gpt-5 en-2, none: "
        "verdicts may differ for that alone"
    )


@pytest.mark.parametrize(("names", "words"), [("a", "1 question"), ("ab", "2 questions")])
def test_other_thresholds_are_counted(names: str, words: str) -> None:
    rows = [before(name, thresholds={"groundedness": 0.8}) for name in names]
    assert lines(rows, [now(name) for name in names])[-1] == (
        f"{words} had other thresholds in the baseline: verdicts may differ for that alone"
    )


def test_what_a_file_or_a_judge_says_cannot_move_the_terminals_cursor() -> None:
    row = before("a\x1b[2J", question="Which?\x1b[31m")
    comparison = compared([row, before("b", prompt_version="\x9b1m")], [now("b", 0.1, reason="x\x1b[1A\ny" * 100)])
    comparison = replace(comparison, baseline=replace(comparison.baseline, name="\x1b.json"))
    shown = "\n".join((*comparison_lines(comparison), regressions_text(comparison)))
    assert "\x1b" not in shown
    assert "\x9b" not in shown
    assert r"a\x1b[2J: PASS before: Which?\x1b[31m" in shown
    assert max(map(len, shown.splitlines())) < 400
