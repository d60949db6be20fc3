"""Annotates failed questions in GitHub Actions, at their lines of the question file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from pytest_ragcheck.redaction.printable import printable
from pytest_ragcheck.report.terminal.gate_lines import decision_headline
from pytest_ragcheck.summary.gate.gate_decision import Decision
from pytest_ragcheck.summary.run_outcomes import Outcomes
from pytest_ragcheck.verdict.failure_text import first_line
from pytest_ragcheck.verdict.record import Record
from pytest_ragcheck.verdict.verdict import Verdict

MOST = 10
"""GitHub shows ten errors and ten warnings for each step (documentation of workflow commands, 2026)."""


def annotation_lines(
    outcomes: Outcomes, *, environment: Mapping[str, str], decision: Decision | None = None
) -> Iterator[str]:
    """
    Yield a workflow command for each FAIL and ERROR that GitHub shows; nothing outside GitHub Actions.

    A question that turns the run red is an error, after the gate's own reason. A tolerated FAIL is a warning. The
    *environment* names the CI service and the repository.
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
