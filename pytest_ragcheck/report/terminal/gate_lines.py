"""Renders the gate's decision as lines, with flaky questions, and annotates failed questions in GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from pytest_ragcheck.redaction.printable import printable
from pytest_ragcheck.report.terminal.comparison_lines import (
    accept_advice,
    comparison_lines,
    regressions_text,
)
from pytest_ragcheck.report.terminal.findings_lines import (
    examined_groups,
    findings_headline,
    findings_lines,
    red_lines,
)
from pytest_ragcheck.summary.gate.baseline_comparison import Comparison, Flaky
from pytest_ragcheck.summary.gate.gate_decision import Decision, Rate
from pytest_ragcheck.summary.gate.procedure.gate_session import GateFindings
from pytest_ragcheck.summary.metric_statistics import wilson
from pytest_ragcheck.summary.run_outcomes import Outcomes
from pytest_ragcheck.verdict.failure_text import first_line
from pytest_ragcheck.verdict.record import Record
from pytest_ragcheck.verdict.verdict import Verdict

MOST = 10
"""GitHub shows ten errors and ten warnings for each step (documentation of workflow commands, 2026)."""


def decision_lines(decision: Decision) -> Iterator[str]:
    """Yield the lines for the end of a run; none if the gate examined nothing."""
    comparison, findings, rate = decision.comparison, decision.findings, decision.rate
    if comparison is not None and decision.refusals:
        yield printable(f"baseline {comparison.baseline.name}: refused: {'; '.join(decision.refusals)}")
    elif comparison is not None:
        examined = None if findings is None else examined_groups(comparison, findings)
        yield from comparison_lines(comparison, examined)
        if findings is not None:
            yield from map(printable, findings_lines(comparison, findings, decision))
    if rate is not None:
        shown = f"pass rate {_share(rate)}" if rate.n else "no question has a PASS or a FAIL"
        yield f"gate rate:{rate.lowest:g}: {shown}"


def lines_beside(text: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines that are not in *text*, the failure text above them."""
    shown = set(text.splitlines())
    dropped = False
    for line in lines:
        # "... and 3 more" can also belong to another group.
        dropped = line in shown and (dropped or not line.startswith("  ..."))
        if not dropped:
            yield line


def decision_text(decision: Decision) -> str:
    """The failure text of the gate, whose first line is the summary; empty if the gate is green."""
    return "\n\n".join(_red_texts(decision))


def decision_headline(decision: Decision) -> str:
    return "; ".join(text.partition("\n")[0] for text in _red_texts(decision))


def _red_texts(decision: Decision) -> Iterator[str]:
    comparison = decision.comparison
    if comparison is not None and decision.baseline_red:
        name, findings = comparison.baseline.name, decision.findings
        if decision.refusals:
            differences = f"{name} cannot be compared: {'; '.join(decision.refusals)}"
            yield _printable(differences, "", accept_advice(comparison, refused=True))
        elif findings is not None:
            first = f"{findings_headline(comparison, findings, decision)} against {name}"
            advice = _advice(comparison, findings, decision)
            yield _printable(first, "", *red_lines(comparison, findings, decision), "", *advice)
        else:
            yield regressions_text(comparison)
    if decision.rate is not None and decision.rate.is_too_low:
        yield f"pass rate {_share(decision.rate)} is below {decision.rate.lowest:g}"


def _printable(*lines: str) -> str:
    return "\n".join(map(printable, lines))


def _advice(comparison: Comparison, findings: GateFindings, decision: Decision) -> Iterator[str]:
    if findings.not_measured or decision.judging.n_not_judged:
        yield (
            "Raise --rag-max-cost, so that the gate can examine all questions."
            if decision.judging.n_over_budget
            else "Run again when the endpoint and the judge work, so that the gate can examine all questions."
        )
    if findings.red or decision.vanished or decision.edited or comparison.lost:
        yield accept_advice(comparison)


def _share(rate: Rate) -> str:
    # The rate with its interval, which does not affect the decision.
    passed, n = rate.passed, rate.n
    low, high = wilson(passed / n, n)
    # Truncated, so that 0.8996 is not shown as 0.90.
    return f"{int(passed * 1000 / n) / 1000:.3f} ({passed} of {n}; 95 % interval {low:.3f} to {high:.3f})"


_NAMED = 20

QUARANTINE = 'a flaky question with "quarantine: REASON" in its file runs, and does not gate'


def flaky_lines(flaky: Sequence[Flaky]) -> Iterator[str]:
    for each in flaky[:_NAMED]:
        times = each.passes + each.fails
        yield printable(f"flaky: {each.dataset_name}::{each.question_id} passed {each.passes} of {times} times")
    if len(flaky) > _NAMED:
        yield f"flaky: {len(flaky) - _NAMED} more"
    if flaky:
        yield QUARANTINE


def annotation_lines(
    outcomes: Outcomes, *, environment: Mapping[str, str], decision: Decision | None = None
) -> Iterator[str]:
    """
    Yield a workflow command for each FAIL and ERROR that GitHub shows; nothing outside GitHub Actions.

    A question that turns the run red is an error, after the gate's own reason. A tolerated FAIL is a warning.
    """
    if environment.get("GITHUB_ACTIONS") != "true":
        return
    root = Path(environment.get("GITHUB_WORKSPACE") or Path.cwd())
    held = decision.red_questions if decision is not None else frozenset()
    gate = decision_headline(decision) if decision is not None else ""
    errors = [f"::error title=gate::{_message(printable(gate))}"] if gate else []
    warnings: list[str] = []
    for record in outcomes.records:
        key = record.question.key
        if record.verdict is not Verdict.PASS:
            excused = record.verdict is Verdict.FAIL and key in outcomes.tolerated and key not in held
            where = warnings if excused else errors
            if len(where) < MOST:
                where.append(_line("warning" if excused else "error", record, root))
    yield from (*errors, *warnings)


def _line(level: str, record: Record, root: Path) -> str:
    question = record.question
    place = ""
    if question.path is not None:
        path = question.path.relative_to(root) if question.path.is_relative_to(root) else question.path
        place = f"file={_property(path.as_posix())},line={question.line or 1},"
    title = _property(f"{record.verdict.value} {question.id}")
    return f"::{level} {place}title={title}::{_message(printable(first_line(record)))}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
