from __future__ import annotations

import asyncio
import hashlib
import inspect
import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from importlib import import_module
from pathlib import Path
from typing import Any

from pytest_ragcheck.concurrency.frames import is_own_failure
from pytest_ragcheck.concurrency.tasks import closing, together
from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.engine.limits.request_limiter import RequestLimiter
from pytest_ragcheck.errors import JudgeError, MeasurementError, UsageError
from pytest_ragcheck.judging.checked_judgement import as_judge, checked_judgement, identity_of
from pytest_ragcheck.judging.judgement import Judge, Judgement
from pytest_ragcheck.judging.labels import LabelledAnswer, LabelledAnswers
from pytest_ragcheck.judging.model.completion import metered
from pytest_ragcheck.judging.panel import Panel
from pytest_ragcheck.judging.run_preflight import preflight
from pytest_ragcheck.metrics.cost import Cost, with_judge
from pytest_ragcheck.rag.body.json_body import shown_error
from pytest_ragcheck.report.terminal.calibration_lines import Disagreement, Measured
from pytest_ragcheck.summary.judge_calibration import calibrate
from pytest_ragcheck.summary.judge_rates import Judged
from pytest_ragcheck.verdict.failure_text import counted


def measure_judge(answers: LabelledAnswers, path: Path, judge: Judge, settings: Settings) -> Measured:
    """
    Measure and close the judge; *path* is the file of the answers.

    Raises:
        StepFailed: The judge's preflight failed.
        UsageError: None of the answers could be measured.
    """
    with metered() as uses:
        judgements = _judged(answers, judge, settings)
    scored: dict[int, tuple[LabelledAnswer, Judgement, float]] = {}
    errors: list[str] = []
    n_unscored = 0
    for number, (row, judgement) in enumerate(zip(answers.rows, judgements, strict=True)):
        if isinstance(judgement, MeasurementError):
            errors.append(f"{row.question.id}: {settings.redactor.text(str(judgement))}")
        elif (value := getattr(judgement, answers.score)) is None:
            n_unscored += 1
        else:
            scored[number] = (row, judgement, float(value))
    if not scored:
        needs = "; it may need expected_answers" if answers.label == "label_correct" else ""
        why = errors[0] if errors else f"The judge scores no {answers.score}{needs}."
        raise UsageError(f"{path}: none of {counted(len(answers.rows), 'answer')} could be measured. {why}")
    judged = {number: Judged(score=value, good=row.good, group=row.group) for number, (row, _, value) in scored.items()}
    return Measured(
        file=path.name,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        label=answers.label,
        score=answers.score,
        judge=identity_of(judge),
        timestamp=datetime.now(timezone.utc),
        calibration=calibrate(list(judged.values()), threshold=settings.gate.threshold),
        judged=judged,
        cost=Cost(judge_usd=0.0) if _is_free(judge) else with_judge(Cost(), uses, settings.judge.own_prices),
        n_unscored=n_unscored,
        errors=errors,
        disagreements=_disagreements(list(scored.values()), settings),
    )


def _is_free(judge: Judge) -> bool:
    if isinstance(judge, Panel):
        return all(map(_is_free, judge.judges))
    return identity_of(judge).kind in {"offline", "local"}


def _judged(answers: LabelledAnswers, judge: Judge, settings: Settings) -> list[Judgement | MeasurementError]:

    async def judge_one(row: LabelledAnswer, gate: RequestLimiter) -> Judgement | MeasurementError:
        try:
            return await gate.run(lambda: checked_judgement(row.question, row.answer, judge))
        except MeasurementError as error:
            return error
        except Exception as error:
            if is_own_failure(error):
                raise
            return JudgeError(shown_error(error))

    async def judge_all() -> list[Judgement | MeasurementError]:
        gate = RequestLimiter(settings.judge_concurrency, retries=settings.endpoint.retries)
        async with closing(judge):
            await preflight(judge, settings, gate, switch="--disable=preflight", scores=(answers.score,))
            return await together(judge_one(row, gate) for row in answers.rows)

    return asyncio.run(judge_all())


def _disagreements(scored: Sequence[tuple[LabelledAnswer, Judgement, float]], settings: Settings) -> list[Disagreement]:
    wrong = [each for each in scored if (each[2] >= settings.gate.threshold) != each[0].good]
    # Ties keep the order of the file, so that the same file gives the same list.
    wrong.sort(key=lambda each: -abs(each[2] - each[0].good))
    return [
        Disagreement(
            id=row.question.id,
            score=value,
            good=row.good,
            question=row.question.question,
            answer=row.answer.text,
            reason=judgement.error_message,
        )
        for row, judgement, value in wrong
    ]


def own_judge(place: str) -> Judge:
    """
    The judge at `MODULE:NAME`: a judge, a function of question and answer, or what makes one without arguments.

    Raises:
        UsageError: The module or name does not exist, or is not a judge.
    """
    module, _, name = place.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        found: Any = getattr(import_module(module), name)
        made: Any = found() if inspect.isclass(found) or _takes_nothing(found) else found
        judge = as_judge(made)
    except Exception as error:
        # The user's module may raise anything; the text names the module.
        raise UsageError(f"--judge: {place!r} cannot be loaded as a judge: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(Path.cwd()))
    if not hasattr(judge, "judge"):
        raise UsageError(
            f"--judge: {place!r} is {judge!r:.80}, not a judge. Name an object with a method judge(question, answer), "
            "or a class or function that makes one."
        )
    return judge


def _takes_nothing(found: object) -> bool:
    # True for a function that can be called without arguments; a judge is called with two.
    if not inspect.isroutine(found):
        return False
    try:
        inspect.signature(found).bind()
    except TypeError:
        return False
    return True
