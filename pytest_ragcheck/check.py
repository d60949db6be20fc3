"""Takes one question from its request to its `Record`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timezone
from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.concurrency.limiter import NO_LIMITS, Limiter, StepLimiters
from pytest_ragcheck.errors import IngestionError, MeasurementError, ReplayError
from pytest_ragcheck.frozen import frozen, replace
from pytest_ragcheck.judging.checked_judgement import checked_judgement, judge_identity
from pytest_ragcheck.judging.judgement import Judge, Judgement, material_digest
from pytest_ragcheck.judging.model.completion import metered
from pytest_ragcheck.judging.panel import judge_by_all
from pytest_ragcheck.metrics.cost import summed, system_cost, with_judge
from pytest_ragcheck.metrics.metric import RunMetric, measure_all
from pytest_ragcheck.rag.ask import Dialogue, ask, endpoint_name
from pytest_ragcheck.rag.client import is_whole
from pytest_ragcheck.scores import ABSTAINED, JUDGED, METRICS, OVERALL, Score, weighted
from pytest_ragcheck.verdict.failure_text import reason_for
from pytest_ragcheck.verdict.maximums import with_maximums
from pytest_ragcheck.verdict.record import (
    Record,
    answer_without_secrets,
    expected_without_secrets,
    identity_without_secrets,
    judgement_without_secrets,
    lacks_secrets,
)
from pytest_ragcheck.verdict.repeats import SPREAD_LIMIT, combined_record, spread, with_recorded_repeats
from pytest_ragcheck.verdict.verdict import Thresholds, Verdict, blame, decide, unmeasured, wanted_thresholds

if TYPE_CHECKING:
    from pytest_ragcheck.config.settings import Settings
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import Asks, RagAnswer


@frozen
class PreparedQuestion:
    """A question with the client, judge, settings and metrics of its evaluation."""

    question: Question
    client: Asks
    judge: Judge | None
    settings: Settings
    metrics: Sequence[RunMetric] = ()

    upload: Callable[[Asks], Awaitable[Asks]] | None = None
    """Uploads the documents of the run, and returns a client that asks about them; None without documents."""

    complete: Callable[[Record], Awaitable[Record]] | None = None
    """Adds the evidence of the gate to the record; None without a baseline."""

    keep_leak: Callable[[Record], Awaitable[bool]] | None = None
    """Returns False if a saved run has the leak of a FAIL; else stores the FAIL, in case the run is killed."""

    is_recorded: bool = False
    """True if the client repeats a known answer, which costs nothing and takes no slot and no delay."""

    row: Record | None = None
    """The row of a recording with the answer; None without one."""


async def check_question(
    prepared: PreparedQuestion,
    limiters: StepLimiters = NO_LIMITS,
    *,
    dialogues: Sequence[Dialogue] = (),
) -> Record:
    """
    Ask, judge, measure and decide one question, `repeats` times in sequence.

    Each repeat of a turn continues its own one of the *dialogues*.

    The judge is not asked in the tier `retrieval`, nor if the group `judge` is not chosen.

    A failure of the endpoint or the judge makes the verdict ERROR. Any other exception is a bug, in this package or
    in a user's client or judge, and propagates.
    """
    prepared = _with_clients_secrets(prepared)
    question, settings = prepared.question, settings_with(prepared.client, prepared.settings)
    judge = prepared.judge if "judge" in settings.run.metrics and question.is_answered else None
    prepared = replace(prepared, settings=settings, judge=judge)
    records: list[Record] = []
    new_leaks: list[Record] = []
    with metered() as uses:
        while len(records) < settings.run.repeats:
            dialogue = dialogues[len(records)] if dialogues else None
            records.append(await _checked_once(prepared, dialogue, limiters))
            if prepared.keep_leak is not None and records[-1].leaks and await prepared.keep_leak(records[-1]):
                new_leaks.append(records[-1])
            if records[-1].verdict is Verdict.ERROR:
                if dialogue is None or not dialogue.has(question):
                    break
                # The next turn needs the answers of all repeats, and this turn is an ERROR whatever they are.
                prepared = replace(prepared, judge=None, metrics=())
    record = records[0] if settings.run.repeats == 1 else combined_record(records, _thresholds(prepared), new_leaks)
    spreads = {metric: spread(values) for metric, values in record.repeated.items()}
    unstable = {metric: by for metric, by in spreads.items() if by > SPREAD_LIMIT}
    cost = with_judge(summed(each.cost for each in records), uses, settings.judge.own_prices)
    record = replace(record, unstable=unstable, blame=_blame(record, settings.redactor.text), cost=cost)
    return with_maximums(record, settings.gate.maximums) if settings.gate.maximums or question.maximums else record


async def _checked_once(prepared: PreparedQuestion, dialogue: Dialogue | None, limiters: StepLimiters) -> Record:
    question = prepared.question
    top_k = question.top_k or prepared.settings.endpoint.top_k
    record = blank_record(prepared)
    # A recorded answer may follow other answers than those that the recording shows for the earlier turns.
    if dialogue is not None and not (prepared.is_recorded and question.history):
        record = replace(record, question=dialogue.next_turn(question, recorded=True))
    # The system gets its own answers back unchanged.
    asked = question if dialogue is None else dialogue.next_turn(question)
    try:
        known = () if prepared.is_recorded else prepared.settings.endpoint.identities
        asking = partial(ask, replace(asked, top_k=top_k), prepared.client, known)
        asked_at = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        given = await limiters.timing.run(partial(limiters.asking.run, asking))
    except MeasurementError as error:
        no_request = isinstance(error, IngestionError | ReplayError) or not record.endpoint
        reason = _with_clients_secrets(prepared).settings.redactor.text(str(error))
        return replace(record, error_kind=error.kind, reason=reason, top_k=None if no_request else top_k)
    prepared = _with_clients_secrets(prepared)
    answer = answer_without_secrets(given, prepared.settings.redactor.text)
    if dialogue is not None:
        dialogue.add(question, given, answer)
    record = replace(
        record,
        answer=answer.text if question.is_answered else None,
        contexts=answer.contexts,
        source_ids=answer.source_ids,
        server_source_ids=answer.server_source_ids,
        latency_seconds=answer.latency_seconds,
        first_token_seconds=answer.first_token_seconds,
        asked_at=asked_at if prepared.row is None else prepared.row.asked_at,
        top_k=top_k,
        cost=system_cost(given.extra),
    )
    return await _decided(record, given, prepared, limiters)


async def _decided(record: Record, given: RagAnswer, prepared: PreparedQuestion, limiters: StepLimiters) -> Record:
    # Return the record of an answer with its judgement, scores and verdict.
    judge, metrics, settings = prepared.judge, prepared.metrics, prepared.settings
    clean, question = settings.redactor, record.question
    asked = replace(question, top_k=record.top_k)
    local = [metric for metric in metrics if metric.local]
    measured = partial(measure_all, local, asked, given, limiters.measuring, clean.text)
    # Local metrics read the original texts; judges and models read redacted ones, in which other secrets differ.
    mark = clean.numbering(*question.acceptable_answers, given.text, *given.contexts)
    judged, sent = expected_without_secrets(question, mark), answer_without_secrets(given, mark)
    try:
        # The judge comes first, since its reply takes longest.
        judgement = await limiters.timing.run(
            partial(_judged, judged, sent, judge, settings.judge.repeats, limiters.judging)
        )
        others = [metric for metric in metrics if not metric.local]
        modelled = await limiters.timing.run(partial(measure_all, others, judged, sent, limiters.measuring, clean.text))
    except MeasurementError as error:
        failed = replace(record, scores=await measured(), error_kind=error.kind, reason=clean.text(str(error)))
        return _unjudged(failed, given, prepared)
    judgement = judgement_without_secrets(judgement, clean)
    scores = await measured() | _judged_scores(question, judgement, settings) | modelled
    row = prepared.row
    kept = "" if row is None or not lacks_secrets(row) else row.material
    material = "" if judge is None else kept or material_digest(judged, sent)
    if row is not None and (row.judge, row.material) == (record.judge, material):
        # The judgement belongs to one answer, and the scores to all.
        scores |= {metric: row.scores[metric] for metric in row.repeated.keys() & scores.keys() & {*JUDGED}}
    overall = weighted(scores, settings.run.weights)
    if overall is not None:
        scores[OVERALL] = overall.score
    scores |= unmeasured(question, _thresholds(prepared), [name for metric in metrics for name in metric.names])
    # In the order of the catalogue, followed by users' own metrics.
    scores = {metric: scores[metric] for metric in (*filter(scores.__contains__, METRICS), *scores)}
    return _with_verdict(
        record,
        scores,
        given,
        judgement,
        prepared,
        overall_lacks=overall.lacks if overall is not None else (),
        unsupported_claims=judgement.unsupported_claims,
        verdict_cached=judgement.cached,
        judgement=None if judge is None else judgement,
        material=material,
    )


def _unjudged(failed: Record, given: RagAnswer, prepared: PreparedQuestion) -> Record:
    # The ERROR of a judge, or a FAIL that names the failure too if the answer breaks a prohibition.
    of_judge = {ABSTAINED, OVERALL, *JUDGED}.union(*(each.names for each in prepared.metrics if not each.local))
    wanted = wanted_thresholds(failed.question, _thresholds(prepared))
    unjudged = {metric: Score.unscored(failed.reason) for metric in wanted if metric in of_judge}
    record = _with_verdict(failed, {**failed.scores, **unjudged}, given, Judgement(), prepared)
    return record if record.verdict is Verdict.FAIL else failed


def _with_verdict(
    record: Record,
    scores: Mapping[str, Score],
    given: RagAnswer,
    judgement: Judgement,
    prepared: PreparedQuestion,
    /,
    **further: Any,
) -> Record:
    # Return the record with its scores and verdict, and with the *further* fields.
    decision = decide(record.question, scores, _thresholds(prepared))
    reason = reason_for(decision, record.question, given, judgement, scores)
    decided = replace(
        record,
        verdict=decision.verdict,
        scores=scores,
        thresholds=decision.thresholds,
        dropped=decision.dropped,
        reason=prepared.settings.redactor.text(reason),
        error_kind=decision.error_kind,
        repeated={metric: (tuple(votes),) for metric, votes in judgement.votes.items() if metric in scores},
        **further,
    )
    return decided if prepared.row is None else with_recorded_repeats(decided, prepared.row)


def _with_clients_secrets(prepared: PreparedQuestion) -> PreparedQuestion:
    # A user's own client may send secrets that the settings do not have, and further ones with each request.
    settings, of_client = prepared.settings, getattr(prepared.client, "_ragcheck_secrets", ())
    further = [secret for secret in of_client if settings.redactor.text(secret) == secret]
    return replace(prepared, settings=settings.replace(secrets=(*settings.secrets, *further))) if further else prepared


def _thresholds(prepared: PreparedQuestion) -> Thresholds:
    settings = prepared.settings
    has_maximum = bool(settings.gate.maximums or prepared.question.maximums)
    return Thresholds(
        judge_minimum=settings.gate.threshold,
        minimums=settings.gate.minimums,
        groups=settings.run.metrics,
        judged=prepared.judge is not None,
        # With the group, a judge is lacking only for turns that are asked for their answers.
        lenient=prepared.judge is None
        and (settings.judge.name == "none" or "judge" in settings.run.metrics or has_maximum),
        top_k=settings.endpoint.top_k,
    )


def settings_with(client: Any, settings: Settings) -> Settings:
    """Return the settings with the client's own number of contexts, if it has one."""
    own = getattr(client, "top_k", None)
    return settings if own == settings.endpoint.top_k or not is_whole(own) else settings.replace(top_k=own)


