"""The group of each question in a comparison of a run with a baseline."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.summary.gate.baseline_comparison import Comparison, compare
from pytest_ragcheck.summary.gate.baseline_reader import Baseline, BaselineRow
from pytest_ragcheck.summary.gate.gate_replies import Change
from pytest_ragcheck.summary.gate.saved_answer import SavedAnswer, label_digests
from pytest_ragcheck.summary.run_outcomes import GateRules
from pytest_ragcheck.verdict.record import Record
from pytest_ragcheck.verdict.verdict import Verdict
from tests.making import OFFLINE, a_question, a_record, a_set, an_error, some_outcomes

PASS, FAIL, ERROR = Verdict.PASS, Verdict.FAIL, Verdict.ERROR


def before(name: str, verdict: Verdict = PASS, **said: Any) -> BaselineRow:
    default = {"dataset_name": "billing", "question": f"What about {name}?", "prompt_version": "offline-1"}
    return BaselineRow(**{**default, "id": name, "verdict": verdict, **said})


def a_baseline(*rows: BaselineRow) -> Baseline:
    return Baseline(name="main.json", rows={row.key: row for row in rows})


def now(name: str, verdict: Verdict = PASS, **said: Any) -> Record:
    return an_error(name, **said) if verdict is ERROR else a_record(name, verdict=verdict, **said)


def compared(rows: list[BaselineRow], records: list[Record], **said: Any) -> Comparison:
    default: dict[str, Any] = {"clean": str, "expects": lambda dataset, name: True}
    outcomes = said.pop("outcomes", some_outcomes(*records))
    return compare(a_baseline(*rows), outcomes, outcomes.rules, **{**default, **said})


def groups(comparison: Comparison) -> dict[str, list[str]]:
    """The ids by group; empty groups are left out."""
    found = {}
    for field in fields(comparison):
        rows = getattr(comparison, field.name)
        if isinstance(rows, tuple) and rows:
            found[field.name] = [_id(row) for row in rows]
    return found


def _id(row: Any) -> str:
    if isinstance(row, Change):
        return row.now.question.id
    return row.question.id if isinstance(row, Record) else row.id


@pytest.mark.parametrize(
    ("then", "verdict", "group"),
    [
        (PASS, PASS, "still_passing"),
        (PASS, FAIL, "newly_failing"),
        (PASS, ERROR, "not_measured"),
        (FAIL, PASS, "newly_passing"),
        (FAIL, FAIL, "still_failing"),
        (FAIL, ERROR, "not_measured"),
        (ERROR, PASS, "newly_passing"),
        (ERROR, FAIL, "still_failing"),
        (ERROR, ERROR, "not_measured"),
    ],
)
def test_a_question_stands_in_one_group(then: Verdict, verdict: Verdict, group: str) -> None:
    comparison = compared([before("a", then)], [now("a", verdict)])
    assert groups(comparison) == {group: ["a"]}
    assert comparison.worse is (group == "newly_failing")


@pytest.mark.parametrize(("then", "group"), [(PASS, "expected_failing"), (FAIL, "still_failing")])
def test_a_fail_that_was_expected_is_no_regression(then: Verdict, group: str) -> None:
    outcomes = some_outcomes(now("a", FAIL), excused={("billing", "a"): "expected to fail"})
    comparison = compared([before("a", then)], [], outcomes=outcomes)
    assert groups(comparison) == {group: ["a"]}
    assert not comparison.worse


def test_a_question_that_the_baseline_does_not_have_is_new_whatever_it_came_to() -> None:
    comparison = compared([before("a")], [now("a"), now("b"), now("c", FAIL), now("d", ERROR)])
    assert groups(comparison) == {"still_passing": ["a"], "new": ["b", "c", "d"]}
    assert not comparison.worse


def test_a_question_that_is_nowhere_is_missing_if_the_run_would_have_collected_it() -> None:
    rows = [before("a"), before("b", dataset_name="other"), before("c", ERROR)]
    comparison = compared(rows, [now("x")], expects=lambda dataset, name: dataset == "billing")
    assert groups(comparison) == {"missing": ["a", "c"], "not_run": ["b"], "new": ["x"]}
    assert comparison.worse
    assert comparison.partial
    assert not compared(rows, [now("x")]).partial


def test_a_question_that_was_collected_and_not_run_is_never_missing() -> None:
    outcomes = some_outcomes(now("a"), sets=(a_set("billing", a_question("a"), a_question("b")),))
    comparison = compared([before("a"), before("b")], [], outcomes=outcomes)
    assert groups(comparison) == {"still_passing": ["a"], "not_run": ["b"]}
    assert not comparison.partial
    assert compared([before("a"), before("b")], [], outcomes=replace(outcomes, complete=False)).partial


def test_an_id_is_another_question_in_another_dataset() -> None:
    record = a_record(question=a_question("a", dataset_name="other"))
    assert groups(compared([before("a")], [record])) == {"missing": ["a"], "new": ["a"]}


def test_a_question_with_another_text_is_compared_and_named() -> None:
    comparison = compared([before("a", question="Which?"), before("b"), before("c", question="")], [now("a"), now("b")])
    assert groups(comparison) == {"still_passing": ["a", "b"], "missing": ["c"]}
    assert [change.before.id for change in comparison.changed] == ["a"]


@pytest.mark.parametrize(
    ("metric", "part"),
    [("f1", "expected"), ("groundedness", "asked"), ("recall_at_5", "gold"), ("must_not_retrieve", "mentions")],
)
def test_without_evidence_other_labels_of_an_asserted_metric_make_a_question_edited(metric: str, part: str) -> None:
    question = a_question("a", path=Path("a.rag.yaml"))
    record = now("a", question=question, scores={metric: 1.0}, thresholds={metric: 1.0})
    labels = label_digests(question)

    def group(record: Record, *labels: dict[str, str] | None, gate: str = "regression") -> list[str]:
        saved = tuple((SavedAnswer(passed=True, scores={metric: 1.0}, labels=each),) for each in labels)
        outcomes = some_outcomes(record, rules=GateRules(gate=gate))
        return list(groups(compared([before("a", saved=saved)], [record], outcomes=outcomes)))

    for name in (*labels, "asked"):
        other = {**labels, name: "other"}
        assert group(record, other) == ["apart" if name in {part, "asked"} else "still_passing"]
        assert group(record, other, labels) == group(record, other, None) == ["still_passing"]
        assert group(record, other, gate="each") == ["still_passing"]
        assert group(replace(record, question=replace(question, path=None)), other) == ["still_passing"]
        assert group(now("a", ERROR, question=question, thresholds={metric: 1.0}), other) == ["not_measured"]


@pytest.mark.parametrize(
    ("then", "recorded", "score", "slow", "group"),
    [
        # The threshold was raised above the recorded score.
        (PASS, {"f1": 0.6}, 0.6, False, "still_failing"),
        # The threshold was lowered below it.
        (FAIL, {"f1": 0.9}, 0.9, False, "still_passing"),
        # Without a recorded score, the recorded verdict counts.
        (PASS, {}, 0.6, False, "newly_failing"),
        (FAIL, {}, 0.6, False, "still_failing"),
        # Whether a maximum was exceeded then is known by the verdict alone.
        (PASS, {"f1": 0.9}, 0.9, True, "newly_failing"),
        (FAIL, {"f1": 0.9}, 0.9, True, "still_failing"),
        (FAIL, {"f1": 0.9}, 0.6, True, "newly_failing"),
    ],
)
def test_without_evidence_a_recorded_score_counts_under_the_threshold_of_today(
    then: Verdict, recorded: dict[str, float], score: float, *, slow: bool, group: str
) -> None:
    record = now(
        "a",
        FAIL if slow or score < 0.8 else PASS,
        scores={"f1": score},
        thresholds={"f1": 0.8},
        maximums={"latency_seconds": 1.0},
        latency_seconds=2.0 if slow else 0.5,
    )
    outcomes = some_outcomes(record, rules=GateRules(gate="regression"))
    assert groups(compared([before("a", then, metrics=recorded)], [record], outcomes=outcomes)) == {group: ["a"]}


@pytest.mark.parametrize(
    ("short", "edited"),
    [(("must_mention",), True), (("groundedness",), False), (("must_mention", "groundedness"), False), ((), False)],
)
def test_other_labels_of_one_metric_hide_no_collapse_of_another(short: tuple[str, ...], *, edited: bool) -> None:
    question = a_question("a", path=Path("a.rag.yaml"))
    limits = {"must_mention": 1.0, "groundedness": 0.7}
    scores = {metric: 0.0 if metric in short else 1.0 for metric in limits}
    record = now("a", FAIL if short else PASS, question=question, scores=scores, thresholds=limits)
    labels = {**label_digests(question), "mentions": "other"}
    row = before("a", saved=((SavedAnswer(passed=True, scores=dict.fromkeys(limits, 1.0), labels=labels),),))
    outcomes = some_outcomes(record, rules=GateRules(gate="regression"))
    group = "apart" if edited else "newly_failing" if short else "still_passing"
    assert groups(compared([row], [record], outcomes=outcomes)) == {group: ["a"]}


def test_what_was_taken_out_of_the_file_is_taken_out_of_the_run() -> None:
    def clean(text: str) -> str:
        return text.replace("secret", "[redacted]")

    row = before("[redacted]", dataset_name="[redacted]", question="What about [redacted]?")
    record = a_record(question=a_question("secret", dataset_name="secret"))
    comparison = compared([row], [record], clean=clean)
    assert groups(comparison) == {"still_passing": ["secret"]}
    assert comparison.changed == ()


def test_other_rules_of_the_judge_are_noticed_question_by_question() -> None:
    rows = [before("a"), before("b", prompt_version="en-1"), before("c", prompt_version=None), before("d", ERROR)]
    records = [now("a"), now("b"), now("c"), now("d", judge=replace(OFFLINE, prompt_version="x"))]
    assert [change.before.id for change in compared(rows, records).with_other_prompt] == ["b", "c"]
    without = compared([before("a"), before("b", prompt_version=None)], [now(name, judge=None) for name in "ab"])
    assert [change.before.id for change in without.with_other_prompt] == ["a"]


def test_other_thresholds_are_noticed_as_the_file_has_them() -> None:
    rows = [before("a", thresholds={"f1": 0.333333}), before("b", thresholds={"f1": 0.3}), before("c")]
    records = [now(name, thresholds={"f1": 1 / 3}) for name in "abc"]
    assert [change.before.id for change in compared(rows, records).with_other_thresholds] == ["b", "c"]
    refuses = now("a", dropped={"f1": "it does not apply to the question"})
    assert compared(rows, [refuses]).with_other_thresholds == []
    assert [change.before.id for change in compared(rows[:1], [now("a")]).with_other_thresholds] == ["a"]


VERDICTS = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(list(Verdict)))


@given(VERDICTS, VERDICTS, st.sets(st.sampled_from("abcdef")))
def test_every_question_of_either_stands_in_exactly_one_group(
    then: dict[str, Verdict], verdicts: dict[str, Verdict], met: set[str]
) -> None:
    comparison = compared(
        [before(name, verdict) for name, verdict in then.items()],
        [now(name, verdict) for name, verdict in verdicts.items()],
        expects=lambda dataset, name: name in met,
    )
    listed = [name for names in groups(comparison).values() for name in names]
    assert sorted(listed) == sorted(then.keys() | verdicts.keys())
