"""Renders the comparison with a baseline as lines: regressions first, each with its numbers before and now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from pathlib import PurePath, PureWindowsPath
from shlex import quote

from pytest_ragcheck.config.readers import BASELINE_FILE
from pytest_ragcheck.judging.judgement import JudgeIdentity
from pytest_ragcheck.redaction.printable import printable
from pytest_ragcheck.scores import is_below
from pytest_ragcheck.short_texts import counted, cut, distinct, some
from pytest_ragcheck.summary.gate.baseline_comparison import Comparison
from pytest_ragcheck.summary.gate.gate_replies import Change
from pytest_ragcheck.summary.predictions_reader import Key
from pytest_ragcheck.verdict.verdict import Verdict

Examined = Mapping[str, Sequence[tuple[Change, str]]]

NEWLY_FAILING = "newly failing"

_SHOWN = 10
"""Most questions of a group."""

TEXT_LIMIT = 160


def accept_command(
    *, results: PurePath, baseline: PurePath, start: PurePath, is_plain: bool, output: PurePath | None
) -> str:
    """
    The command that accepts the answers of a run.

    *results* is the output folder of the run, and *start* the folder in which the command is to run. *baseline* is a
    file in the work tree, even if the run read it from git. *is_plain* is True if the command looks in *start*,
    for results in *output*; None if that folder is unknown.
    """
    given = (("--results", results, output), ("-o", baseline, BASELINE_FILE))
    options = (
        f" {option} {shell_word(path.relative_to(start) if path.is_relative_to(start) else path)}"
        for option, path, default in given
        if not is_plain or default is None or path != start / default
    )
    return f"ragcheck baseline accept{''.join(options)}"


def shell_word(path: PurePath) -> str:
    """The path in a command; `/` and double quotes suit all shells of Windows."""
    text = path.as_posix()
    quoted = quote(text)
    return f'"{text}"' if quoted != text and isinstance(path, PureWindowsPath) else quoted


def accept_advice(comparison: Comparison, *, refused: bool = False) -> str:
    """The advice on a red run; *refused* is True if the gate compared nothing, because of other settings."""
    read = comparison.baseline.name
    if len(comparison.missing) == len(comparison.baseline.rows):
        # No command takes a run that shares no question with the baseline.
        then = some(dict.fromkeys(dataset for dataset, _ in comparison.baseline.rows), 5)
        return (
            f"If the questions only have other names, restore their dataset_name ({then}) and ids. Otherwise move "
            f"{read} away, and save the run: {comparison.accept.replace('accept', 'save', 1)}"
        )
    # The command reads the last full run, and would accept its older answers.
    when = " after a full run" if comparison.partial else ""
    instead = f", and compare with that file instead of {read}" if read.startswith("git:") else ""
    command = f"{when}: {comparison.accept}{instead}"
    if refused:
        return f"If the run is right, accept it{command}. To compare anyway, set rag_baseline_allow = other-settings."
    texts = {record.question.question for record in comparison.new}
    moved = dict.fromkeys(row.dataset_name for row in comparison.missing if row.question in texts)
    names = f"If questions only have other names, restore their dataset_name ({some(moved, 5)}) and ids. "
    return f"{names if moved else ''}If the new answers are right, accept them{command}"


def regressions_text(comparison: Comparison) -> str:
    """The failure text of the gate; first a line such as `2 newly failing, 1 missing against baseline.json`."""
    counts = {NEWLY_FAILING: len(comparison.newly_failing), "missing": len(comparison.lost)}
    headline = f"{_counted(counts)} against {comparison.baseline.name}"
    lines = (headline, "", *Writer(comparison).regressions(), "", accept_advice(comparison))
    return "\n".join(map(printable, lines))


def comparison_lines(comparison: Comparison, examined: Examined | None = None) -> Iterator[str]:
    """Yield the differences; *examined* has the newly failing questions by the gate's finding, if it has any."""
    return map(printable, _lines(comparison, examined))


def _lines(comparison: Comparison, examined: Examined | None) -> Iterator[str]:
    newly = {NEWLY_FAILING: comparison.newly_failing} if examined is None else examined
    groups: dict[str, Sized] = {
        **newly,
        "missing": comparison.missing,
        **other_groups(comparison),
        "new": comparison.new,
    }
    counts = {title: len(rows) for title, rows in groups.items()}
    yield f"baseline {comparison.baseline.name}: {_counted({**counts, 'as before': len(comparison.still_passing)})}"
    write = Writer(comparison)
    if examined is None:
        yield from write.regressions()
    else:
        yield from write.examined(examined)
        yield from write.missing()
    yield from write.others()
    yield from _notes(comparison, write.name)


def other_groups(comparison: Comparison) -> dict[str, tuple[Change, ...]]:
    return {
        "failing as expected": comparison.expected_failing,
        "not measured": comparison.not_measured,
        "edited": comparison.apart,
        "still failing": comparison.still_failing,
        "newly passing": comparison.newly_passing,
    }


