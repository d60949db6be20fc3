"""A judge held against labelled answers: it is asked about each, and what it says is counted."""

from __future__ import annotations

import hashlib
from datetime import datetime, timezone
from typing import TYPE_CHECKING

import anyio

from pytest_ragcheck.closing import close
from pytest_ragcheck.engine.gate import Gate
from pytest_ragcheck.errors import MeasurementError, UsageError
from pytest_ragcheck.judging.judge import judge as judge_answer
from pytest_ragcheck.judging.judge import judge_identity
from pytest_ragcheck.judging.judgement import JudgeIdentity
from pytest_ragcheck.preflight import preflight
from pytest_ragcheck.report.calibration import Disagreement, Measured
from pytest_ragcheck.summary.calibration import Judged, calibrate

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_ragcheck.judging.judgement import Judge, Judgement
    from pytest_ragcheck.judging.labels import LabelledAnswer, LabelledAnswers
    from pytest_ragcheck.settings import Settings


def measure_judge(answers: LabelledAnswers, path: Path, judge: Judge | None, settings: Settings) -> Measured:
    """
    How far the judge agrees with the labels of the answers.

    Args:
        answers: What the file holds.
        path: The file.
        judge: Who is asked; closed at the end.
        settings: How many are asked at once, and from which score on an answer passes.

    Raises:
        StepFailed: The judge was tried out in vain.
        UsageError: None of the answers could be measured.
    """
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


def _disagreements(scored: Sequence[tuple[LabelledAnswer, Judgement, float]], settings: Settings) -> list[Disagreement]:
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
