"""The result files of a run: which there are, and whether they take the place of the last full ones."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from pytest_ragcheck.questions.rows import questions_document
from pytest_ragcheck.report.documents import predictions_document, summary_document
from pytest_ragcheck.report.file_names import safe_name, unique_names
from pytest_ragcheck.report.writer import Writer, rounded
from pytest_ragcheck.summary.shards import shard_document, shard_name

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_ragcheck.redaction import Redactor
    from pytest_ragcheck.summary.aggregate import Summary
    from pytest_ragcheck.summary.outcomes import Outcomes


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What stands in the output folder after a run."""

    predictions: Path
    summary: Path
    questions: tuple[Path, ...]
    partial: str
    """Why the results were kept apart from the last full ones; empty for a full run."""


def write_results(outcomes: Outcomes, summary: Summary, folder: Path, redactor: Redactor) -> Written:
    """
    Writes the question files, the predictions and the summary of a run.

    A partial run writes `{agent}.partial_*.json`, so that the last full result stays as it was. A full run takes those
    away where it has all of their datasets: they are older, and whoever reads the folder would count questions twice.

    Raises:
        ResultsError: A file cannot be written.
    """
    agent = safe_name(outcomes.agent_name)
    why_partial = _why_partial(outcomes, folder / f"{agent}_summary.json")
    prefix = f"{agent}.partial" if why_partial else agent
    names = unique_names([questions.dataset_name for questions in outcomes.sets])
    writer = Writer(folder, redactor)
    questions = tuple(
        writer.write(
            f"{name}_questions.json", questions_document(questions.dataset_name, questions.questions, rows=iter)
        )
        for name, questions in zip(names, outcomes.sets, strict=True)
    )
    predictions = predictions_document(outcomes, rows=partial(map, rounded))
    written = Written(
        predictions=writer.write(f"{prefix}_predictions.json", rounded(predictions)),
        summary=writer.write(f"{prefix}_summary.json", rounded(summary_document(outcomes, summary))),
        questions=questions,
        partial=why_partial,
    )
    if not why_partial:
        _take_away_partial(outcomes, folder / f"{agent}.partial_summary.json")
    return written


def write_shard(outcomes: Outcomes, folder: Path, redactor: Redactor) -> Path:
    """
    Writes all that is known of one part of a run, of which `ragcheck merge` makes the whole.

    A whole run is the only part of itself.

    Raises:
        ResultsError: It cannot be written.
    """
    name = shard_name(safe_name(outcomes.agent_name), *(outcomes.shard or (1, 1)))
    return Writer(folder, redactor).write(name, shard_document(outcomes, rows=iter))


def is_result_of(path: Path, folder: Path, agent: str) -> bool:
    """Whether a full or a partial run of the agent writes its predictions there."""
    names = (f"{safe_name(agent)}_predictions.json", f"{safe_name(agent)}.partial_predictions.json")
    return path.resolve() in {(folder / name).resolve() for name in names}


def _why_partial(outcomes: Outcomes, last_full: Path) -> str:
    if outcomes.shard is not None and outcomes.shard[1] > 1:
        return f"shard {outcomes.shard[0]} of {outcomes.shard[1]}; ragcheck merge puts all of them together"
    if outcomes.not_run:
        return f"{outcomes.not_run} of the collected questions were not run"
    if not outcomes.complete:
        return outcomes.cut_short
    missing = sorted(_datasets_in(last_full) - {questions.dataset_name for questions in outcomes.sets})
    if not missing:
        return ""
    return f"the last full result also has {', '.join(missing)}; delete {last_full.name} to start anew"


def _take_away_partial(outcomes: Outcomes, summary: Path) -> None:
    """Deletes what an earlier partial run left, where the full one has all of its datasets."""
    datasets = _datasets_in(summary)
    if datasets and datasets <= {questions.dataset_name for questions in outcomes.sets}:
        # The summary last: as long as it is there, a next full run finds what is left.
        for path in (summary.with_name(f"{summary.name.removesuffix('summary.json')}predictions.json"), summary):
            with suppress(OSError):
                path.unlink()


def _datasets_in(summary: Path) -> set[str]:
    """The datasets of a summary file; none where it is not there or cannot be read."""
    try:
        return set(json.loads(summary.read_bytes())["datasets"])
    except (OSError, ValueError, KeyError, TypeError):
        return set()
