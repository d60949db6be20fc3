"""Reads the runs of a trend from predictions files and from committed versions of a baseline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from pathlib import Path

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.summary.gate.baseline_reader import BaselineRow, error_row, measured_row
from pytest_ragcheck.summary.gate.git_revision import InGit, versions
from pytest_ragcheck.summary.predictions_reader import Fields, Key, Unusable, naming, read_document, rows
from pytest_ragcheck.verdict.verdict import Verdict

_GIVE = "Give the {agent}_predictions.json of a run, or a baseline."
_ANEW = "Run the questions once more to have such a file."


@frozen
class TrendRun:
    """One run, or one committed version of a baseline."""

    name: str
    """The file, or the commit."""

    ended: datetime
    """In UTC."""

    agent_name: str
    complete: bool
    rows: Mapping[Key, BaselineRow]

    def repeats(self, other: TrendRun) -> bool:
        """True if both are the same run; a baseline may have recorded only some of its questions."""
        if (self.ended, self.agent_name) != (other.ended, other.agent_name):
            return False
        fewer, more = sorted((self._measured(), other._measured()), key=len)
        if not fewer:
            return not more and self.rows.keys() == other.rows.keys()
        return all(
            key in more
            and row.verdict is more[key].verdict
            and all(more[key].metrics.get(metric, value) == value for metric, value in row.metrics.items())
            for key, row in fewer.items()
        )

    def _measured(self) -> dict[Key, BaselineRow]:
        return {key: row for key, row in self.rows.items() if row.verdict is not Verdict.ERROR}


def read_run(path: Path) -> TrendRun:
    """
    The run in a predictions file, or the latest state of a baseline.

    Raises:
        UsageError: The file is neither.
    """
    with naming(path):
        return _run(path, path.as_posix())


def committed_runs(file: InGit, *, leave_out: Callable[[str], None]) -> list[TrendRun]:
    """
    The committed versions of a baseline up to a revision, oldest first.

    *leave_out* is called with the commit and the mistake of each version that is not a baseline.

    Raises:
        UsageError: git has no version, or none of them is a baseline.
    """
    found: list[TrendRun] = []
    mistakes: list[str] = []
    with naming(file.path.name):
        committed = versions(file)
    for version in committed:
        name = f"{file.path.name} in commit {version.rev}"
        try:
            found.append(_run(version, name))
        except Unusable as error:
            mistakes.append(f"{name}: {error}")
    if not found:
        raise UsageError(mistakes[-1])
    for mistake in mistakes:
        leave_out(mistake)
    return found


def _run(file: Path | InGit, name: str) -> TrendRun:
    document = read_document(file.read_bytes, wrong_kind=_GIVE, wrong_version=_ANEW)
    head = Fields(document, "the file")
    agent = head.text("agent_name")
    found = [*map(measured_row, rows(document, "predictions")), *map(error_row, rows(document, "errors"))]
    return TrendRun(
        name=name,
        ended=_time(head),
        agent_name=agent,
        complete=document.get("complete") is True,
        rows={row.key: row for row in found},
    )


def _time(head: Fields) -> datetime:
    try:
        # Python 3.10 reads no Z.
        ended = datetime.fromisoformat(head.text("timestamp").replace("Z", "+00:00"))
        return ended.astimezone(timezone.utc) if ended.tzinfo else ended.replace(tzinfo=timezone.utc)
    except (ValueError, OverflowError):
        raise head.mistake("timestamp") from None
