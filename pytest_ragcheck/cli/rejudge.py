from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.cli.command_line import ini_values, say
from pytest_ragcheck.config.table import TABLE, Given
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.questions.question import END_TO_END, Origin, Question, QuestionSet
from pytest_ragcheck.scores import ASSERTABLE, RETRIEVAL
from pytest_ragcheck.summary.predictions_reader import ENDING
from pytest_ragcheck.summary.run_outcomes import Reach

if TYPE_CHECKING:
    from pytest_ragcheck.config.settings import Settings
    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.replay.recorded_run import Recording
    from pytest_ragcheck.verdict.record import Record

_BY_NAME = {option.name: option for option in TABLE}


def run(chosen: argparse.Namespace) -> int:
    import asyncio

    from pytest_ragcheck.config.resolve import read_settings
    from pytest_ragcheck.evaluation import needing_pytest, outcomes_of
    from pytest_ragcheck.replay.recorded_run import choose_replay_judge, missing_for_replay
    from pytest_ragcheck.replay.recording_reader import read_recording
    from pytest_ragcheck.report.files.output_folder import check_folder
    from pytest_ragcheck.report.files.result_files import is_result_of, write_results
    from pytest_ragcheck.report.files.results_reader import predictions_path
    from pytest_ragcheck.report.terminal.gate_lines import flaky_lines
    from pytest_ragcheck.report.terminal.run_lines import asserted_bounds, summary_lines
    from pytest_ragcheck.summary.aggregate import aggregate
    from pytest_ragcheck.summary.gate.baseline_comparison import flaky_in_run

    given = _given(chosen)
    settings = read_settings(given)
    chosen.predictions = predictions_path(chosen.predictions)
    recording = read_recording(chosen.predictions, name=str(chosen.predictions))
    # Not the baseline of the folder, which a run would compare with.
    others = {"baseline": None, "gate": None, "agent": recording.agent or None}
    settings = settings.replace(**{name: each for name, each in others.items() if f"rag_{name}" not in given})
    asked = [row.question for row in recording.rows.values()]
    needing = [f"rag_{name}" for name in needing_pytest(settings) if name != "calibration"]
    needing += ["rag_tier"] * any(settings.run.tier not in (END_TO_END, q.tier) for q in asked)
    if needing:
        raise UsageError(
            f"{', '.join(needing)}: only a pytest run can honour this. Leave it out, or run pytest "
            f"--rag-replay={recording.name}."
        )
    if is_result_of(chosen.predictions, settings.run.output, settings.run.agent):
        raise UsageError(f"{recording.name} would be overwritten. Give another --rag-agent or --rag-output.")
    check_folder(settings.run.output)
    if problem := missing_for_replay(settings, recording):
        raise UsageError(problem)
    sets = _sets(chosen.predictions, recording, settings)
    questions = [q for s in sets for q in s.questions if q.key in recording.rows]
    judge = choose_replay_judge(settings, recording) if settings.needs_judge else None
    records, notes = asyncio.run(_judged(questions, recording, judge, settings))
    reach = Reach.from_row(recording.reach)
    outcomes = replace(outcomes_of(sets, records, settings, replay_of=recording.name), reach=reach)
    if not recording.complete:
        outcomes = replace(outcomes, complete=False, cut_short="the recorded run was partial")
    flaky = flaky_in_run(outcomes.measured, None, clean=str)
    summary = aggregate(outcomes, flaky=flaky)
    lost = {metric for row in recording.rows.values() for metric in row.scores}.difference(*(r.scores for r in records))
    say(*summary_lines(outcomes, summary), *notes, *flaky_lines(flaky))
    if bounds := asserted_bounds(settings, sets):
        say(f"asserted: {bounds}, unless a question has its own")
    if lost:
        say(f"not measured again: {', '.join(sorted(lost))}")
    written = write_results(outcomes, summary, settings.run.output, settings.redactor)
    say(*written.lines(Path.cwd()))
    return 0 if all(record.verdict.value == "PASS" for record in records) else 1


async def _judged(
    questions: Sequence[Question], recording: Recording, judge: Judge | None, settings: Settings
) -> tuple[tuple[Record, ...], tuple[str, ...]]:
    # A judge that only repeats recordings has no preflight.
    from pytest_ragcheck.concurrency.tasks import closing
    from pytest_ragcheck.engine.evaluator import evaluate_all
    from pytest_ragcheck.engine.limits.request_limiter import RequestLimiter
    from pytest_ragcheck.judging.checked_judgement import judge_identity
    from pytest_ragcheck.judging.run_preflight import preflight
    from pytest_ragcheck.metrics.metric_choice import choose_metrics

    notes: tuple[str, ...] = ()
    metrics = choose_metrics(settings, judge)
    async with closing(*metrics, judge):
        if judge_identity(judge) not in recording.judges:
            limiter = RequestLimiter(settings.judge_concurrency, retries=settings.endpoint.retries)
            notes = await preflight(
                judge, settings, limiter, switch="-o rag_disable=preflight", output=settings.run.output
            )
        prepared = (recording.prepared(question, judge, metrics, settings) for question in questions)
        return await evaluate_all(prepared, settings), notes


def _given(chosen: argparse.Namespace) -> dict[str, Given]:
    found = ini_values(chosen.settings)
    typed = {name: text for name, text in vars(chosen).items() if name in _BY_NAME and text is not None}
    return found | {name: Given(text, _BY_NAME[name].option) for name, text in typed.items()}


def _sets(predictions: Path, recording: Recording, settings: Settings) -> list[QuestionSet]:
    from pytest_ragcheck.questions.collected_questions import asked_in
    from pytest_ragcheck.questions.reader import read_question_file

    folder = predictions.parent
    known = {*ASSERTABLE, *settings.gate.minimums, *(name for row in recording.rows.values() for name in row.scores)}
    names = dict.fromkeys(dataset for dataset, _ in recording.rows)
    read = (
        read_question_file(p, root=Path.cwd(), known_metrics=known) for p in sorted(folder.glob("*_questions.json"))
    )
    sets = {
        questions.dataset_name: asked_in(questions, tier=END_TO_END, ingest=False)
        for questions in read
        if questions.dataset_name in names
    }

    def as_recorded(question: Question) -> Question:
        # A questions file has one tier; `rag_check` calls may have several.
        row = recording.rows.get(question.key)
        if row is None:
            return question
        # Without gold passages, only datasets have these scores.
        lacks_gold = not question.gold_passages and not row.scores.keys().isdisjoint(RETRIEVAL)
        return replace(question, tier=row.question.tier or question.tier, lacks_gold=lacks_gold)

    known_keys = {q.key for s in sets.values() for q in s.questions}
    for dataset, name in recording.rows:
        if (dataset, name) not in known_keys:
            raise UsageError(
                f"{recording.name}: question {name!r} of {dataset!r} is in no questions file of its folder. "
                f"Copy the {{dataset}}_questions.json of the same run into {str(folder)!r}."
            )
    origins = _origins(Path(f"{str(predictions).removesuffix(ENDING)}_summary.json"))
    return [
        replace(sets[name], questions=tuple(map(as_recorded, sets[name].questions)), origin=origins.get(name))
        for name in names
    ]


def _origins(summary: Path) -> dict[str, Origin]:
    # By dataset; empty without a readable summary.
    try:
        datasets = json.loads(summary.read_bytes())["datasets"]
        return {name: Origin(**each["origin"]) for name, each in datasets.items() if "origin" in each}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