def blank_record(prepared: PreparedQuestion) -> Record:
    clean = prepared.settings.redactor
    return Record(
        question=prepared.question,
        verdict=Verdict.ERROR,
        judge=identity_without_secrets(judge_identity(prepared.judge), clean),
        endpoint=clean.text(endpoint_name(prepared.client)),
    )


async def _judged(
    question: Question, answer: RagAnswer, judge: Judge | None, repeats: int, judging: Limiter
) -> Judgement:
    if not question.is_answered:
        return Judgement()
    if judge is None or not answer.text.strip():
        # No request is made, so no slot is needed.
        return await checked_judgement(question, answer, judge)
    return await judge_by_all(question, answer, judge, repeats=repeats, run=judging.run)


def _judged_scores(question: Question, judgement: Judgement, settings: Settings) -> dict[str, Score]:
    # The verdict of an unanswerable question depends on abstention, even if the group is not chosen.
    wanted = "abstention" in settings.run.metrics or not question.answerable
    values: dict[str, float | None] = {
        "answer_correctness": judgement.answer_correctness if question.answerable else None,
        "groundedness": judgement.groundedness,
        ABSTAINED: None if judgement.abstained is None or not wanted else float(judgement.abstained),
    }
    return {metric: Score(value) for metric, value in values.items() if value is not None}


def _blame(record: Record, clean: Callable[[str], str]) -> str:
    if record.verdict is not Verdict.FAIL:
        return ""
    # As the contexts of the record.
    gold = tuple(replace(each, text=clean(each.text)) for each in record.question.gold_passages)
    question = replace(record.question, gold_passages=gold)
    declined = not record.reply.text.strip() or record.scores.get(ABSTAINED) == Score(1.0)
    return blame(question, record.reply, record.shortfalls, declined=declined)
