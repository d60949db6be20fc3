"""`ragcheck calibrate FILE`: how far a judge agrees with people."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.errors import MeasurementError, StepFailed, UsageError
from pytest_ragcheck.judging.labels import LABELS, read_labelled_answers

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from pytest_ragcheck.judging.judgement import Judge, Judgement
    from pytest_ragcheck.judging.labels import LabelledAnswer, LabelledAnswers
    from pytest_ragcheck.report.calibration import Measured
    from pytest_ragcheck.settings import Settings

_OPTIONS = {
    "judge": "rag_judge",
    "judge_model": "rag_judge_model",
    "judge_url": "rag_judge_url",
    "judge_prompt": "rag_judge_prompt",
    "threshold": "rag_threshold",
    "concurrency": "rag_concurrency",
    "preflight": "rag_preflight",
}
"""By argument the setting that it gives."""

_JUDGE_VARIABLES = frozenset(
    {
        *("RAGCHECK_JUDGE", "RAGCHECK_JUDGE_MODEL", "RAGCHECK_JUDGE_URL"),
        *("RAGCHECK_EMBEDDING_MODEL", "RAGCHECK_EMBEDDING_URL"),
    }
)


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to those of `ragcheck`."""
    parser = commands.add_parser(
        "calibrate",
        help="measure how far a judge agrees with people",
        description="Has labelled answers judged, and says how often the judge is right: accuracy, balanced accuracy, "
        "kappa and the ROC curve with intervals, the best threshold, and the widest disagreements to read. "
        "Exit status: 0 measured, 1 some answers could not be judged, 2 wrong usage.",
    )
    parser.add_argument(
        "file",
        metavar="LABELLED.jsonl",
        type=Path,
        help="one object a line: question, answer, contexts, expected_answers, and a label that is 1, 0 or null: "
        f"{', '.join(LABELS)}",
    )
    parser.add_argument(
        "--judge",
        metavar="NAME",
        help="openai, offline or ragas, or MODULE:NAME of a judge of your own (default: $RAGCHECK_JUDGE)",
    )
    parser.add_argument("--judge-model", metavar="MODEL", help="model of the openai or ragas judge")
    parser.add_argument("--judge-url", metavar="URL", help="base URL of an OpenAI-compatible server")
    parser.add_argument("--judge-prompt", metavar="PROMPT", help="en, ru or a file (default: en)")
    parser.add_argument("--threshold", metavar="NUMBER", help="from which on a score passes (default: 0.7)")
    parser.add_argument(
        "--label",
        choices=[label.removeprefix("label_") for label in LABELS],
        help="which label is read, where rows have several",
    )
    parser.add_argument("--concurrency", metavar="NUMBER", help="requests to the judge at once (default: 8)")
    parser.add_argument(
        "--preflight",
        metavar="on|off",
        help="whether a judge that is a language model is tried on six answers first, and a useless one measured no "
        "further (default: on)",
    )
    parser.add_argument("--show", metavar="NUMBER", type=int, default=5, help="disagreements shown (default: 5)")
    parser.add_argument(
        "--output", metavar="FILE.json", type=Path, help="write the numbers there, and the curve as FILE.svg beside"
    )
    parser.set_defaults(run=_run)


