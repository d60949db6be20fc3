"""The findings of the gate as a person reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.report.terminal.comparison_lines import Writer
from pytest_ragcheck.report.terminal.drift_lines import drift_lines
from pytest_ragcheck.summary.gate.procedure.gate_findings import Outcome
from pytest_ragcheck.summary.gate.procedure.gate_session import FEWEST_QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_ragcheck.summary.gate.baseline_comparison import Change, Comparison
    from pytest_ragcheck.summary.gate.gate_decision import Decision
    from pytest_ragcheck.summary.gate.procedure.gate_findings import (
        CountFinding,
        Examined,
        GateFindings,
        MeanFinding,
        SideBySide,
    )
    from pytest_ragcheck.summary.gate.run_findings import Judging

_BY_DAY = "no number of asks tells a change from a bad day. Save more runs of other days."


def findings_headline(comparison: Comparison, findings: GateFindings) -> str:
    """The reasons of a red gate, in one line without the name of the baseline."""
    mean = findings.mean
    counts = {
        "confirmed as failing": len(findings.confirmed),
        "could not be asked or judged again": len(findings.not_measured),
        "missing": len(comparison.lost),
    }
    dropped = [f"mean dropped by {mean.drop:.3f}"] if mean is not None and mean.red else []
    return ", ".join((*dropped, *(f"{count} {title}" for title, count in counts.items() if count)))


def held_lines(comparison: Comparison, findings: GateFindings) -> Iterator[str]:
    """The questions and the means that turn the gate red."""
    if findings.mean is not None and findings.mean.red:
        yield _mean(findings.mean)
        yield from (f"  {each.metric} dropped by {each.drop:.3f} (p = {each.p:.2g})" for each in findings.mean.metrics)
    yield from _candidates(comparison, findings, (Outcome.CONFIRMED, Outcome.NOT_MEASURED))
    if findings.count is not None:
        yield _count(findings.count)
    if comparison.lost:
        yield from Writer(comparison).missing()


def findings_lines(comparison: Comparison, findings: GateFindings, decision: Decision) -> Iterator[str]:
    """All findings for the end of a run; `held_lines` are in the text of the gate."""
    if decision.judging is not None:
        yield from _judging(decision.judging)
    if decision.drift is not None:
        yield from drift_lines(decision.drift)
    if lacking := comparison.baseline.n_without_contexts:
        yield (
            f"{lacking} questions cannot be scored or judged again: the file of contexts beside "
            f"{comparison.baseline.name} lacks their texts"
        )
    if decision.terms.gate != findings.gate:
        yield f"fewer than {FEWEST_QUESTIONS} questions: the gate {decision.terms.gate} decides as {findings.gate}"
    harmless = (Outcome.PASSED_AGAIN, Outcome.NOT_WORSE, Outcome.JUDGE_STRICTER)
    yield from _candidates(comparison, findings, harmless)
    if not findings.red:
        yield from _candidates(comparison, findings, (Outcome.CONFIRMED,))
    if findings.count is not None:
        yield _count(findings.count)
    if findings.mean is not None:
        yield _mean(findings.mean)
    if findings.fails_by_day:
        yield f"{len(findings.fails_by_day)} questions failed in one saved run and passed in another: {_BY_DAY}"
    if findings.documents_share_noise:
        yield (
            "answers from the same document change together: name the documents as gold passages, "
            "so that each counts as one"
        )


def _judging(judging: Judging) -> Iterator[str]:
    if not judging.n_same + judging.n_changed:
        return
    yield (
        f"{judging.n_same} answers are recorded ones and keep their verdicts, {judging.n_changed} changed, "
        f"{judging.n_drift} recorded ones were judged anew"
    )
    if judging.drift:
        drift = ", ".join(f"{metric} {by:+.3f}" for metric, by in judging.drift.items())
        yield f"judge drift on unchanged answers: {drift}"


def _candidates(comparison: Comparison, findings: GateFindings, outcomes: tuple[Outcome, ...]) -> Iterator[str]:
    by_key = {
        (change.now.question.dataset_name, change.now.question.id): change
        for change in (*comparison.compared, *comparison.not_measured)
    }
    write = Writer(comparison)
    for outcome in outcomes:
        found = {each.question.key: each for each in findings.candidates if each.outcome is outcome}
        changes = [by_key[key] for key in found]

        def words(change: Change, found: dict[tuple[str, str], Examined] = found) -> str:
            return _words(found[change.now.question.dataset_name, change.now.question.id])

        yield from write.changes(outcome.value, changes, words)


def _words(each: Examined) -> str:
    again = ", ".join("PASS" if look.passed else "FAIL" for look in each.again)
    asked = f"FAIL, asked again {again}" if again else "FAIL, not asked again"
    return asked if each.side_by_side is None else f"{asked}; {_side_by_side(each.side_by_side)}"


def _side_by_side(found: SideBySide) -> str:
    recorded, new = (sum(margins) / len(margins) for margins in (found.recorded, found.new))
    # A deterministic judge leaves nothing to chance, and p is 0.
    chance = f" (p = {found.p:.2g})" if found.p else ""
    return f"margin {recorded:+.2f} for the recorded answer, {new:+.2f} for the new one{chance}"


def _count(count: CountFinding) -> str:
    runs = "1 saved run" if count.known_runs == 1 else f"{count.known_runs} saved runs"
    found = f"{count.broken} of {count.n_units} {count.unit}s broke and {count.improved} improved against {runs}"
    if count.needed is None:
        return f"{found}: no number of broken {count.unit}s turns this gate red. Ask more questions, or save more runs."
    return f"{found} (p = {count.p:.2g}): {count.needed} broken ones are red"


def _mean(mean: MeanFinding) -> str:
    found = f"mean over the asserted metrics {-mean.drop:+.3f} over {mean.n} questions (p = {mean.p:.2g})"
    if mean.visible_drop is None:
        return found
    return f"{found}: a drop of {mean.visible_drop:.3f} would be seen in about four of five such runs"
