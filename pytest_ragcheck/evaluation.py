"""Runs an evaluation without pytest: from questions, a system and a judge to records and result files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.check import PreparedQuestion, settings_with
from pytest_ragcheck.concurrency.tasks import closing
from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.engine.evaluator import evaluate_all
from pytest_ragcheck.engine.limits.request_limiter import RequestLimiter
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.checked_judgement import as_judge
from pytest_ragcheck.judging.judge_choice import choose_judge
from pytest_ragcheck.judging.run_preflight import preflight
from pytest_ragcheck.metrics.metric import OwnMetric, distinct
from pytest_ragcheck.metrics.metric_choice import choose_metrics
from pytest_ragcheck.questions.call import check_values
from pytest_ragcheck.questions.collected_questions import asked_in
from pytest_ragcheck.questions.question import END_TO_END, Question, QuestionSet
from pytest_ragcheck.questions.reader import read_question_file
from pytest_ragcheck.rag.client import RagClient, as_client
from pytest_ragcheck.redaction.printable import printable
from pytest_ragcheck.redaction.redactor import redact_logs
from pytest_ragcheck.report.files.output_folder import check_folder
from pytest_ragcheck.report.files.result_files import Written, write_results
from pytest_ragcheck.report.terminal.run_lines import run_thresholds
from pytest_ragcheck.scores import ASSERTABLE
from pytest_ragcheck.summary.aggregate import Summary, aggregate
from pytest_ragcheck.summary.gate.baseline_comparison import flaky_in_run
from pytest_ragcheck.summary.gate.gate_decision import tolerated
from pytest_ragcheck.summary.judge_calibration import read_agreements
from pytest_ragcheck.summary.run_outcomes import EXPECTED, Outcomes, Reach
from pytest_ragcheck.verdict.verdict import Verdict

if TYPE_CHECKING:
    from pytest_ragcheck.judging.judgement import GivenJudge
    from pytest_ragcheck.rag.answer import Asks, GivenClient
    from pytest_ragcheck.verdict.record import Record

    Questions = str | PathLike[str] | Question | Iterable[str | PathLike[str] | Question]


_NEED_PYTEST = (
    *("baseline", "gate", "false_alarms", "baseline_allow", "ingest", "question_files", "dataset", "samples"),
    *("shard", "resume", "replay", "dry_run", "max_cost", "report", "calibration"),
)
"""Keywords of the settings that `evaluate` cannot honour."""


@frozen
class Evaluation:
    """The result of `evaluate`."""

    records: tuple[Record, ...]
    """The records of all questions that were asked, in the order of the questions."""

    summary: Summary
    files: Written | None
    """The written result files; None without an output folder."""

    notes: tuple[str, ...] = ()
    """The judge's mistakes in the preflight, one line each."""


async def evaluate(
    questions: Questions,
    client: GivenClient | None,
    judge: GivenJudge | str | None,
    *,
    settings: Settings | None = None,
    metrics: Iterable[Any] = (),
    output: str | PathLike[str] | None = None,
    agent_name: str | None = None,
) -> Evaluation:
    """
    Ask, judge and measure all questions concurrently in the running event loop.

    Args:
        questions: Paths of question files, `Question` objects, or one of either.
        client: The system under test: a `RagClient`, a function, or an object with `ask(question)`; it stays open.
            None: the endpoint at the `url` of the settings.
        judge: An object with `judge(question, answer)`, or a function of the two; it stays open. Or a name that
            `--rag-judge` takes, such as `"offline"`, with its model and key in the settings. None: the `judge` of the
            settings, or `"openai"` if they have a `judge_model`, else no judge and only metrics that need none.
        settings: Thresholds, concurrency, time limits and the rest; the defaults if None. Nothing is read from the
            environment.
        metrics: Your own metrics, as the hook `pytest_ragcheck_metrics` returns them.
        output: The folder of the three result files; None: the `output` of the settings if it is not the default,
            else nothing is written.
        agent_name: The system's name in the results, and the prefix of its files; None: the `agent` of the settings.

    Raises:
        QuestionFileError: A question file has mistakes.
        StepFailed: The judge's preflight failed; no question has been asked.
        UsageError: There are no questions, a question is invalid, or two share a dataset and an id. Or the judge lacks
            a setting, a setting needs a pytest run, or there is no system, or one besides that of the `url`.
        ResultsError: The results cannot be written.
    """
    settings = _checked(settings)
    given = metrics if isinstance(metrics, Iterable) else [metrics]
    own = distinct([OwnMetric(metric, given_as="evaluate") for metric in given], given_as="evaluate")
    known = (*ASSERTABLE, *(name for metric in own for name in metric.names))
    sets = _sets(questions, settings.run.tier, known)
    settings = settings.replace(agent=agent_name or settings.run.agent)
    folder = None if output is None else Path(output)
    if folder is None and settings.run.output != Settings.of().run.output:
        folder = settings.run.output
    if folder is not None:
        check_folder(folder)
    if judge is None or isinstance(judge, str):
        name = judge or settings.judge.name or ("openai" if settings.judge.model else "none")
        settings = settings.replace(judge=name)
        used = made = choose_judge(settings)
    else:
        used, made = as_judge(judge), None
    system = _client(client, settings)
    settings = settings_with(system, settings)
    measured = choose_metrics(settings, used)
    asked = [question for each in sets for question in each.questions if question.skip is None]
    async with closing(made, *measured, system if client is None else None) as stack:
        stack.callback(redact_logs(settings.redactor))
        notes = await preflight(
            used if any(question.is_answered for question in asked) else None,
            settings,
            RequestLimiter(settings.judge_concurrency, retries=settings.endpoint.retries),
            switch='Settings.of(disable="preflight")',
            output=folder,
        )
        prepared = (
            PreparedQuestion(question=each, client=system, judge=used, settings=settings, metrics=(*measured, *own))
            for each in asked
        )
        records = await evaluate_all(prepared, settings)
    outcomes = outcomes_of(sets, records, settings)
    summary = aggregate(outcomes, flaky=flaky_in_run(outcomes.measured, None, clean=str))
    files = None if folder is None else write_results(outcomes, summary, folder, settings.redactor)
    return Evaluation(records=records, summary=summary, files=files, notes=notes)