def _run(chosen: argparse.Namespace) -> int:
    from pytest_ragcheck.report.calibration import calibration_lines  # noqa: PLC0415 - for this command only

    try:
        settings = _settings(chosen)
        if chosen.output is not None:
            _check_writable(chosen.output)
        label = f"label_{chosen.label}" if chosen.label else None
        answers = read_labelled_answers(chosen.file, label=label)
        measured = _measure(answers, chosen.file, _judge(chosen, settings), settings)
        for line in calibration_lines(measured, most_shown=max(0, chosen.show)):
            print(settings.redactor.text(line))
        if chosen.output is not None:
            for path in _write(measured, chosen.output, settings):
                print(f"written: {path}")
    except (StepFailed, UsageError) as error:
        print(f"ragcheck calibrate: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("ragcheck calibrate: stopped", file=sys.stderr)
        return 130
    return 1 if measured.errors else 0


def _settings(chosen: argparse.Namespace) -> Settings:
    """The settings as typed, through the readers of pytest's options; of a run's environment only the judge's."""
    from pytest_ragcheck.given import Given, read_settings  # noqa: PLC0415 - as above
    from pytest_ragcheck.options import OPTIONS  # noqa: PLC0415 - for this command only

    others = {option.environment for option in OPTIONS} - _JUDGE_VARIABLES
    environment = {name: value for name, value in os.environ.items() if name not in others}
    given = {
        setting: Given(getattr(chosen, argument), f"--{argument.replace('_', '-')}")
        for argument, setting in _OPTIONS.items()
        if getattr(chosen, argument) is not None and not (argument == "judge" and _is_own(chosen))
    }
    settings = read_settings(given, environment=environment)
    if settings.judge in (None, "none") and not _is_own(chosen):
        raise UsageError("no judge to measure. Give --judge=offline, or --judge=openai with --judge-model.")
    return settings


def _is_own(chosen: argparse.Namespace) -> bool:
    return ":" in (chosen.judge or "")


def _judge(chosen: argparse.Namespace, settings: Settings) -> Judge | None:
    from pytest_ragcheck.cli.own_judge import own_judge  # noqa: PLC0415 - for this command only
    from pytest_ragcheck.judging.choice import choose_judge  # noqa: PLC0415 - as above

    return own_judge(chosen.judge) if _is_own(chosen) else choose_judge(settings)


def _check_writable(path: Path) -> None:
    """Before any money is spent on what could not be kept."""
    if path.is_dir():
        raise UsageError(f"--output: {path} is a folder. Write the name of a file, such as calibration.json.")
    if not path.parent.is_dir():
        raise UsageError(f"--output: there is no folder {path.parent}. Make it, or choose another file.")


def _measure(answers: LabelledAnswers, path: Path, judge: Judge | None, settings: Settings) -> Measured:
    from pytest_ragcheck.judging.judge import judge_identity  # noqa: PLC0415 - for this command only
    from pytest_ragcheck.judging.judgement import JudgeIdentity  # noqa: PLC0415 - as above
    from pytest_ragcheck.report.calibration import Measured  # noqa: PLC0415 - as above
    from pytest_ragcheck.summary.calibration import Judged, calibrate  # noqa: PLC0415 - as above

    judgements = _judged(answers, judge, settings)
    scored: list[tuple[LabelledAnswer, Judgement, float]] = []
    errors: list[str] = []
    n_unscored = 0
    for row, judgement in zip(answers.rows, judgements, strict=True):
        if isinstance(judgement, MeasurementError):
            errors.append(f"{row.id}: {settings.redactor.text(str(judgement))}")
        elif (value := getattr(judgement, answers.score)) is None:
            n_unscored += 1
        else:
            scored.append((row, judgement, float(value)))
    if not scored:
        why = errors[0] if errors else f"the judge scores no {answers.score}"
        raise UsageError(f"{path}: none of {len(answers.rows)} answers could be measured. {why}")
    judged = [Judged(score=value, good=row.good, group=row.group) for row, _, value in scored]
    return Measured(
        file=path.name,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        label=answers.label,
        score=answers.score,
        judge=judge_identity(judge) or JudgeIdentity(kind="none"),
        timestamp=datetime.now(timezone.utc),
        calibration=calibrate(judged, threshold=settings.threshold),
        n_unscored=n_unscored,
        errors=errors,
        disagreements=_disagreements(scored, settings),
    )


def _judged(answers: LabelledAnswers, judge: Judge | None, settings: Settings) -> list[Judgement | MeasurementError]:
    """By row the judgement, or what happened instead; many at once, as many as the settings say."""
    import anyio  # noqa: PLC0415 - the other commands need no event loop

    from pytest_ragcheck.closing import close  # noqa: PLC0415 - for this command only
    from pytest_ragcheck.engine.gate import Gate  # noqa: PLC0415 - as above
    from pytest_ragcheck.judging.judge import judge as judge_answer  # noqa: PLC0415 - as above
    from pytest_ragcheck.preflight import preflight  # noqa: PLC0415 - as above

    rows = answers.rows
    found: dict[int, Judgement | MeasurementError] = {}

    async def judge_one(number: int, gate: Gate) -> None:
        row = rows[number]
        try:
            found[number] = await gate.run(lambda: judge_answer(row.question, row.answer, judge))
        except MeasurementError as error:
            found[number] = error

    async def judge_all() -> None:
        gate = Gate(settings.judge_concurrency, retries=settings.retries)
        try:
            await preflight(judge, settings, gate, switch="--preflight=off", scores=(answers.score,))
            async with anyio.create_task_group() as tasks:
                for number in range(len(rows)):
                    tasks.start_soon(judge_one, number, gate)
        finally:
            await close(judge)

    anyio.run(judge_all)
    return [found[number] for number in range(len(rows))]


def _disagreements(scored: Sequence[tuple[LabelledAnswer, Judgement, float]], settings: Settings) -> list[Any]:
    from pytest_ragcheck.report.calibration import Disagreement  # noqa: PLC0415 - for this command only

    wrong = [each for each in scored if (each[2] >= settings.threshold) != each[0].good]
    # Of equally wide ones the first in the file: the same file gives the same list.
    wrong.sort(key=lambda each: -abs(each[2] - each[0].good))
    return [
        Disagreement(
            id=row.id,
            score=value,
            good=row.good,
            question=row.question.question,
            answer=row.answer.text,
            reason=judgement.error_message,
        )
        for row, judgement, value in wrong
    ]


def _write(measured: Measured, path: Path, settings: Settings) -> list[Path]:
    from pytest_ragcheck.report.calibration import calibration_document, curve_svg  # noqa: PLC0415 - as above
    from pytest_ragcheck.report.writer import rounded  # noqa: PLC0415 - as above

    document = settings.redactor.document(rounded(calibration_document(measured, most_shown=50)))
    texts = {path: json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"}
    if measured.calibration.curve:
        texts[path.with_suffix(".svg")] = curve_svg(measured)
    for target, text in texts.items():
        _write_one(target, text)
    return list(texts)


def _write_one(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--output: {path} cannot be written ({error.strerror}). Choose another file.") from None
