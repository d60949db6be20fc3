"""Reads runs, and lines them up by time: means with intervals, and the outcome of each question in each run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal, get_args

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.short_texts import some
from pytest_ragcheck.summary.gate.baseline_reader import BaselineRow, error_row, measured_row
from pytest_ragcheck.summary.metric_statistics import mean_interval, wilson
from pytest_ragcheck.summary.predictions_reader import (
    Fields,
    InGit,
    Key,
    Unusable,
    judge_name,
    naming,
    read_document,
    rows,
    versions,
)
from pytest_ragcheck.verdict.verdict import Verdict

PASS_RATE = "pass rate"  # noqa: S105 - no password
"""The first line of a trend: the share of PASS among PASS and FAIL."""

State = Literal["failing", "not measured", "passing again", "passing", "not in the latest run"]
"""The states of a question, in the order in which they are shown."""

_SHOWN = 3
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


@frozen
class TrendPoint:
    """A mean of one run, over the questions that have a value."""

    mean: float
    low: float
    """Lower end of the 95 % interval; equal to `mean` for a single value."""

    high: float
    n: int
    """The number of values, >= 1."""


@frozen
class TrendLine:
    name: str
    asserted: bool
    points: tuple[TrendPoint | None, ...]
    """A point for each run; None if the run has no value, since an empty mean is not 0."""


@frozen
class TrendQuestion:
    rows: tuple[BaselineRow | None, ...]
    """A row for each run; None if the run does not have the question."""

    state: State
    """By its latest PASS or FAIL; `not measured` if no run has one."""

    first_bad: int | None
    """The run with the first FAIL of the latest series, from 0; None if the question never failed."""

    @property
    def latest(self) -> BaselineRow:
        return next(row for row in reversed(self.rows) if row is not None)

    @property
    def last_good(self) -> int | None:
        """The last run with a PASS before the first bad one; None if there is none."""
        before = range(self.first_bad or 0)
        return max((n for n in before if _verdict(self.rows[n]) is Verdict.PASS), default=None)


@frozen
class Trend:
    runs: tuple[TrendRun, ...]
    changes: tuple[tuple[str, ...], ...]
    """For each run, the changes of judge, prompt, minimums and so on since the runs before."""

    lines: tuple[TrendLine, ...]
    questions: tuple[TrendQuestion, ...]
    """Failing ones first, most recently broken first."""


def trend_of(runs: Iterable[TrendRun]) -> Trend:
    """The trend over at least one run; the last counts if a run is given twice."""
    by_time: dict[tuple[datetime, str], list[TrendRun]] = {}
    for run in runs:
        same = by_time.setdefault((run.ended, run.agent_name), [])
        same[:] = (*(each for each in same if not each.repeats(run)), run)
    ordered = tuple(run for moment in sorted(by_time) for run in by_time[moment])
    keys = dict.fromkeys(key for run in ordered for key in run.rows)
    complete = [n for n, run in enumerate(ordered) if run.complete]
    # A partial run does not have every question.
    since = complete[-1] if complete else 0
    questions = [_question(tuple(run.rows.get(key) for run in ordered), since) for key in keys]
    return Trend(
        runs=ordered,
        changes=tuple(changes_of([(run.agent_name, run.rows) for run in ordered])),
        lines=tuple(_lines(ordered)),
        questions=tuple(sorted(questions, key=_rank)),
    )


def _verdict(row: BaselineRow | None) -> Verdict | None:
    return None if row is None else row.verdict


def _question(rows: tuple[BaselineRow | None, ...], since: int) -> TrendQuestion:
    measured = [(n, row.verdict) for n, row in enumerate(rows) if row is not None and row.verdict is not Verdict.ERROR]
    first_bad = latest = None
    for n, verdict in measured:
        if verdict is Verdict.FAIL and latest is not Verdict.FAIL:
            first_bad = n
        latest = verdict
    state: State = "passing" if first_bad is None else "passing again"
    if not any(rows[since:]):
        state = "not in the latest run"
    elif latest is None:
        state = "not measured"
    elif latest is Verdict.FAIL:
        state = "failing"
    return TrendQuestion(rows=rows, state=state, first_bad=first_bad)


def _rank(question: TrendQuestion) -> tuple[int, int, int]:
    broken = -1 if question.first_bad is None else question.first_bad
    n_fails = sum(_verdict(row) is Verdict.FAIL for row in question.rows)
    return get_args(State).index(question.state), -broken, -n_fails


def _lines(runs: Sequence[TrendRun]) -> Iterator[TrendLine]:
    yield TrendLine(name=PASS_RATE, asserted=True, points=tuple(map(_pass_rate, runs)))
    rows = [row for run in runs for row in run.rows.values()]
    asserted = {metric for row in rows for metric in row.thresholds}
    for metric in dict.fromkeys(metric for row in rows for metric in row.metrics):
        yield TrendLine(
            name=metric,
            asserted=metric in asserted,
            points=tuple(
                _mean([row.metrics[metric] for row in run.rows.values() if metric in row.metrics]) for run in runs
            ),
        )


def _pass_rate(run: TrendRun) -> TrendPoint | None:
    passed, failed = (sum(row.verdict is each for row in run.rows.values()) for each in (Verdict.PASS, Verdict.FAIL))
    n = passed + failed
    if n == 0:
        return None
    low, high = wilson(passed / n, n)
    return TrendPoint(mean=passed / n, low=low, high=high, n=n)


def _mean(values: Sequence[float]) -> TrendPoint | None:
    if not values:
        return None
    low, high = mean_interval(values)
    if min(values) >= 0 and max(values) <= 1:
        low, high = max(0.0, low), min(1.0, high)
    return TrendPoint(mean=math.fsum(values) / len(values), low=low, high=high, n=len(values))


def changes_of(runs: Sequence[tuple[str, Mapping[Key, BaselineRow]]]) -> Iterator[tuple[str, ...]]:
    """Yield what changed in each run, given by its agent and its rows, since the runs before."""
    known: dict[Key, tuple[int, Mapping[str, str]]] = {}
    reported: dict[tuple[str, str, str], int] = {}
    models: set[str] = set()
    for n, (agent, row_of) in enumerate(runs):
        pairs: Counter[tuple[str, str, str]] = Counter()
        for key, row in row_of.items():
            seen, before = known.get(key, (n, {}))
            now = circumstances(row, agent)
            for name, value in now.items():
                pair = (name, before.get(name, value), value)
                # A question that an earlier change missed, such as by an ERROR, repeats that change.
                if pair[1] != value and reported.get(pair, -1) <= seen:
                    pairs[pair] += 1
            if now:
                known[key] = (n, {**before, **now})
        reported.update(dict.fromkeys(pairs, n))
        served = {row.served_by for row in row_of.values()} - {""}
        # A server may have several models at once.
        if models and served and not models & served:
            pairs["model of the judge's server", ", ".join(sorted(models)), ", ".join(sorted(served))] = 1
        models = served or models
        if n and row_of.keys().isdisjoint(runs[n - 1][1]):
            pairs["questions", "those before", "only others"] = 1
        yield tuple(_change(name, pairs) for name in dict.fromkeys(name for name, _, _ in pairs))


def circumstances(row: BaselineRow, agent: str) -> dict[str, str]:
    """Return judge, prompt, tier and so on, without values that the file lacks; empty on ERROR."""
    if row.verdict is Verdict.ERROR:
        return {}
    found = {
        "agent": agent,
        "judge": judge_name(row.judge),
        "prompt": row.prompt_version,
        "judge's parameters": row.judge.parameters if row.judge else None,
        "tier": row.tier,
        "top_k": None if row.top_k is None else str(row.top_k),
        "minimum": ", ".join(f"{metric} {value:g}" for metric, value in sorted(row.thresholds.items())),
    }
    return {name: value for name, value in found.items() if value}


def _change(name: str, pairs: Mapping[tuple[str, str, str], int]) -> str:
    # The questions of a run have several values before if a run between did not measure all.
    found = {f"{before} -> {now}": count for (of, before, now), count in pairs.items() if of == name}
    shown = found if len(found) == 1 else [f"{pair} ({count})" for pair, count in found.items()]
    return f"{name}: {some(shown, _SHOWN, joint=', and ')}"
