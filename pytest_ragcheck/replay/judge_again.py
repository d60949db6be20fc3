"""Judges, measures and decides recorded answers again, without pytest."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pytest_ragcheck.check import check_question
from pytest_ragcheck.concurrency.exit_stack import closing
from pytest_ragcheck.engine.limits.request_limiter import RequestLimiter
from pytest_ragcheck.engine.prefetch import Job, Prefetcher
from pytest_ragcheck.metrics.metric_choice import choose_metrics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_ragcheck.config.settings import Settings
    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.replay.recorded_run import Recording
    from pytest_ragcheck.verdict.record import Record


async def rejudge(
    questions: Sequence[Question], recording: Recording, judge: Judge | None, settings: Settings
) -> list[Record]:
    """Return the records of the questions in their order; the judge stays open."""
    metrics = choose_metrics(settings, judge)
    judging = RequestLimiter(settings.judge_concurrency, retries=settings.endpoint.retries)
    once = settings.replace(repeats=1, judge_repeats=1)

    async def check(question: Question) -> Record:
        means = recording.replayed(question, judge, metrics, repeats=settings.judge.repeats)
        return await check_question(
            question, client=means.client, judge=means.judge, metrics=means.metrics, settings=once, judging=judging
        )

    reader = Prefetcher(room=lambda under_way: 4 * settings.judge_concurrency - under_way)
    try:
        await reader.add([Job(key=place, evaluate=partial(check, each)) for place, each in enumerate(questions)])
        taken = [await reader.take(place) for place in range(len(questions))]
        return [record for record in taken if record is not None]
    finally:
        await reader.close()
        await closing(*metrics).aclose()
