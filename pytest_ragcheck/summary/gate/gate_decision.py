"""Decides whether a whole run is red, in a pytest run and in the commands that read result files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.metrics.mentions import broken
from pytest_ragcheck.scores import PROHIBITIONS, is_below
from pytest_ragcheck.summary.gate.comparability import LostScores, differences, lost_scores
from pytest_ragcheck.summary.gate.gate_replies import Change, Judging, evidence_of, findings_of, judging_of
from pytest_ragcheck.summary.gate.procedure.count_test import floor_value
from pytest_ragcheck.summary.run_outcomes import COMPARING, GateRules, Outcomes
from pytest_ragcheck.verdict.verdict import Verdict

if TYPE_CHECKING:
    from pytest_ragcheck.summary.gate.baseline_comparison import Comparison
    from pytest_ragcheck.summary.gate.baseline_reader import Baseline, BaselineRow
    from pytest_ragcheck.summary.gate.procedure.gate_session import GateFindings
    from pytest_ragcheck.summary.predictions_reader import Key
    from pytest_ragcheck.verdict.record import Record


@frozen
class Rate:
    """The share of PASS among the *n* questions with PASS or FAIL that are not in quarantine."""

    n: int
    failing: frozenset[Key]
    lowest: float
    """The required share of passing questions, 0..1."""

    @property
    def passed(self) -> int:
        return self.n - len(self.failing)

    @property
    def is_too_low(self) -> bool:
        return bool(self.n) and is_below(self.passed / self.n, self.lowest)


@frozen
class Decision:
    rules: GateRules
    comparison: Comparison | None

    refusals: tuple[str, ...]
    """The reasons why the baseline is refused; empty if it is accepted."""

    findings: GateFindings | None
    """None under other gates than `confirmed` and `regression`, and if the baseline is refused."""

    judging: Judging

    examined: Sequence[Change]

    lost_scores: Sequence[LostScores]
    """The asserted metrics whose score some of these questions lost."""

    rate: Rate | None

    @property
    def baseline_red(self) -> bool:
        if self.comparison is None or self.rate is not None:
            # With the gate `rate`, the comparison is only shown.
            return False
        if self.findings is not None:
            # A gate that could not examine a question is not green.
            unexamined = self.findings.not_measured or self.judging.n_not_judged
            return bool(self.findings.red or unexamined or self.vanished or self.edited or self.comparison.lost)
        return bool(self.refusals) or self.comparison.worse

    @property
    def vanished(self) -> list[LostScores]:
        """The asserted metrics that lost more scores than chance explains."""
        return [each for each in self.lost_scores if each.red]

    @property
    def edited(self) -> list[Change]:
        """The edited questions that passed before and fail, if they are more than a few new labels explain."""
        if self.comparison is None:
            return []
        apart = self.comparison.apart
        broken = [c for c in apart if c.before.verdict is Verdict.PASS and c.now.verdict is Verdict.FAIL]
        repaired = sum(c.before.verdict is Verdict.FAIL and c.now.verdict is Verdict.PASS for c in apart)
        floor = floor_value(repaired, len(apart) + len(self.comparison.compared))
        return broken if len(broken) >= floor else []

    @property
    def red_questions(self) -> frozenset[Key]:
        """The questions that turn the gate red."""
        if self.rate is not None:
            return self.rate.failing if self.rate.is_too_low else frozenset()
        if not self.baseline_red or self.comparison is None or self.refusals:
            return frozenset()
        if self.findings is not None:
            edited = (change.now.question.key for change in self.edited)
            return frozenset((*self.findings.confirmed, *self.findings.not_measured, *edited))
        return frozenset(change.now.question.key for change in self.comparison.newly_failing)

    @property
    def confirmed(self) -> tuple[Key, ...]:
        """The questions that were confirmed as failing; empty if their number does not turn the gate red."""
        findings = self.findings
        if findings is None or (findings.count and not (findings.count.red or findings.count.floor_red)):
            return ()
        return findings.confirmed

    @property
    def red(self) -> bool:
        """True if the gate turns the run red; single questions may also be red."""
        return self.baseline_red or (self.rate is not None and self.rate.is_too_low)


def decide(outcomes: Outcomes, comparison: Comparison | None, rules: GateRules) -> Decision:
    """Decide on the run; the gates `confirmed` and `regression` need a comparison."""
    findings = None
    changes: list[Change] = []
    refusals = differences(comparison) if comparison is not None and rules.other_baseline == "refuse" else ()
    if comparison is not None and rules.gate in COMPARING and not refusals:
        expected = {change.before.key for change in comparison.expected_failing}
        changes = [
            change
            for change in comparison.measured
            # A question that may fail is not asked again.
            if change.now.question.quarantine is None
            and not change.now.question.xfail
            and change.before.key not in expected
        ]
        findings = findings_of(changes, rules, is_shard=outcomes.shard is not None)
    return Decision(
        rules=rules,
        comparison=comparison,
        refusals=refusals,
        findings=findings,
        judging=judging_of(changes),
        examined=changes,
        lost_scores=lost_scores(changes),
        rate=_rate(outcomes, rules),
    )


def why_tolerated(record: Record, rules: GateRules, baseline: Baseline | None, *, clean: Callable[[str], str]) -> str:
    """
    The reason why the gate tolerates a FAIL; empty if it does not.

    *clean* redacts a text, because the texts of the baseline are redacted.
    """
    question = record.question
    if question.quarantine is not None:
        return f"in quarantine: {question.quarantine}"
    if rules.lowest_rate is not None:
        return f"the gate is {rules.gate}"
    asserted = (score.value for metric, score in record.scores.items() if metric in record.thresholds)
    # The comparing gates allow for noise in scores; a maximum, a prohibition and a missing score have none.
    apart = record.exceeded or None in (*record.bounded.values(), *asserted)
    if rules.gate not in COMPARING or baseline is None or apart:
        return ""
    before = baseline.row(question, clean)
    if before is None or is_newly_forbidden(record, before):
        return ""
    # No history excuses a question with another text, as none excuses a new one.
    if before.verdict is Verdict.PASS and before.question != clean(question.question):
        return ""
    return _reason_by_baseline(record, before, baseline.name)


def is_newly_forbidden(record: Record, before: BaselineRow) -> bool:
    """True if no recorded answer broke as much of a prohibition, and the same texts or documents."""
    for metric, value in record.shortfalls.items():
        if metric in PROHIBITIONS:
            # A recorded score is rounded.
            leaks = [look for look in before.answers if look.scores.get(metric, 1.0) <= value + 1e-6]
            found = broken(metric, record.question, record.reply)
            # Further looks of a run have no texts; its first one is the leak. A redacted leak is not found.
            same = [
                found <= broken(metric, record.question, look.reply) and bool(found or look.is_redacted)
                for look in leaks
                if look.reply is not None
            ]
            if not leaks or (same and not any(same)):
                return True
    return False


def _reason_by_baseline(record: Record, before: BaselineRow, baseline: str) -> str:
    evidence = evidence_of(record)
    again = ", ".join(record.asked_again)
    why = f"{before.verdict.value} in {baseline}: the gate decides{f' (asked again: {again})' if again else ''}"
    if evidence is not None and evidence.known and evidence.compared(record).stumbled:
        return why
    if before.verdict is not Verdict.PASS:
        why = f"{before.verdict.value} in {baseline} too"
    elif evidence is None:
        return why
    elif evidence.apart:
        why = f"not comparable with {baseline}: {evidence.apart}"
    elif evidence.now.passed and evidence.ids_renamed:
        why = f"document ids differ from {baseline}, so metrics by id cannot be compared"
    elif evidence.now.passed:
        why = f"{baseline} has no {', '.join(m for m in record.thresholds if m not in evidence.thresholds)}"
    elif not evidence.known[-1].passed:
        why = f"FAIL in {baseline} too, under today's labels and thresholds"
    return why


def tolerated(
    outcomes: Outcomes, rules: GateRules, baseline: Baseline | None, *, clean: Callable[[str], str]
) -> dict[Key, str]:
    """
    Return, by dataset name and id, the reason of each FAIL that does not turn the run red by itself.

    *clean* is as for `why_tolerated`.
    """
    failed = {record.question.key: record for record in outcomes.measured if record.verdict is Verdict.FAIL}
    reasons = {key: why_tolerated(record, rules, baseline, clean=clean) for key, record in failed.items()}
    return {key: why for key, given in reasons.items() if (why := outcomes.excused.get(key, given))}


def red_by_themselves(outcomes: Outcomes) -> list[Record]:
    """The records that turn a run red without the gate: each ERROR, and each FAIL that is not tolerated."""
    return [
        record
        for record in outcomes.records
        if record.verdict is not Verdict.PASS and record.question.key not in outcomes.tolerated
    ]


def _rate(outcomes: Outcomes, rules: GateRules) -> Rate | None:
    if rules.lowest_rate is None:
        return None
    counted = [record for record in outcomes.measured if record.question.quarantine is None]
    failing = frozenset(record.question.key for record in counted if record.verdict is Verdict.FAIL)
    return Rate(n=len(counted), failing=failing, lowest=rules.lowest_rate)
