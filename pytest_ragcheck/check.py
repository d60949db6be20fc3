"""One question from its asking to its `Record`."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.errors import EndpointError, EndpointReplyError, JudgeError, JudgeReplyError
from pytest_ragcheck.judging.judgement import JudgeIdentity, Judgement
from pytest_ragcheck.judging.refusals import is_refusal
from pytest_ragcheck.metrics.catalogue import ABSTAINED, JUDGED
from pytest_ragcheck.metrics.mentions import (
    forbidden_mentions,
    missing_mentions,
    must_mention_score,
    must_not_mention_score,
)
from pytest_ragcheck.metrics.overlap import exact_match, token_f1
from pytest_ragcheck.metrics.score import Score
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.record import Record
from pytest_ragcheck.verdict import Decision, Thresholds, Verdict, decide, shortfalls

if TYPE_CHECKING:
    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import Asks
    from pytest_ragcheck.redaction import Redactor
    from pytest_ragcheck.settings import Settings

DECLINED = "the system declined to answer, although the question is answerable"
ANSWERED = "the system answered, although the question is unanswerable"
NO_CONTEXTS = "no contexts were returned"


async def check_question(question: Question, *, client: Asks, judge: Judge | None, settings: Settings) -> Record:
    """
    Asks, judges, measures, decides.

    What the endpoint or the judge does wrong ends in a record whose verdict is ERROR. Any other exception is a
    bug, of ours or in a user's own client or judge, and passes through.
    """
    clean = settings.redactor
    record = Record(
        question=question,
        verdict=Verdict.ERROR,
        judge=judge_identity(judge),
        endpoint=clean.text(endpoint_name(client)),
    )
    try:
        answer = _redacted(await _ask(question, client), clean)
    except EndpointError as error:
        return replace(record, error_kind=error.kind, reason=clean.text(str(error)))
    record = replace(
        record,
        answer=answer.text,
        contexts=answer.contexts,
        source_ids=answer.source_ids,
        latency_seconds=answer.latency_seconds,
    )
    scores = keyless_scores(question, answer)
    try:
        judgement = await _judgement(question, answer, judge)
    except JudgeError as error:
        return replace(record, scores=scores, error_kind=error.kind, reason=clean.text(str(error)))
    scores = {**_judged_scores(question, judgement), **scores}
    thresholds = Thresholds(both=settings.threshold, minimums=settings.minimums, judged=judge is not None)
    decision = decide(question, scores, thresholds)
    return replace(
        record,
        verdict=decision.verdict,
        scores=scores,
        thresholds=decision.thresholds,
        dropped=decision.dropped,
        reason=clean.text(_reason(decision, question, answer, judgement, scores)),
        error_kind="unscored" if decision.verdict is Verdict.ERROR else "",
        unsupported_claims=tuple(clean.text(claim) for claim in judgement.unsupported_claims),
    )


def keyless_scores(question: Question, answer: RagAnswer) -> dict[str, Score]:
    """The scores that need no judge, for the metrics that apply to the question."""
    values: dict[str, float | None] = {}
    if question.answerable and question.acceptable_answers:
        values["exact_match"] = exact_match(answer.text, question.acceptable_answers)
        values["f1"] = token_f1(answer.text, question.acceptable_answers)
    values["must_mention"] = must_mention_score(answer.text, question)
    values["must_not_mention"] = must_not_mention_score(answer.text, question)
    return {metric: Score(value) for metric, value in values.items() if value is not None}


def judge_identity(judge: Judge | None) -> JudgeIdentity | None:
    """Who the judge is; a judge that does not say is known by the name of its class."""
    if judge is None:
        return None
    identity = getattr(judge, "identity", None)
    return identity if isinstance(identity, JudgeIdentity) else JudgeIdentity(kind=type(judge).__qualname__)


def endpoint_name(client: Asks) -> str:
    """How the system under test is called in results; one that does not say is known by the name of its class."""
    return str(getattr(client, "endpoint", None) or type(client).__qualname__)


async def _ask(question: Question, client: Asks) -> RagAnswer:
    answer = await _settled(client.ask, question)
    if not isinstance(answer, RagAnswer):
        name = endpoint_name(client)
        raise EndpointReplyError(f"{name}: ask() returned {type(answer).__name__}, not a RagAnswer.", url=name)
    return answer


async def _judgement(question: Question, answer: RagAnswer, judge: Judge | None) -> Judgement:
    empty = not answer.text.strip()
    if judge is None:
        return Judgement(abstained=empty or is_refusal(answer.text))
    if empty:
        # An empty answer says nothing that a judge could weigh: it is an abstention.
        return Judgement(answer_correctness=0.0, groundedness=0.0, abstained=True)
    judgement = await _settled(judge.judge, question, answer)
    if not isinstance(judgement, Judgement):
        raise JudgeReplyError(f"{type(judge).__qualname__}: judge() returned {judgement!r:.200}, not a Judgement.")
    for metric in JUDGED:
        value = getattr(judgement, metric)
        if value is not None and not 0 <= value <= 1:
            raise JudgeReplyError(f"{type(judge).__qualname__}: {metric} is {value}, outside 0 to 1.")
    if judgement.abstained is None:
        judgement = replace(judgement, abstained=is_refusal(answer.text))
    if not answer.contexts and judgement.groundedness is not None:
        judgement = replace(judgement, groundedness=0.0)
    return judgement


def _judged_scores(question: Question, judgement: Judgement) -> dict[str, Score]:
    values: dict[str, float | None] = {
        "answer_correctness": judgement.answer_correctness if question.answerable else None,
        "groundedness": judgement.groundedness,
        ABSTAINED: None if judgement.abstained is None else float(judgement.abstained),
    }
    return {metric: Score(float(value)) for metric, value in values.items() if value is not None}


def _reason(
    decision: Decision, question: Question, answer: RagAnswer, judgement: Judgement, scores: dict[str, Score]
) -> str:
    if decision.verdict is Verdict.ERROR:
        return decision.error
    reasons: list[str] = []
    short = shortfalls(scores, decision.thresholds)
    if ABSTAINED in short:
        reasons.append(ANSWERED)
    if short.keys() & set(JUDGED):
        reasons.append(_judged_reason(answer, judgement, short))
    if missing := missing_mentions(answer.text, question):
        reasons.append(f"the answer does not mention {', '.join(map(repr, missing))}")
    if forbidden := forbidden_mentions(answer.text, question):
        reasons.append(f"the answer mentions {', '.join(map(repr, forbidden))}")
    if short.keys() & {"exact_match", "f1"} and question.expected_answer is not None:
        reasons.append(f"expected {question.expected_answer!r}")
    return "; ".join(reasons)


def _judged_reason(answer: RagAnswer, judgement: Judgement, short: dict[str, float]) -> str:
    if judgement.abstained and "answer_correctness" in short:
        return DECLINED + (" (the answer is empty)" if not answer.text.strip() else "")
    if not answer.contexts and "groundedness" in short:
        return "; ".join(filter(None, (NO_CONTEXTS, judgement.error_message if len(short) > 1 else "")))
    return judgement.error_message.strip() or "the judge named no weakness"


async def _settled(function: Any, *arguments: Any) -> Any:
    """The function's result, awaited; a plain function of a user's runs in a thread, so that it blocks nobody."""
    if not inspect.iscoroutinefunction(function):
        import anyio.to_thread  # noqa: PLC0415 - only for plain functions

        result = await anyio.to_thread.run_sync(function, *arguments, abandon_on_cancel=True)
        return await result if inspect.isawaitable(result) else result
    return await function(*arguments)


def _redacted(answer: RagAnswer, clean: Redactor) -> RagAnswer:
    return replace(answer, text=clean.text(answer.text), contexts=tuple(map(clean.text, answer.contexts)))
