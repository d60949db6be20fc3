"""Reads a `Recording` from a predictions file or the store of a run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.judging.judgement import Judgement
from pytest_ragcheck.judging.model.usage import TokenUse
from pytest_ragcheck.metrics.cost import NAMES, Cost
from pytest_ragcheck.questions.question import RETRIEVAL_ALONE
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.replay.recorded_run import Recorded, Recording
from pytest_ragcheck.scores.score import Score
from pytest_ragcheck.summary.gate.recorded.saved_answer import MENTIONS, label_digests
from pytest_ragcheck.summary.predictions_reader import (
    AS_WRITTEN,
    Fields,
    Unusable,
    judge_of,
    read_document,
    refuse_older,
    rows,
)
from pytest_ragcheck.verdict.record import Record
from pytest_ragcheck.verdict.verdict import Verdict

STORE = "store.sqlite"
"""The file name of a run's store."""

_REMEDY = "Replay the {agent}_predictions.json of a run."


def read_recording(path: Path, *, name: str) -> Recording:
    """
    Return the recording in a predictions file, or in the store of a run that did not end.

    A store has the file name `store.sqlite`. *name* is the name of the file in messages.

    Raises:
        UsageError: The file is neither; the text names the problem and the remedy.
    """
    try:
        return Recording(
            name=name, rows=_of_store(path) if path.name == STORE and path.is_file() else _by_identity(path)
        )
    except Unusable as error:
        raise UsageError(f"{name}: {error}") from None


def _by_identity(path: Path) -> dict[tuple[str, str], Recorded]:
    refuse_older(path)
    document = read_document(
        path.read_bytes, wrong_kind=_REMEDY, wrong_version="Record again: run once without --rag-replay."
    )
    found: dict[tuple[str, str], Recorded] = {}
    for part in ("predictions", "errors"):
        for fields in rows(document, part):
            row = _recorded(fields, errored=part == "errors")
            if found.setdefault(row.key, row) is not row:
                raise Unusable(
                    f"{fields.place} is a second row of question {row.id!r} of {row.dataset_name!r}. {AS_WRITTEN}"
                )
    return found


def _of_store(path: Path) -> dict[tuple[str, str], Recorded]:
    import sqlite3

    from pytest_ragcheck.engine.store.store_file import rows as stored

    try:
        found = [_of_record(Record.from_json(json.dumps(document))) for document in stored(path.parent)]
    except (sqlite3.Error, KeyError, TypeError, ValueError) as error:
        raise Unusable(f"it is not a readable store ({error}). {_REMEDY}") from None
    return {row.key: row for row in found}


def _of_record(record: Record) -> Recorded:
    answer = replace(record.reply, server_source_ids=None, extra=_extra(record.cost)) if record.has_reply else None
    errored = record.verdict is Verdict.ERROR
    return Recorded(
        dataset_name=record.question.dataset_name,
        id=record.question.id,
        question=record.question.question,
        identity=record.question.identity,
        tier=record.question.tier,
        mentions=label_digests(record.question)[MENTIONS],
        answer=answer,
        judge=record.judge,
        judgement=record.judgement,
        material=record.material,
        scores=record.scores,
        use=_use(record.cost),
        error_kind=record.error_kind if errored else "",
        error=record.reason if errored else "",
        endpoint=record.endpoint,
    )


def _recorded(fields: Fields, *, errored: bool) -> Recorded:
    answered = not errored or "prediction" in fields.row
    judgement, labels = fields.object_or_null("judgement"), fields.object_or_null("labels")
    return Recorded(
        dataset_name=fields.text("dataset_name"),
        id=fields.text("question_id"),
        question=fields.text("question"),
        identity=fields.text_or_null("identity") or "",
        tier=fields.text_or_null("tier") or "",
        mentions=(labels.text_or_null(MENTIONS) or "") if labels else "",
        answer=_answer(fields) if answered else None,
        judge=judge_of(fields),
        judgement=_judgement(judgement, fields) if judgement else None,
        material=judgement.text("material") if judgement else "",
        scores=_scores(fields) if answered else {},
        use=_use(_cost(fields)),
        error_kind=fields.text("kind") if errored else "",
        error=fields.text("message") if errored else "",
        endpoint=fields.text_or_null("endpoint") or "",
    )


def _answer(fields: Fields) -> RagAnswer:
    return RagAnswer(
        text="" if fields.row.get("tier") == RETRIEVAL_ALONE else fields.text("prediction"),
        contexts=fields.texts("contexts"),
        source_ids=None if fields.row.get("source_ids") is None else fields.texts("source_ids"),
        latency_seconds=fields.number_or_null("latency_seconds"),
        first_token_seconds=fields.number_or_null("first_token_seconds"),
        extra=_extra(_cost(fields)),
    )


def _cost(fields: Fields) -> Cost:
    cost = fields.object_or_null("cost")
    if cost is None:
        return Cost()
    numbers: dict[str, Any] = {
        name: cost.whole_or_null(name) if name.endswith("_tokens") else cost.number_or_null(name) for name in NAMES
    }
    return Cost(asked_judge=any(name.startswith("judge_") for name in cost.row), **numbers)


def _extra(cost: Cost) -> dict[str, Any]:
    """Return the cost of the system as a reply reports it."""
    metrics = {
        "input_tokens": cost.system_input_tokens,
        "output_tokens": cost.system_output_tokens,
        "cost_usd": cost.system_usd,
    }
    known = {name: value for name, value in metrics.items() if value is not None}
    return {"metrics": known} if known else {}


def _use(cost: Cost) -> TokenUse | None:
    if not cost.asked_judge:
        return None
    return TokenUse(
        model="",
        url=None,
        input_tokens=cost.judge_input_tokens,
        output_tokens=cost.judge_output_tokens,
        recorded=True,
        recorded_usd=cost.judge_usd,
    )


def _judgement(judgement: Fields, fields: Fields) -> Judgement:
    votes = judgement.object_or_null("votes")
    # With several answers, the judgement belongs to one answer, and the metrics to all.
    several = any(len(asked) > 1 for asked in (fields.row.get("repeated") or {}).values())
    scores = Fields(fields.numbers("metrics"), fields.place) if several else judgement
    return Judgement(
        answer_correctness=scores.number_or_null("answer_correctness"),
        groundedness=scores.number_or_null("groundedness"),
        votes={score: votes.list_of_numbers(score) for score in votes.row} if votes and not several else {},
        error_message=judgement.text("error_message"),
        abstained=judgement.boolean_or_null("abstained"),
        unsupported_claims=fields.texts("unsupported_claims"),
    )


def _scores(fields: Fields) -> dict[str, Score]:
    scores = {metric: Score(value) for metric, value in fields.numbers("metrics").items()}
    if unscored := fields.object_or_null("unscored"):
        scores |= {metric: Score.unscored(unscored.text(metric)) for metric in unscored.row}
    return scores
