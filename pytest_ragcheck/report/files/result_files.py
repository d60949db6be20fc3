"""Writes the result files of a run, and decides whether they replace the last full ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from pytest_ragcheck.engine.store.run_folder import unwritten
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.questions.question_rows import questions_document
from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.report.files.json_writer import JsonWriter, rounded
from pytest_ragcheck.report.files.output_folder import safe_name, unique_names, without_links
from pytest_ragcheck.report.files.result_documents import predictions_document, summary_document
from pytest_ragcheck.summary.aggregate import Summary
from pytest_ragcheck.summary.run_outcomes import Outcomes
from pytest_ragcheck.summary.shards import shard_document, shard_name


@frozen
class Written:
    predictions: Path
    summary: Path
    questions: tuple[Path, ...]
    partial: str
    """The reason why the last full results were kept; empty for a full run."""

    def lines(self, start: Path) -> Iterator[str]:
        """Yield the paths of the summary and the predictions, relative to *start*, and notes about them."""
        folder = self.summary.parent
        shown = folder
        if folder.is_relative_to(start):
            shown = folder.relative_to(start)
            if not folder.resolve().is_relative_to(start.resolve()):
                yield f"results: {shown} is a link out of this folder, to {folder.resolve()}"
        yield f"results: {shown / self.summary.name}, {self.predictions.name}"
        if self.partial:
            yield f"partial: {self.partial}"


def write_results(
    outcomes: Outcomes,
    summary: Summary,
    folder: Path,
    redactor: Redactor,
    *,
    encoded: Callable[[Any], Any] = lambda _: None,
) -> Written:
    """
    Write the question files, the predictions and the summary of a run.

    A partial run writes `{agent}.partial_*.json`, so that the last full result stays. A full run with all datasets of
    older partial files deletes these, so that a reader of the folder counts no question twice. It also deletes the
    question files of datasets that no longer exist and that no other summary in the folder has.

    The absence of a dataset in reach does not make the run partial. *encoded* is that of `predictions_document` and
    `questions_document`.

    Raises:
        ResultsError: A file cannot be written.
    """
    agent = safe_name(outcomes.agent_name)
    last_full = f"{agent}_summary.json"
    before = _datasets_in(folder / last_full)
    why_partial = _why_partial(outcomes, last_full, before)
    prefix = f"{agent}.partial" if why_partial else agent
    names = unique_names([questions.dataset_name for questions in outcomes.sets])
    writer = JsonWriter(folder, redactor)
    questions = tuple(
        writer.write(
            f"{name}_questions.json",
            questions_document(questions.dataset_name, questions.questions, rows=iter, encoded=encoded),
        )
        for name, questions in zip(names, outcomes.sets, strict=True)
    )
    predictions = predictions_document(outcomes, rows=partial(map, rounded), encoded=encoded)
    written = Written(
        predictions=writer.write(f"{prefix}_predictions.json", rounded(predictions)),
        summary=writer.write(f"{prefix}_summary.json", rounded(summary_document(outcomes, summary))),
        questions=questions,
        partial=why_partial,
    )
    _keep_out_of_git(folder)
    for mark in unwritten(folder, agent):
        _remove(mark)
    if not why_partial:
        _delete_partial(outcomes, folder, agent)
        _delete_questions(folder, before, kept=questions)
    return written


def write_shard(outcomes: Outcomes, folder: Path, redactor: Redactor) -> Path:
    """
    Write one shard of a run, for `ragcheck merge`. A run without shards is its only shard.

    Raises:
        ResultsError: The file cannot be written.
    """
    name = shard_name(safe_name(outcomes.agent_name), *(outcomes.shard or (1, 1)))
    return JsonWriter(folder, redactor).write(name, shard_document(outcomes))


def remove_shard(folder: Path, agent: str, number: int, count: int) -> None:
    """Remove the shard file of an earlier run, which `ragcheck merge` would attribute to this run."""
    _remove(folder / shard_name(safe_name(agent), number, count))


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _keep_out_of_git(folder: Path) -> None:
    # Write a `.gitignore` into the default output folder; another folder is the user's.
    if folder.name == "ragcheck-results":
        with suppress(OSError), (folder / ".gitignore").open("x", encoding="utf-8") as file:
            file.write("*\n")


def is_result_of(path: Path, folder: Path, agent: str) -> bool:
    """True if a full or partial run of the agent writes its predictions there."""
    names = (f"{safe_name(agent)}_predictions.json", f"{safe_name(agent)}.partial_predictions.json")
    return without_links(path) in {without_links(folder / name) for name in names}


def _why_partial(outcomes: Outcomes, last_full: str, before: set[str]) -> str:
    if outcomes.shard is not None and outcomes.shard[1] > 1:
        return f"shard {outcomes.shard[0]} of {outcomes.shard[1]}; ragcheck merge combines the shards"
    if outcomes.not_run:
        verb = "was" if outcomes.not_run == 1 else "were"
        return f"{outcomes.not_run} of the collected questions {verb} not run"
    if not outcomes.complete:
        return outcomes.cut_short
    if missing := _lacking(outcomes, before):
        return f"the last full result also has {', '.join(missing)}; delete {last_full} to start over"
    return ""


def _lacking(outcomes: Outcomes, datasets: set[str]) -> list[str]:
    # Those without questions in the run that may still exist.
    absent = datasets - {questions.dataset_name for questions in outcomes.sets}
    return sorted(name for name in absent if not outcomes.reach.expects(name))


def _delete_partial(outcomes: Outcomes, folder: Path, agent: str) -> None:
    summary = folder / f"{agent}.partial_summary.json"
    datasets = _datasets_in(summary)
    if datasets and not _lacking(outcomes, datasets):
        # The summary goes last, so that the next full run finds the rest after an interruption.
        _remove(folder / f"{agent}.partial_predictions.json")
        _remove(summary)


def _delete_questions(folder: Path, before: set[str], *, kept: Collection[Path]) -> None:
    known = set[str]().union(*map(_datasets_in, folder.glob("*_summary.json")))
    for dataset, name in zip(before, unique_names(before), strict=True):
        path = folder / f"{name}_questions.json"
        # Two spellings are one file on the disks of macOS and Windows.
        if dataset not in known and path.exists() and not any(map(path.samefile, kept)):
            _remove(path)


def _datasets_in(summary: Path) -> set[str]:
    # Empty for a missing or unreadable file.
    try:
        return set(json.loads(summary.read_bytes())["datasets"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return set()