def _checked(settings: Settings | None) -> Settings:
    # Return the settings, or the defaults for None; raise UsageError if some need a pytest run.
    settings = settings or Settings.of()
    if not isinstance(settings, Settings):
        raise UsageError(f"evaluate: settings are {settings!r:.80}. Write settings=Settings.of(...).")
    if needing := needing_pytest(settings):
        raise UsageError(
            f"evaluate: {', '.join(needing)} of the settings cannot be honoured without pytest. Run pytest, or "
            f"write settings.replace({'=None, '.join(needing)}=None)."
        )
    return settings


def needing_pytest(settings: Settings) -> list[str]:
    """The keywords of the settings that only a pytest run can honour."""
    return [name for name in _NEED_PYTEST if settings.replace(**{name: None}) != settings]


def _client(client: GivenClient | None, settings: Settings) -> Asks:
    url = settings.endpoint.url
    if client is None and url is None:
        raise UsageError("evaluate: there is no system to ask. Give a client, or settings with a url.")
    if client is None:
        return RagClient.from_settings(settings)
    if url is not None and not isinstance(client, RagClient):
        raise UsageError(
            "evaluate: both a client and settings with a url are given. Give None as the client to ask the url, or "
            "leave the url out."
        )
    return as_client(client, settings)


def _sets(given: Questions, tier: str, known_metrics: Collection[str]) -> tuple[QuestionSet, ...]:
    # Return the questions by dataset, in the order of the datasets; *tier* is for those that set none.
    by_dataset: dict[str, list[Question]] = {}
    paths: dict[str, Path] = {}
    for each in [given] if isinstance(given, str | PathLike) or not isinstance(given, Iterable) else given:
        if isinstance(each, Question):
            check_values(each, known_metrics=known_metrics, given_as="evaluate")
            read = [replace(each, tier=tier) if each.tier == END_TO_END else each]
            path = each.path or Path(each.dataset_name)
        elif not isinstance(each, str | PathLike):
            raise UsageError(f"evaluate: {each!r:.80} is neither the path of a question file nor a Question.")
        else:
            path = Path(each)
            file = read_question_file(path, root=Path.cwd(), known_metrics=known_metrics)
            # Nothing is uploaded without pytest.
            read = list(asked_in(replace(file, ingest=False), tier=tier, ingest=False, root=Path.cwd()).questions)
        for question in read:
            paths.setdefault(question.dataset_name, path)
            by_dataset.setdefault(question.dataset_name, []).append(question)
    if not by_dataset:
        raise UsageError("evaluate: there is no question. Check where the paths and questions come from.")
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


def outcomes_of(
    sets: Sequence[QuestionSet], records: tuple[Record, ...], settings: Settings, *, replay_of: str = ""
) -> Outcomes:
    """
    Return the outcomes of a run without pytest.

    A turn that follows an ERROR counts as skipped, but a question with a record never does.
    """
    verdicts = {record.question.key: record.verdict for record in records}

    def is_skipped(question: Question) -> bool:
        name = question.dataset_name
        stopped = any(verdicts.get((name, turn.id)) is Verdict.ERROR for turn in question.earlier)
        return question.key not in verdicts and (question.skip is not None or stopped)

    skipped = {each.dataset_name: sum(map(is_skipped, each.questions)) for each in sets}
    outcomes = Outcomes(
        agent_name=settings.run.agent,
        timestamp=datetime.now(timezone.utc),
        sets=tuple(sets),
        records=records,
        skipped={name: count for name, count in skipped.items() if count},
        complete=len(records) + sum(skipped.values()) == sum(len(each.questions) for each in sets),
        thresholds=run_thresholds(settings, sets, judged={r.judge for r in records if r.endpoint} != {None}),
        groups=settings.run.metrics,
        agreements=read_agreements(settings.judge.calibrations),
        replay_of=replay_of,
        excused={q.key: f"{EXPECTED}: {printable(q.xfail)}" for s in sets for q in s.questions if q.xfail is not None},
        reach=Reach(searched=tuple(f"{each.dataset_name}::*" for each in sets)),
    )
    return replace(outcomes, tolerated=tolerated(outcomes, outcomes.rules, None, clean=str))
