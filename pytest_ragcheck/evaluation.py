"""A whole run without pytest: questions, a system and a judge in, records and result files out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.closing import close
from pytest_ragcheck.engine.ahead import Job, ReadAhead
from pytest_ragcheck.engine.course import Courses
from pytest_ragcheck.engine.gate import PAUSE_SECONDS, Gate
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.judging.choice import choose_judge
from pytest_ragcheck.library_logs import redact_logs
from pytest_ragcheck.metrics.catalogue import ASSERTABLE
from pytest_ragcheck.metrics.choice import choose_metrics
from pytest_ragcheck.preflight import preflight
from pytest_ragcheck.questions.question import Question, QuestionSet
from pytest_ragcheck.questions.reader import read_question_file
from pytest_ragcheck.rag.client import RagClient
from pytest_ragcheck.report.files import write_results
from pytest_ragcheck.report.terminal import run_thresholds
from pytest_ragcheck.settings import Settings
from pytest_ragcheck.summary.aggregate import aggregate
from pytest_ragcheck.summary.outcomes import Outcomes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.metrics.metric import Metric
    from pytest_ragcheck.rag.answer import Asks
    from pytest_ragcheck.record import Record
    from pytest_ragcheck.report.files import Written
    from pytest_ragcheck.summary.aggregate import Summary

    Questions = str | PathLike[str] | Question | Iterable[str | PathLike[str] | Question]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What came of an `evaluate`."""

    records: tuple[Record, ...]
    """One for each question that was asked, in the questions' order."""

    summary: Summary
    files: Written | None
    """Where the results were written; None without an output folder."""

    notes: tuple[str, ...] = ()
    """What the judge got wrong when it was tried out before the first question, one line each."""


async def evaluate(
    questions: Questions,
    client: Asks | Callable[..., Any],
    judge: Judge | str | None,
    *,
    settings: Settings | None = None,
    metrics: Iterable[Metric] = (),
    output: str | PathLike[str] | None = None,
    agent_name: str | None = None,
) -> Evaluation:
    """
    Asks, judges and measures all questions, many at once, in the running event loop.

    Args:
        questions: Paths of question files, `Question` objects, or one of either.
        client: The system under test: a `RagClient`, a function, or an object with `ask(question)`; it stays open.
        judge: An object with `judge(question, answer)`, which stays open; or `"offline"`, `"openai"` or another name
            that `--rag-judge` takes, with what it needs in the settings; None: keyless metrics only.
        settings: Thresholds, concurrency, time limits and the rest; the defaults if None. Nothing is read from the
            environment; its `url`, `output` and `agent` are not used.
        metrics: Your own, beside those that the settings name.
        output: The folder of the three result files; None: nothing is written.
        agent_name: The name of the system in the results, with which its files begin; `rag` if None.

    Raises:
        QuestionFileError: A question file has mistakes.
        StepFailed: The judge is a language model that is of no use, or is not there; nothing has been asked.
        UsageError: Two questions are the same one, or the judge lacks something.
        ResultsError: The results cannot be written.
    """
    sets = _sets([questions] if isinstance(questions, str | Question | PathLike) else questions)
    settings = replace(settings or Settings(), agent=agent_name or "rag")
    if judge is None or isinstance(judge, str):
        settings = replace(settings, judge=judge or "none")
        used = choose_judge(settings)
    else:
        used = judge
    measured = choose_metrics(settings, used)
    log_as_usual = redact_logs(settings.redactor)
    try:
        notes = await preflight(
            used,
            settings,
            Gate(settings.judge_concurrency, retries=settings.retries),
            switch="Settings(preflight=False)",
            output=None if output is None else Path(output),
        )
        records = await _records(sets, _asking(client, settings), used, (*measured, *metrics), settings)
    finally:
        log_as_usual()
        await close(*measured, *([] if used is judge else [used]))
    outcomes = _outcomes(sets, records, settings)
    summary = aggregate(outcomes)
    files = None
    if output is not None:
        files = write_results(outcomes, summary, Path(output), settings.redactor)
    return Evaluation(records=records, summary=summary, files=files, notes=notes)


async def _records(
    sets: Iterable[QuestionSet], client: Any, judge: Judge | None, metrics: tuple[Metric, ...], settings: Settings
) -> tuple[Record, ...]:
    asking = Gate(settings.concurrency, retries=settings.retries, delay_seconds=settings.delay_seconds)
    judging = Gate(settings.judge_concurrency, retries=settings.retries, pause_seconds=PAUSE_SECONDS)
    check = partial(
        Courses().check,
        client=client,
        judge=judge,
        settings=settings,
        metrics=metrics,
        asking=asking,
        judging=judging,
    )
    asked = {(q.dataset_name, q.id): q for questions in sets for q in questions.questions if q.skip is None}
    # As in a pytest run: enough to keep both gates full while some requests take long.
    reader = ReadAhead(alive=asking.most + judging.most + 2 * max(asking.most, judging.most))
    try:
        await reader.add(Job(key=key, evaluate=partial(check, question)) for key, question in asked.items())
        taken = [await reader.take(key) for key in asked]
    finally:
        await reader.close()
    return tuple(record for record in taken if record is not None)


def _asking(client: Any, settings: Settings) -> Any:
    if hasattr(client, "ask") or not callable(client):
        return client
    function: Any = client
    return RagClient.from_callable(function, top_k=settings.top_k, timeout_seconds=settings.timeout_seconds)


def _sets(given: Iterable[Any]) -> tuple[QuestionSet, ...]:
    """The questions by dataset, in the order in which the datasets come."""
    by_dataset: dict[str, list[Question]] = {}
    paths: dict[str, Path] = {}
    for each in given:
        if isinstance(each, Question):
            read = [each]
            path = each.path or Path(each.dataset_name)
        else:
            path = Path(each)
            read = list(read_question_file(path, root=Path.cwd(), known_metrics=ASSERTABLE).questions)
        for question in read:
            paths.setdefault(question.dataset_name, path)
            by_dataset.setdefault(question.dataset_name, []).append(question)
    for name, questions in by_dataset.items():
        (often, times), *_ = Counter(question.id for question in questions).most_common(1)
        if times > 1:
            raise UsageError(
                f"evaluate: the dataset {name!r} has {times} questions {often!r}. "
                "Give them ids or dataset names of their own."
            )
    return tuple(
        QuestionSet(dataset_name=name, path=paths[name], questions=tuple(questions))
        for name, questions in by_dataset.items()
    )


def _outcomes(sets: tuple[QuestionSet, ...], records: tuple[Record, ...], settings: Settings) -> Outcomes:
    return Outcomes(
        agent_name=settings.agent,
        session_name=settings.session_name,
        timestamp=datetime.now(timezone.utc),
        sets=sets,
        records=records,
        skipped={s.dataset_name: sum(q.skip is not None for q in s.questions) for s in sets},
        complete=True,
        thresholds=run_thresholds(settings),
        groups=settings.metrics,
    )
