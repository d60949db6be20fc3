"""Failed questions as annotations of GitHub's, at their line of the question file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.report.failure import first_line, printable
from pytest_ragcheck.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pytest_ragcheck.record import Record

MOST = 10
"""GitHub shows ten errors of a step (its documentation of workflow commands, 2026)."""


def annotation_lines(records: Iterable[Record], *, environment: Mapping[str, str]) -> Iterator[str]:
    """
    A workflow command for each FAIL and ERROR, as many as are shown; none outside of GitHub's actions.

    Args:
        records: In the order in which they are wanted.
        environment: Of the process: whether it is a step, and where the repository is.
    """
    if environment.get("GITHUB_ACTIONS") != "true":
        return
    root = Path(environment.get("GITHUB_WORKSPACE") or Path.cwd())
    bad = [record for record in records if record.verdict is not Verdict.PASS]
    for record in bad[:MOST]:
        question = record.question
        place = ""
        if question.path is not None:
            path = question.path.relative_to(root) if question.path.is_relative_to(root) else question.path
            place = f"file={_property(path.as_posix())},line={question.line or 1},"
        title = _property(f"{record.verdict.value} {question.id}")
        yield f"::error {place}title={title}::{_message(printable(first_line(record)))}"


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