class Writer:
    """Renders the groups of one comparison; if there are several datasets, a question's name includes its dataset."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        changes = (*comparison.compared, *comparison.apart, *comparison.not_measured)
        now = (change.now for change in changes)
        names = {dataset for dataset, _ in comparison.baseline.rows}
        names |= {record.question.dataset_name for record in (*now, *comparison.new)}
        self._several = len(names) > 1

    def regressions(self) -> Iterator[str]:
        yield from self.changes(NEWLY_FAILING, self._comparison.newly_failing, _worse)
        yield from self.missing()

    def examined(self, groups: Examined) -> Iterator[str]:
        """Yield the newly failing questions, each explained in a second line."""
        for title, changes in groups.items():
            lines = [f"{self.name(change.before.key)}: {_worse(change)}\n{words}" for change, words in changes]
            yield from _group(title, lines)

    def missing(self) -> Iterator[str]:
        rows = self._comparison.missing
        lines = [f"{self.name(row.key)}: {row.verdict.value} before: {short(row.question)}" for row in rows]
        yield from _group("missing", lines)

    def others(self) -> Iterator[str]:
        words: dict[str, Callable[[Change], str]] = {
            # The failure above has the remedy of an ERROR.
            "not measured": lambda change: short(change.now.reason.partition("\n")[0]),
            "edited": _edited,
            "newly passing": _better,
        }
        for title, changes in other_groups(self._comparison).items():
            shown = "edited, and not compared" if title == "edited" else title
            yield from self.changes(shown, changes, words.get(title, _worse))
        new = self._comparison.new
        yield from _group("new", [f"{self.name(record.question.key)}: {record.verdict.value}" for record in new])

    def name(self, key: Key) -> str:
        return "::".join(key) if self._several else key[1]

    def changes(self, title: str, changes: Sequence[Change], words: Callable[[Change], str]) -> Iterator[str]:
        return _group(title, [f"{self.name(change.before.key)}: {words(change)}" for change in changes])


def _group(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield f"{title}:"
    for entry in lines[:_SHOWN]:
        first, *further = entry.split("\n")
        yield f"  {first}"
        yield from (f"    {line}" for line in further)
    if len(lines) > _SHOWN:
        yield f"  ... and {len(lines) - _SHOWN} more"


def _notes(comparison: Comparison, name: Callable[[Key], str]) -> Iterator[str]:
    if changed := comparison.changed:
        names = some((name(change.before.key) for change in changed), _SHOWN)
        yield f"compared although the question's text or labels changed: {names}"
    passed = {key for key, row in comparison.baseline.rows.items() if row.verdict is Verdict.PASS}
    failing = [change for change in comparison.still_failing if change.before.key in passed and not change.now.leaks]
    if failing:
        names = some((name(change.before.key) for change in failing), _SHOWN)
        yield (
            f"tolerated, because the recorded answers fail under today's labels and thresholds too: {names}. "
            "--rag-gate=each turns them red"
        )
    if rows := comparison.not_run:
        datasets = dict.fromkeys(row.dataset_name for row in rows)
        yield f"not compared, because not run: {counted(len(rows), 'question')} of {some(datasets, _SHOWN)}"
    if changes := comparison.with_other_prompt:
        before = some(dict.fromkeys(c.before.prompt_version or "no named prompt" for c in changes), _SHOWN)
        now = some(dict.fromkeys(_judge(change.now.judge) for change in changes), _SHOWN)
        yield f"the baseline was judged by {before}, this run by {now}: verdicts may differ for that alone"
    if changes := comparison.with_other_thresholds:
        others = counted(len(changes), "question")
        yield f"{others} had other thresholds in the baseline: verdicts may differ for that alone"


def _worse(change: Change) -> str:
    words = ", ".join(
        _score(metric, change.before.metrics.get(metric), value, change.now.thresholds[metric], "<")
        for metric, value in change.now.shortfalls.items()
    )
    # Above a maximum alone no score is short.
    words = ": ".join(filter(None, (words, change.now.reason and short(change.now.reason))))
    return f"{_error_before(change)}, now {words}" if change.before.verdict is Verdict.ERROR else words


def _edited(change: Change) -> str:
    why = "text" if change.reworded else "labels"
    return f"{change.before.verdict.value} -> {change.now.verdict.value} ({why} changed)"


def _better(change: Change) -> str:
    if change.before.verdict is Verdict.ERROR:
        return _error_before(change)
    before, now = change.before, change.now
    numbers = [
        _score(metric, before.metrics[metric], value, now.thresholds[metric], ">=")
        for metric in now.thresholds
        if is_below(before.metrics.get(metric, 1.0), before.thresholds.get(metric, 0.0))
        and (value := now.scores[metric].value) is not None
    ]
    return ", ".join(numbers) or "no score that is asserted now was too low"


def _score(metric: str, before: float | None, now: float, threshold: float, relation: str) -> str:
    if before == round(now, 6):  # a recorded score is rounded
        before = now
    numbers = [number for number in (before, now, threshold) if number is not None]
    shown = distinct(*numbers)
    *first, last = shown
    return f"{metric} {' -> '.join(first)} {relation} {last}"


def _error_before(change: Change) -> str:
    return f"ERROR before ({change.before.error_kind})"


def _judge(judge: JudgeIdentity | None) -> str:
    if judge is None:
        return "none"
    return " ".join(filter(None, (judge.kind, judge.model, judge.prompt_version)))


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {title}" for title, count in counts.items() if count) or "nothing was compared"


def short(text: str) -> str:
    return cut(text, TEXT_LIMIT)
