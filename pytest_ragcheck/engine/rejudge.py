"""Recorded answers are judged, measured and decided anew, many at once and without pytest."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pytest_ragcheck.check import check_question
from pytest_ragcheck.closing import close
from pytest_ragcheck.engine.ahead import Job, ReadAhead
from pytest_ragcheck.engine.gate import Gate
from pytest_ragcheck.metrics.choice import choose_metrics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_ragcheck.engine.replay import Recording
    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.record import Record
    from pytest_ragcheck.settings import Settings


async def rejudge(
    questions: Sequence[Question], recording: Recording, judge: Judge | None, settings: Settings
) -> list[Record]:
    """The records of the questions, in their order; the judge is closed in the end."""
    metrics = choose_metrics(settings, judge)
    judging = Gate(settings.judge_concurrency, retries=settings.retries)
    once = replace(settings, repeats=1, judge_repeats=1)

    async def check(question: Question) -> Record:
        means = recording.replayed(question, judge, metrics, repeats=settings.judge_repeats)
        return await check_question(
            question, client=means.client, judge=means.judge, metrics=means.metrics, settings=once, judging=judging
        )

    reader = ReadAhead(alive=4 * settings.judge_concurrency)
    try:
        await reader.add([Job(key=place, evaluate=partial(check, each)) for place, each in enumerate(questions)])
        taken = [await reader.take(place) for place in range(len(questions))]
        return [record for record in taken if record is not None]
    finally:
        await reader.close()
        await close(judge, *metrics)
