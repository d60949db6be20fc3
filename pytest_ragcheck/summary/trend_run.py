"""Reads the runs of a trend from predictions files and from committed versions of a baseline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.summary.gate.git_revision import InGit, versions
from pytest_ragcheck.summary.gate.recorded.saved_runs import with_latest_answer
from pytest_ragcheck.summary.predictions_reader import Fields, Unusable, judge_of, read_document, rows
from pytest_ragcheck.verdict.verdict import Verdict

if TYPE_CHECKING:
    from pytest_ragcheck.judging.judgement import JudgeIdentity

_GIVE = "Give the {agent}_predictions.json of a run, or a baseline."
_ANEW = "Run the questions once more to have such a file."

Key = tuple[str, str]
"""Dataset name and id of a question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendRow:
    """One question of one run."""

    dataset_name: str
    id: str
    question: str
    verdict: Verdict
    answer: str | None = None
    """The answer; None if there is none, or if the file keeps none."""

    reason: str = ""
    """Why the question failed or could not be measured; empty for a PASS, and in a compact baseline."""

    metrics: Mapping[str, float] = field(default_factory=dict)
    """The measured scores; empty on ERROR."""

    thresholds: Mapping[str, float] = field(default_factory=dict)
    """The asserted minimums, by metric."""

    circumstances: Mapping[str, str] = field(default_factory=dict)
    """Judge, prompt, tier and the like; a value that the file does not have is absent."""

    served_by: str = ""
    """Model and fingerprint that the judge's server named; empty if it named none."""

    @property
    def key(self) -> Key:
        return self.dataset_name, self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendRun:
    """One run, or one committed version of a baseline."""

    name: str
    """The file, or the commit."""

    ended: datetime
    """In UTC."""

    agent_name: str
    complete: bool
    rows: Mapping[Key, TrendRow]

    def repeats(self, other: TrendRun) -> bool:
        """True if both are the same run; a baseline may have recorded only some of its questions."""
        if (self.ended, self.agent_name) != (other.ended, other.agent_name):
            return False
        fewer, more = sorted((self._measured(), other._measured()), key=len)
        if not fewer:
            return not more and self.rows.keys() == other.rows.keys()
        return all(
            key in more and row.verdict is more[key].verdict and _agree(row.metrics, more[key].metrics)
            for key, row in fewer.items()
        )

    def _measured(self) -> dict[Key, TrendRow]:
        return {key: row for key, row in self.rows.items() if row.verdict is not Verdict.ERROR}


def _agree(left: Mapping[str, float], right: Mapping[str, float]) -> bool:
    return all(left[metric] == right[metric] for metric in left.keys() & right.keys())


def read_run(path: Path) -> TrendRun:
    """
    Return the run in a predictions file, or the latest state of a baseline.

    Raises:
        UsageError: The file is neither.
    """
    try:
        return _run(path, path.as_posix())
    except Unusable as error:
        raise UsageError(f"{path}: {error}") from None


def committed_runs(file: InGit, *, leave_out: Callable[[str], None]) -> list[TrendRun]:
    """
    Return the committed versions of a baseline up to a revision, oldest first.

    Args:
        file: The baseline and the revision.
        leave_out: Gets the commit and the mistake of each version that is not a baseline, since history stays.

    Raises:
        UsageError: git has no version, or none of them is a baseline.
    """
    found: list[TrendRun] = []
    mistakes: list[str] = []
    try:
        committed = versions(file)
    except Unusable as error:
        raise UsageError(f"{file.path.name}: {error}") from None
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
    document = read_document(file, wrong_kind=_GIVE, wrong_version=_ANEW)
    head = Fields(document, "the file")
    agent = head.text("agent_name")
    found = [_measured(Fields(with_latest_answer(each), each.place), agent) for each in rows(document, "predictions")]
    found += [_error(each) for each in rows(document, "errors")]
    return TrendRun(
        name=name,
        ended=_time(head),
        agent_name=agent,
        complete=document.get("complete") is True,
        rows={row.key: row for row in found},
    )


def _time(head: Fields) -> datetime:
    try:
        ended = datetime.fromisoformat(head.text("timestamp"))
        return ended.astimezone(timezone.utc) if ended.tzinfo else ended.replace(tzinfo=timezone.utc)
    except (ValueError, OverflowError):
        raise head.mistake("timestamp") from None


def _measured(fields: Fields, agent: str) -> TrendRow:
    said = fields.object_or_null("judgement")
    return TrendRow(
        dataset_name=fields.text("dataset_name"),
        id=fields.text("question_id"),
        question=fields.text("question"),
        verdict=fields.verdict(),
        answer=fields.text_or_null("prediction"),
        reason=fields.text_or_null("reason") or "",
        metrics=fields.numbers("metrics"),
        thresholds=fields.numbers("thresholds"),
        circumstances=_circumstances(fields, agent),
        served_by=(said.text_or_null("served_by") or "") if said else "",
    )


def _error(fields: Fields) -> TrendRow:
    return TrendRow(
        dataset_name=fields.text("dataset_name"),
        id=fields.text("question_id"),
        question=fields.text("question"),
        verdict=Verdict.ERROR,
        answer=fields.text_or_null("prediction"),
        reason=f"{fields.text('kind')}: {fields.text('message')}",
    )


def _circumstances(fields: Fields, agent: str) -> dict[str, str]:
    judge = judge_of(fields)
    top_k = fields.whole_or_null("top_k")
    found = {
        "agent": agent,
        "judge": _named(judge),
        "prompt": fields.text_or_null("prompt_version") or "",
        "judge's parameters": (judge.parameters or "") if judge else "",
        "tier": fields.text_or_null("tier") or "",
        "top_k": "" if top_k is None else str(top_k),
        "minimum": ", ".join(f"{metric} {value:g}" for metric, value in sorted(fields.numbers("thresholds").items())),
    }
    return {name: value for name, value in found.items() if value}


def _named(judge: JudgeIdentity | None) -> str:
    if judge is None:
        return "none"
    return f"{judge.kind} {judge.model}" if judge.model else judge.kind
