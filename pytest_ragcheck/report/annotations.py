"""Failed questions as annotations of GitHub's, at their line of the question file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.report.failure import first_line, printable
from pytest_ragcheck.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from pytest_ragcheck.record import Record

MOST = 10
"""GitHub shows ten errors and ten warnings of a step (its documentation of workflow commands, 2026)."""


def annotation_lines(
    records: Iterable[Record],
    *,
    environment: Mapping[str, str],
    gate: str = "",
    xfailed: Collection[tuple[str, str]] = (),
) -> Iterator[str]:
    """
    A workflow command for each FAIL and ERROR, as many as are shown; none outside of GitHub's actions.

    Args:
        records: In the order in which they are wanted.
        environment: Of the process: whether it is a step, and where the repository is.
        gate: What is held against the run as a whole, in one line; it comes first.
        xfailed: Dataset name and id of questions whose FAIL is none of the run's errors, but a warning.
    """
    if environment.get("GITHUB_ACTIONS") != "true":
        return
    root = Path(environment.get("GITHUB_WORKSPACE") or Path.cwd())
    errors = [f"::error title=gate::{_message(printable(gate))}"] if gate else []
    warnings: list[str] = []
    for record in records:
        if record.verdict is Verdict.PASS:
            continue
        question = record.question
        excused = record.verdict is Verdict.FAIL and (question.dataset_name, question.id) in xfailed
        where = warnings if excused else errors
        if len(where) < MOST:
            where.append(f"::{'warning' if excused else 'error'} {_place(record, root)}")
    yield from (*errors, *warnings)


def _place(record: Record, root: Path) -> str:
    question = record.question
    place = ""
    if question.path is not None:
        path = question.path.relative_to(root) if question.path.is_relative_to(root) else question.path
        place = f"file={_property(path.as_posix())},line={question.line or 1},"
    title = _property(f"{record.verdict.value} {question.id}")
    return f"{place}title={title}::{_message(printable(first_line(record)))}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
