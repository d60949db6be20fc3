"""Turns `Outcomes` and `Summary` into the JSON of the result files, whose schemas are in `summary/schemas`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from datetime import timezone
from typing import Any

from pytest_ragcheck._version import __version__
from pytest_ragcheck.judging.judgement import JudgeIdentity
from pytest_ragcheck.questions.question_rows import tier_of
from pytest_ragcheck.report.terminal.gate_lines import decision_headline
from pytest_ragcheck.scores import JUDGED, measured_values
from pytest_ragcheck.summary.aggregate import Repeats, Summary, Totals
from pytest_ragcheck.summary.gate.gate_decision import Decision
from pytest_ragcheck.summary.gate.saved_answer import label_digests
from pytest_ragcheck.summary.predictions_reader import SCHEMA_VERSION
from pytest_ragcheck.summary.run_outcomes import Outcomes
from pytest_ragcheck.verdict.record import Record, members, without_shown_turns
from pytest_ragcheck.verdict.repeats import spread

JUDGEMENT = "judgement"
"""The key of the judgement, from which a run can be decided again."""


def predictions_document(
    outcomes: Outcomes,
    *,
    rows: Callable[[Iterable[Any]], Any] = list,
    encoded: Callable[[Record], Any] = lambda _: None,
) -> dict[str, Any]:
    """
    `{agent}_predictions.json`: a row for each PASS and FAIL, and a separate list of the ERRORs.

    *rows* makes an array of the generator of rows, or another iterator for a document that is written row by row.
    *encoded* returns the row of a record that was encoded before, or None.
    """
    by_key = {record.question.key: record for record in outcomes.records}
    return {
        **_head(outcomes),
        "complete": outcomes.complete,
        **_unless_empty(reach=outcomes.reach.to_row()),
        "predictions": rows(
            prediction_row(record, tolerated=outcomes.tolerated[key])
            if (key := record.question.key) in outcomes.tolerated
            else encoded(record) or prediction_row(record)
            for each in outcomes.measured
            for record in [without_shown_turns(each, by_key)]
        ),
        "errors": rows(_error(without_shown_turns(record, by_key)) for record in outcomes.errors),
    }


def summary_document(outcomes: Outcomes, summary: Summary) -> dict[str, Any]:
    documents = outcomes.documents
    origins = {questions.dataset_name: questions.origin and asdict(questions.origin) for questions in outcomes.sets}
    tiers = {questions.dataset_name: tier_of(questions.questions) for questions in outcomes.sets}
    return {
        **_head(outcomes),
        **_totals(summary.totals),
        "n_not_run": outcomes.not_run,
        **_unless_empty(stopped=outcomes.stopped, failed_otherwise=list(outcomes.failed_otherwise)),
        "on_demand": dict(sorted(outcomes.on_demand.items())),
        "complete": outcomes.complete,
        "judge": _judge(summary.judges),
        "judge_agreement": {
            score: {name: getattr(each, name) for name in ("n", "accuracy", "balanced_accuracy", "threshold")}
            for score, each in summary.agreements.items()
        },
        **_unless_empty(
            n_verdicts_from_cache=summary.verdicts_from_cache,
            repeats=summary.repeats and _repeats(summary.repeats),
            flaky=list(map(asdict, summary.flaky)),
            gate=summary.decision and _gate(summary.decision),
        ),
        "thresholds": dict(outcomes.thresholds),
        "dropped": {metric: dict(reasons) for metric, reasons in summary.dropped.items()},
        "endpoint": ", ".join(summary.endpoints),
        "tier": tier_of(tuple(question for questions in outcomes.sets for question in questions.questions)),
        **_unless_empty(documents=documents and {**asdict(documents), "left": list(map(asdict, documents.left))}),
        "plugin_version": __version__,
        "datasets": {
            name: {
                "num_examples": totals.num_examples,
                "tier": tiers[name],
                **_totals(totals),
                **_unless_empty(origin=origins[name]),
            }
            for name, totals in summary.datasets.items()
        },
    }


def _head(outcomes: Outcomes) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "agent_name": outcomes.agent_name,
        "dataset_name": outcomes.dataset_name,
        "timestamp": outcomes.timestamp.astimezone(timezone.utc).isoformat(),
        "num_examples": len(outcomes.measured),
        **_unless_empty(replay_of=outcomes.replay_of),
    }


def _unless_empty(**entries: Any) -> dict[str, Any]:
    # The entries that are neither empty nor 0.
    return {name: value for name, value in entries.items() if value}


def prediction_row(record: Record, *, tolerated: str = "") -> dict[str, Any]:
    """The row of a PASS or a FAIL; *tolerated* is why the FAIL does not turn the run red."""
    measured = _measured(record)
    return {
        **_asked(record),
        "prediction": measured.pop("prediction"),
        "metrics": measured.pop("metrics"),
        "metadata": measured.pop("metadata"),
        "verdict": record.verdict.value,
        "reason": record.reason,
        **_unless_empty(tolerated=tolerated),
        "blame": record.blame or None,
        "thresholds": dict(record.thresholds),
        **measured,
        **_unless_empty(asked_again=list(record.asked_again), gate=record.evidence),
        "labels": label_digests(record.question),
        "overall_score_lacks": list(record.overall_lacks),
        "prompt_version": record.judge.prompt_version if record.judge else None,
        **_provenance(record),
    }


def _error(record: Record) -> dict[str, Any]:
    return {
        **_asked(record),
        "kind": record.error_kind,
        "message": record.reason,
        **_provenance(record),
        # The answer is kept, so that it can be judged again if the judge had failed.
        **(_measured(record) if record.has_reply else {}),
    }


def _asked(record: Record) -> dict[str, Any]:
    question = record.question
    return {"question_id": question.id, "dataset_name": question.dataset_name, "question": question.question}


def _measured(record: Record) -> dict[str, Any]:
    return {
        "prediction": record.answer,
        "metrics": measured_values(record.scores),
        "metadata": {
            **record.question.metadata,
            **({"server_source_ids": list(ids)} if (ids := record.server_source_ids) is not None else {}),
        },
        "contexts": list(record.contexts),
        "source_ids": None if record.source_ids is None else list(record.source_ids),
        "unscored": {metric: score.reason for metric, score in record.scores.items() if score.value is None},
        "unsupported_claims": list(record.unsupported_claims),
        "latency_seconds": record.latency_seconds,
        **({} if record.first_token_seconds is None else {"first_token_seconds": record.first_token_seconds}),
        **_unless_empty(asked_at=record.asked_at, cost=record.cost.known()),
        JUDGEMENT: _judgement(record),
        **_repeated(record),
        **_unless_empty(earlier_turns=list(map(asdict, record.question.history))),
    }


def _provenance(record: Record) -> dict[str, Any]:
    return {
        "judge": _identity(record.judge) if record.judge else None,
        "endpoint": record.endpoint,
        **_unless_empty(identity=record.question.identity, maximums=dict(record.maximums)),
        "tier": record.question.tier,
        "top_k": record.top_k,
    }


def _judgement(record: Record) -> dict[str, Any] | None:
    judgement = record.judgement
    if judgement is None:
        return None
    return {
        **{name: getattr(judgement, name) for name in (*JUDGED, "error_message", "abstained")},
        "material": record.material,
        **_unless_empty(
            votes={score: list(votes) for score, votes in judgement.votes.items()}, served_by=judgement.served_by
        ),
    }


def _repeated(record: Record) -> dict[str, Any]:
    if not record.repeated:
        return {}
    return {
        "repeated": {metric: list(map(list, values)) for metric, values in record.repeated.items()},
        "spread": {metric: spread(values) for metric, values in record.repeated.items()},
        "unstable": list(record.unstable),
    }


def _totals(totals: Totals) -> dict[str, Any]:
    counts = totals.counts
    return {
        "overall_metrics": {metric: statistics.mean for metric, statistics in totals.metrics.items()},
        "metric_statistics": {metric: asdict(statistics) for metric, statistics in totals.metrics.items()},
        "counts": {"pass": counts.passed, "fail": counts.failed, "error": counts.errors, "skipped": counts.skipped},
        "blame": dict(totals.blame),
        **_unless_empty(injection={attack: asdict(n) for attack, n in totals.injection.items()}),
        "abstention": dict(totals.abstention),
        "performance": dict(totals.performance),
        **({} if totals.n_without_gold is None else {"n_without_gold": totals.n_without_gold}),
    }


def _repeats(repeats: Repeats) -> dict[str, Any]:
    return {
        "unstable": {metric: len(ids) for metric, ids in repeats.unstable.items()},
        "variance": {metric: asdict(variance) for metric, variance in repeats.variances.items()},
    }


def _gate(decision: Decision) -> dict[str, Any]:
    comparison = decision.comparison
    return {
        **asdict(decision.rules),
        "baseline": None if comparison is None else comparison.baseline.name,
        "red": decision.red,
        "reason": decision_headline(decision),
        **_unless_empty(confirmed=list(map("::".join, decision.confirmed))),
    }


def _judge(judges: Sequence[JudgeIdentity]) -> dict[str, Any]:
    if len(judges) == 1:
        return _identity(judges[0])
    return {"kind": "several" if judges else "unknown", "judges": list(map(_identity, judges))}


def _identity(judge: JudgeIdentity) -> dict[str, str | None]:
    return {name: value for name, value in members(judge).items() if name != "parameters" or value is not None}
