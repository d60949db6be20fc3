"""Reads a `Recording` from a predictions file or the store of a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import fmean, median
from sys import intern
from types import MappingProxyType
from typing import Any

from pytest_ragcheck.metrics.cost import NAMES, Cost
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.replay.recorded_run import Recording
from pytest_ragcheck.scores import Score
from pytest_ragcheck.summary.gate.saved_answer import label_digests
from pytest_ragcheck.summary.predictions_reader import (
    AS_WRITTEN,
    Fields,
    Key,
    Unusable,
    judge_of,
    judgement_of,
    naming,
    read_document,
    refuse_older,
    rows,
)
from pytest_ragcheck.verdict.record import Record, record_of
from pytest_ragcheck.verdict.verdict import Verdict

STORE = "store.sqlite"

_EMPTY: Mapping[str, Any] = MappingProxyType({})
"""The value of unread fields; one object for all rows saves a fifth of the time and a tenth of the memory."""

_UNREAD: dict[str, Any] = dict.fromkeys(("thresholds", "maximums", "dropped", "evidence", "unstable"), _EMPTY)

_REMEDY = "Replay the {agent}_predictions.json of a run."


def read_recording(path: Path, *, name: str) -> Recording:
    """
    The recording in a predictions file, or in the store of a run that did not end, which is named `store.sqlite`.

    *name* is the name of the file in messages. A `UsageError` names the problem and the remedy.
    """
    with naming(name):
        if path.name == STORE and path.is_file():
            records = _of_store(path)
            rows = {record.question.key: record for record in records}
            labels = {key: label_digests(record.question) for key, record in rows.items()}
            return Recording(name=name, rows=rows, labels=labels)
        return _of_predictions(path, name)


def _of_predictions(path: Path, name: str) -> Recording:
    refuse_older(path)
    document = read_document(
        path.read_bytes, wrong_kind=_REMEDY, wrong_version="Record again: run once without --rag-replay."
    )
    found: dict[Key, Record] = {}
    labels: dict[Key, Mapping[str, str]] = {}
    for part in ("predictions", "errors"):
        for fields in rows(document, part):
            record = _record(fields, errored=part == "errors", ended=document.get("timestamp", ""))
            key = record.question.key
            if found.setdefault(key, record) is not record:
                raise Unusable(f"{fields.place} is a second row of question {key[1]!r} of {key[0]!r}. {AS_WRITTEN}")
            if known := fields.object_or_null("labels"):
                labels[key] = {part: known.text(part) for part in known.row}
    whole, reach = document.get("complete") is not False, document.get("reach", {})
    agent = Fields(document, "the file").text_or_null("agent_name") or ""
    return Recording(name=name, rows=found, labels=labels, agent=agent, complete=whole, reach=reach)


def _of_store(path: Path) -> list[Record]:
    import sqlite3

    from pytest_ragcheck.engine.store.record_file import rows as stored

    try:
        return list(map(record_of, stored(path.parent)))
    except (sqlite3.Error, KeyError, TypeError, ValueError) as error:
        raise Unusable(f"it is not a readable store ({error}). {_REMEDY}") from None


def _record(fields: Fields, *, errored: bool, ended: str) -> Record:
    answered = not errored or "prediction" in fields.row
    judgement = fields.object_or_null("judgement")
    repeated = fields.row.get("repeated")
    question = Question(
        dataset_name=intern(fields.text("dataset_name")),
        id=fields.text("question_id"),
        question=fields.text("question"),
        identity=fields.text_or_null("identity") or "",
        tier=intern(fields.text_or_null("tier") or ""),
        history=fields.earlier_turns(),
        thresholds=_EMPTY,
        metadata=_EMPTY,
    )
    return Record(
        question=question,
        verdict=Verdict.ERROR if errored else fields.verdict(),
        answer=fields.text("prediction") if answered and question.is_answered else None,
        contexts=fields.texts("contexts") if answered else (),
        source_ids=fields.texts_or_null("source_ids"),
        server_source_ids=fields.server_ids(),
        top_k=fields.whole_or_null("top_k"),
        latency_seconds=fields.number_or_null("latency_seconds"),
        first_token_seconds=fields.number_or_null("first_token_seconds"),
        asked_at=fields.text_or_null("asked_at") or ended,
        scores=_scores(fields) if answered else {},
        reason=fields.text("message") if errored else fields.text_or_null("reason") or "",
        error_kind=fields.text("kind") if errored else "",
        judge=judge_of(fields),
        judgement=judgement_of(judgement, fields) if judgement else None,
        material=judgement.text("material") if judgement else "",
        repeated=repeated or _EMPTY,
        cost=_cost(fields),
        endpoint=intern(fields.text_or_null("endpoint") or ""),
        **_UNREAD,
    )


def _cost(fields: Fields) -> Cost:
    cost = fields.object_or_null("cost")
    if cost is None:
        return Cost()
    numbers: dict[str, Any] = {
        name: cost.whole_or_null(name) if name.endswith("_tokens") else cost.number_or_null(name) for name in NAMES
    }
    return Cost(asked_judge=any(name.startswith("judge_") for name in cost.row), **numbers)


def _unrounded(fields: Fields) -> dict[str, float]:
    # The metrics with the digits of their repeated values, so that a replay computes with the same numbers.
    found = dict(fields.numbers("metrics"))
    repeated = fields.row.get("repeated") or {}
    try:
        for metric in found.keys() & repeated.keys():
            combined = median(map(median, repeated[metric])), median(map(fmean, repeated[metric]))
            found[metric] = next((value for value in combined if round(value, 6) == found[metric]), found[metric])
    except (AttributeError, TypeError, ValueError):
        raise fields.mistake("repeated") from None
    return found


def _scores(fields: Fields) -> dict[str, Score]:
    scores = {metric: Score(value) for metric, value in _unrounded(fields).items()}
    if unscored := fields.object_or_null("unscored"):
        scores |= {metric: Score.unscored(unscored.text(metric)) for metric in unscored.row}
    return scores
