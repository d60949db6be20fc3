"""Compares a run with its baseline, question by question, and finds the flaky questions of both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.summary.gate.baseline_reader import Baseline, BaselineRow, passes_and_fails
from pytest_ragcheck.summary.gate.gate_replies import Change, evidence_of
from pytest_ragcheck.summary.gate.procedure.compared_question import passes
from pytest_ragcheck.summary.gate.saved_answer import ASKED, PARTS
from pytest_ragcheck.summary.gate.saved_answer import EXPECTED as ANSWERS
from pytest_ragcheck.summary.run_outcomes import COMPARING, EXPECTED, GateRules, Outcomes
from pytest_ragcheck.verdict.record import Record
from pytest_ragcheck.verdict.verdict import Verdict

ACCEPT = "ragcheck baseline accept"
_GROUPS = ("newly_failing", "expected_failing", "still_failing", "newly_passing", "still_passing", "not_measured")


@frozen
class Comparison:
    """Every question of the run or the baseline is in exactly one of the groups."""

    baseline: Baseline
    newly_failing: tuple[Change, ...]
    """PASS before, FAIL now."""

    expected_failing: tuple[Change, ...]
    """PASS before, FAIL now, and tolerated: xfail, or in quarantine."""

    still_failing: tuple[Change, ...]
    """FAIL or ERROR before, FAIL now."""

    newly_passing: tuple[Change, ...]
    """FAIL or ERROR before, PASS now."""

    still_passing: tuple[Change, ...]
    apart: tuple[Change, ...]
    """The labels differ from those of every saved run, so that no recorded score is comparable."""

    not_measured: tuple[Change, ...]
    """ERROR now."""

    missing: tuple[BaselineRow, ...]
    """In the baseline, and not in the project any more."""

    not_run: tuple[BaselineRow, ...]
    """In the baseline and not run: skipped, deselected, or outside of the selected tests."""

    new: tuple[Record, ...]

    missing_allowed: bool = False

    partial: bool = False
    """True if questions of the baseline were deselected or are outside of the selected tests."""

    accept: str = ACCEPT

    @property
    def lost(self) -> tuple[BaselineRow, ...]:
        """The missing questions that turn the gate red."""
        return () if self.missing_allowed else self.missing

    @property
    def worse(self) -> bool:
        return bool(self.newly_failing or self.lost)

    @property
    def compared(self) -> tuple[Change, ...]:
        """The questions with a PASS or a FAIL in this run."""
        return tuple(change for name in _GROUPS[:-1] for change in getattr(self, name))

    @property
    def changed(self) -> tuple[Change, ...]:
        """The questions with another text or labels; each is also in its group."""
        return tuple(change for change in (*self.compared, *self.not_measured) if change.edited)

    @property
    def measured(self) -> list[Change]:
        """The compared questions that were no ERROR before."""
        return [change for change in self.compared if change.before.verdict is not Verdict.ERROR]

    @property
    def with_other_prompt(self) -> list[Change]:
        return [
            change
            for change in self.measured
            if change.before.prompt_version != (change.now.judge and change.now.judge.prompt_version)
        ]

    @property
    def with_other_thresholds(self) -> list[Change]:
        rows = self.baseline.rows
        return [change for change in self.measured if _differ(rows[change.before.key], change.now)]


def compare(
    baseline: Baseline,
    outcomes: Outcomes,
    rules: GateRules,
    *,
    clean: Callable[[str], str],
    expects: Callable[[str, str], bool],
) -> Comparison:
    """
    Compare the run with the baseline, which must be read before the results of the run replace it.

    The *rules* decide whether questions may be missing, and whether reworded ones are compared. *clean* redacts a text
    as those of the baseline are. *expects* takes the dataset name and id of a question, and returns True if the run
    would collect it, so that an absent question was deleted.
    """
    collected = {(clean(s.dataset_name), clean(question.id)) for s in outcomes.sets for question in s.questions}
    groups: dict[str, list[Change]] = defaultdict(list)
    new, matched = [], set()
    for record in outcomes.records:
        question = record.question
        row = baseline.row(question, clean)
        if row is None:
            new.append(record)
            continue
        matched.add(row.key)
        reworded = clean(question.question) != row.question
        before = _under_todays_rules(row, record) if rules.gate in COMPARING else row
        change = Change(before=before, now=record, reworded=reworded)
        expected = question.quarantine is not None or outcomes.excused.get(question.key, "").startswith(EXPECTED)
        apart = rules.gate in COMPARING and (reworded or _is_relabelled(row, record))
        groups["apart" if apart else _group(change, expected=expected)].append(change)
    unmatched = [row for key, row in baseline.rows.items() if key not in matched]
    missing = {row.key for row in unmatched if row.key not in collected and expects(*row.key)}
    out_of_reach = any(row.key not in collected | missing for row in unmatched)
    grouped: dict[str, Any] = {name: tuple(groups[name]) for name in (*_GROUPS, "apart")}
    return Comparison(
        baseline=baseline,
        **grouped,
        missing=tuple(row for row in unmatched if row.key in missing),
        not_run=tuple(row for row in unmatched if row.key not in missing),
        new=tuple(new),
        missing_allowed=rules.missing == "allowed",
        partial=out_of_reach or not outcomes.complete,
    )


def examined_against(baseline: Baseline, outcomes: Outcomes) -> Outcomes:
    """The outcomes without the evidence of a gate that used another baseline, or no saved run."""
    records = tuple(
        record
        if tuple(record.evidence.get("saved_runs", ())) == baseline.runs
        and (record.evidence.get("known") or record.evidence.get("apart"))
        else replace(record, evidence={}, verdict_cached=record.verdict_cached and not record.evidence.get("same"))
        for record in outcomes.records
    )
    return replace(outcomes, records=records)


def _is_relabelled(row: BaselineRow, record: Record) -> bool:
    # A replay, or a run without this gate, has no evidence that the labels changed. Result files lack the labels.
    if record.evidence or record.question.path is None or record.verdict is Verdict.ERROR:
        return False
    parts = {PARTS.get(metric, ANSWERS) for metric in record.shortfalls or record.thresholds}
    same = (looks[0].has_labels_of(record.question, part, ASKED) for part in parts for looks in row.saved)
    return bool(row.saved and parts) and not any(same)


def _under_todays_rules(row: BaselineRow, record: Record) -> BaselineRow:
    evidence, scores, answer = evidence_of(record), row.metrics, row.answer
    if evidence is not None and evidence.known:
        compared = evidence.compared(record)
        passed, scores = compared.before.passed, compared.before.scores
        for look in row.answers if compared.stumbled else ():
            answer = look.text if look.passed and look.text else answer
    elif evidence is None and record.thresholds and record.thresholds.keys() <= scores.keys():
        # A replay, or a run without this gate, did not rescore recorded answers.
        passed = passes(scores, record.thresholds)
    else:
        return row
    # A maximum that was exceeded then is not recorded, its FAIL is.
    passed = passed and not (is_above_maximum_alone(record) and row.verdict is Verdict.FAIL)
    verdict = Verdict.PASS if passed else Verdict.FAIL
    return replace(row, verdict=verdict, metrics=scores, thresholds=record.thresholds, answer=answer)


def _group(change: Change, *, expected: bool) -> str:
    passed = change.before.verdict is Verdict.PASS
    if change.now.verdict is Verdict.ERROR:
        return "not_measured"
    evidence = evidence_of(change.now)
    if evidence is not None and evidence.apart:
        return "apart"
    passes = evidence is not None and evidence.now.passed and not change.now.exceeded
    if change.now.verdict is Verdict.PASS or passes:
        return "still_passing" if passed else "newly_passing"
    if not passed:
        return "still_failing"
    return "expected_failing" if expected else "newly_failing"


def is_above_maximum_alone(record: Record) -> bool:
    """True if a measurement is above its maximum, and no compared score is too low."""
    evidence = evidence_of(record)
    return bool(record.exceeded) and (not record.shortfalls if evidence is None else evidence.now.passed)


def _differ(row: BaselineRow, now: Record) -> bool:
    # True if the thresholds differ, other than by a metric that does not apply to the answer of today.
    then = {m: round(t, 6) for m, t in row.thresholds.items() if m in now.thresholds or m not in now.dropped}
    return then != {m: round(t, 6) for m, t in now.thresholds.items()}


@frozen
class Flaky:
    dataset_name: str
    question_id: str
    passes: int
    fails: int


def flaky_in_history(baseline: Baseline) -> tuple[Flaky, ...]:
    """The questions that both passed and failed in the baseline, those nearest to half and half first."""
    return _sorted(
        Flaky(dataset_name=row.dataset_name, question_id=row.id, passes=row.passes, fails=row.fails)
        for row in baseline.rows.values()
        if row.passes and row.fails
    )


def flaky_in_run(
    records: Iterable[Record], baseline: Baseline | None, *, clean: Callable[[str], str]
) -> tuple[Flaky, ...]:
    """
    The questions of a run that both passed and failed, in its baseline or in the run itself.

    A question that always passed before and always fails now has changed and is not flaky. Questions in quarantine are
    left out, and so are broken prohibitions, which no passing answer excuses. *clean* removes secrets from a text, as
    from the texts of the baseline.
    """
    found = []
    for record in records:
        question = record.question
        earlier = (0, 0)
        if baseline is not None:
            before = baseline.row(question, clean)
            if before is not None and before.question == clean(question.question):
                earlier = (before.passes, before.fails)
        if not (record.repeated or record.asked_again or all(earlier)):
            continue  # a single verdict, as most records have
        passes, fails = passes_and_fails(record.verdict, record.repeated, record.thresholds)
        passes += record.asked_again.count(Verdict.PASS.value)
        fails += record.asked_again.count(Verdict.FAIL.value)
        if question.quarantine is None and not record.leaks and (all(earlier) or (passes and fails)):
            passes, fails = passes + earlier[0], fails + earlier[1]
            found.append(Flaky(dataset_name=question.dataset_name, question_id=question.id, passes=passes, fails=fails))
    return _sorted(found)


def _sorted(found: Iterable[Flaky]) -> tuple[Flaky, ...]:
    return tuple(sorted(found, key=lambda each: abs(each.passes - each.fails) / (each.passes + each.fails)))
