"""`ragcheck rejudge PREDICTIONS`: recorded answers judged anew, or held against other thresholds."""

from __future__ import annotations

import os
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.errors import QuestionFileError, ResultsError, StepFailed, UsageError
from pytest_ragcheck.options import OPTIONS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from pytest_ragcheck.engine.replay import Recording
    from pytest_ragcheck.given import Given
    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.questions.question import Question, QuestionSet
    from pytest_ragcheck.record import Record
    from pytest_ragcheck.settings import Settings
    from pytest_ragcheck.summary.outcomes import Outcomes

_LIKE_PYTEST = ("rag_judge", "rag_judge_model", "rag_judge_url", "rag_threshold", "rag_min", "rag_agent", "rag_output")
_BY_NAME = {option.name: option for option in OPTIONS}


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to those of `ragcheck`."""
    parser = commands.add_parser(
        "rejudge",
        help="judge the recorded answers of a run anew, without pytest",
        description="Judges the answers in a predictions file anew and writes the three result files; the questions "
        "are those of the questions files beside it. Verdicts of the same judge are taken as they were recorded, "
        "thresholds are today's. Exit status: 0 all PASS, 1 some FAIL or ERROR, 2 wrong usage.",
    )
    parser.add_argument("predictions", metavar="PREDICTIONS", type=Path, help="the {agent}_predictions.json of a run")
    for name in _LIKE_PYTEST:
        option = _BY_NAME[name]
        action = "append" if option.kind == "words" else "store"
        parser.add_argument(option.switch, metavar=option.metavar, action=action, dest=name, help="as of pytest")
    parser.add_argument(
        "-o", metavar="NAME=VALUE", action="append", default=[], dest="settings", help="an ini value, as of pytest"
    )
    parser.set_defaults(run=_run)


def _run(chosen: argparse.Namespace) -> int:
    try:
        outcomes = _rejudged(chosen)
    except (UsageError, QuestionFileError, ResultsError, StepFailed) as error:
        print(f"ragcheck rejudge: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("ragcheck rejudge: stopped", file=sys.stderr)
        return 130
    return 0 if all(record.verdict.value == "PASS" for record in outcomes.records) else 1


def _rejudged(chosen: argparse.Namespace) -> Outcomes:
    import anyio  # noqa: PLC0415 - the other commands need no event loop

    from pytest_ragcheck.engine.replay_judge import choose_replay_judge, missing_for_replay  # noqa: PLC0415 - as above
    from pytest_ragcheck.given import read_settings  # noqa: PLC0415 - as above
    from pytest_ragcheck.report.files import is_result_of, write_results  # noqa: PLC0415 - as above
    from pytest_ragcheck.report.terminal import file_lines, summary_lines  # noqa: PLC0415 - as above
    from pytest_ragcheck.summary.aggregate import aggregate  # noqa: PLC0415 - as above
    from pytest_ragcheck.summary.agreement import read_agreements  # noqa: PLC0415 - as above
    from pytest_ragcheck.summary.recording import read_recording  # noqa: PLC0415 - as above

    settings = read_settings(_given(chosen))
    recording = read_recording(chosen.predictions, name=str(chosen.predictions))
    if is_result_of(chosen.predictions, settings.output, settings.agent):
        raise UsageError(f"{recording.name} would be written over. Give another --rag-agent or --rag-output.")
    if problem := missing_for_replay(settings, recording):
        raise UsageError(problem)
    sets = _sets(chosen.predictions.parent, recording, settings)
    questions = [q for s in sets for q in s.questions if (q.dataset_name, q.id) in recording.rows]
    judge = choose_replay_judge(settings, recording) if settings.needs_judge else None
    records, notes = anyio.run(_judged, questions, recording, judge, settings)
    outcomes = _outcomes(sets, records, settings, recording)
    summary = aggregate(outcomes, measured=read_agreements(settings.calibrations))
    for line in (*summary_lines(outcomes, summary), *notes):
        print(line)
    written = write_results(outcomes, summary, settings.output, settings.redactor)
    for line in file_lines(written, Path.cwd()):
        print(line)
    return outcomes


async def _judged(
    questions: Sequence[Question], recording: Recording, judge: Judge | None, settings: Settings
) -> tuple[list[Record], tuple[str, ...]]:
    """The records, and what the judge got wrong when it was tried out, which one that recorded before is not."""
    from pytest_ragcheck.closing import close  # noqa: PLC0415 - the other commands judge nothing
    from pytest_ragcheck.engine.gate import Gate  # noqa: PLC0415 - as above
    from pytest_ragcheck.engine.rejudge import rejudge  # noqa: PLC0415 - as above
    from pytest_ragcheck.judging.judge import judge_identity  # noqa: PLC0415 - as above
    from pytest_ragcheck.preflight import preflight  # noqa: PLC0415 - as above

    notes: tuple[str, ...] = ()
    if judge_identity(judge) not in recording.judges:
        room = Gate(settings.judge_concurrency, retries=settings.retries)
        try:
            notes = await preflight(judge, settings, room, switch="-o rag_preflight=off", output=settings.output)
        except StepFailed:
            await close(judge)
            raise
    return await rejudge(questions, recording, judge, settings), notes


def _given(chosen: argparse.Namespace) -> dict[str, Given]:
    from pytest_ragcheck.given import Given  # noqa: PLC0415 - the other commands need no settings

    found: dict[str, Given] = {}
    for setting in chosen.settings:
        name, equals, text = setting.partition("=")
        if not equals or name not in _BY_NAME:
            raise UsageError(f"-o: {setting!r} sets nothing. Write NAME=VALUE with an ini value of pytest-ragcheck.")
        kind = _BY_NAME[name].kind
        found[name] = Given({"words": text.split(), "lines": [text]}.get(kind, text), f"-o {name}")
    typed = {name: getattr(chosen, name) for name in _LIKE_PYTEST}
    return found | {name: Given(text, _BY_NAME[name].switch) for name, text in typed.items() if text is not None}


def _sets(folder: Path, recording: Recording, settings: Settings) -> list[QuestionSet]:
    """The questions of the recording's datasets, from the files that the recorded run wrote beside it."""
    from pytest_ragcheck.metrics.catalogue import ASSERTABLE  # noqa: PLC0415 - the other commands need no metrics
    from pytest_ragcheck.questions.reader import read_question_file  # noqa: PLC0415 - as above

    known = {*ASSERTABLE, *settings.minimums, *(metric for row in recording.rows.values() for metric in row.scores)}
    names = {dataset for dataset, _ in recording.rows}
    read = (
        read_question_file(p, root=Path.cwd(), known_metrics=known) for p in sorted(folder.glob("*_questions.json"))
    )
    sets = {questions.dataset_name: questions for questions in read if questions.dataset_name in names}
    known_keys = {(q.dataset_name, q.id) for s in sets.values() for q in s.questions}
    for dataset, name in recording.rows:
        if (dataset, name) not in known_keys:
            raise UsageError(
                f"{recording.name}: no questions file beside it has question {name!r} of {dataset!r}. "
                f"Put the {{dataset}}_questions.json of the same run into {os.fspath(folder)!r}."
            )
    order = dict.fromkeys(dataset for dataset, _ in recording.rows)
    return [sets[dataset] for dataset in order]


def _outcomes(sets: list[QuestionSet], records: Iterable[Record], settings: Settings, recording: Recording) -> Outcomes:
    from pytest_ragcheck.report.terminal import run_thresholds  # noqa: PLC0415 - the other commands decide nothing
    from pytest_ragcheck.summary.outcomes import Outcomes  # noqa: PLC0415 - as above

    def is_skipped(question: Question) -> bool:
        return question.skip is not None and (question.dataset_name, question.id) not in recording.rows

    skipped = {questions.dataset_name: sum(map(is_skipped, questions.questions)) for questions in sets}
    all_questions = sum(len(questions.questions) for questions in sets)
    records = tuple(records)
    return Outcomes(
        agent_name=settings.agent,
        session_name=settings.session_name,
        timestamp=datetime.now(timezone.utc),
        sets=tuple(sets),
        records=records,
        skipped={name: count for name, count in skipped.items() if count},
        complete=len(records) + sum(skipped.values()) == all_questions,
        thresholds=run_thresholds(settings),
        groups=settings.metrics,
        replay_of=recording.name,
    )
