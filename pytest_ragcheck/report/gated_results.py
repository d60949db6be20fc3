"""Applies a gate to results that are read from files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.judgement import JudgeIdentity
from pytest_ragcheck.metrics.cost import Cost
from pytest_ragcheck.questions.question import END_TO_END, GoldPassage, Question, QuestionSet
from pytest_ragcheck.report.files.results_reader import Results
from pytest_ragcheck.report.terminal.findings_lines import changes_of
from pytest_ragcheck.report.terminal.gate_lines import decision_headline, decision_lines, flaky_lines
from pytest_ragcheck.scores import Score
from pytest_ragcheck.summary.gate.baseline_comparison import ACCEPT, Flaky, compare, examined_against, flaky_in_run
from pytest_ragcheck.summary.gate.baseline_reader import Baseline
from pytest_ragcheck.summary.gate.gate_decision import Decision, decide, tolerated
from pytest_ragcheck.summary.predictions_reader import Key, key_of
from pytest_ragcheck.summary.run_outcomes import EXPECTED, PASSED, GateRules, Outcomes, Reach
from pytest_ragcheck.verdict.record import Record
from pytest_ragcheck.verdict.verdict import Verdict

Document = Mapping[str, Any]


def outcomes_of(predictions: Document, summary: Document, asked: Mapping[Key, Document]) -> Outcomes:
    """
    Return verdicts, scores, texts, costs and identities, without documents.

    *asked* has the rows of the questions files. A question without one has no gold, xfail or quarantine.
    """
    measured = [(row, Verdict(row["verdict"])) for row in predictions["predictions"]]
    rows = [*measured, *((row, Verdict.ERROR) for row in predictions["errors"])]
    dropped = dict.fromkeys(summary["dropped"], "")
    records = tuple(_record(row, verdict, asked.get(key_of(row), {}), dropped) for row, verdict in rows)
    sets: dict[str, list[Question]] = {}
    for (dataset_name, name), row in asked.items():
        sets.setdefault(dataset_name, []).append(_question(dataset_name, name, row, {}))
    return Outcomes(
        agent_name=predictions["agent_name"],
        session_name=predictions["dataset_name"],
        timestamp=datetime.now(timezone.utc),
        sets=tuple(
            QuestionSet(dataset_name=name, path=Path(name), questions=tuple(each)) for name, each in sets.items()
        ),
        records=records,
        skipped={},
        complete=predictions["complete"],
        thresholds=summary["thresholds"],
        excused={
            key_of(row): why
            for row in predictions["predictions"]
            if (why := row.get("tolerated", "")).startswith((EXPECTED, PASSED))
        },
        reach=Reach.from_row(predictions.get("reach", {})),
        rules=rules_of_summary(summary),
    )


def rules_of_summary(summary: Document) -> GateRules:
    """The rules of the gate in the summary; the defaults if the run had none."""
    gate = summary.get("gate", {})
    return GateRules(**{each.name: gate[each.name] for each in fields(GateRules) if each.name in gate})


def _record(row: Document, verdict: Verdict, asked: Document, dropped: Mapping[str, str]) -> Record:
    judge, cost = row.get("judge"), row.get("cost", {})
    repeated = row.get("repeated") or {}
    scores = {metric: Score(value) for metric, value in row.get("metrics", {}).items()}
    scores |= {metric: Score.unscored(reason) for metric, reason in row.get("unscored", {}).items()}
    return Record(
        question=_question(row["dataset_name"], row["question_id"], {**asked, "question": row["question"]}, row),
        verdict=verdict,
        scores=scores,
        thresholds=row.get("thresholds", {}),
        maximums=row.get("maximums", {}),
        dropped=dropped,
        reason=row.get("reason", row.get("message", "")),
        error_kind=row.get("kind", ""),
        asked_again=tuple(row.get("asked_again", ())),
        evidence=row.get("gate") or {},
        answer=row.get("prediction"),
        contexts=tuple(row.get("contexts") or ()),
        source_ids=None if row.get("source_ids") is None else tuple(row["source_ids"]),
        latency_seconds=row.get("latency_seconds"),
        first_token_seconds=row.get("first_token_seconds"),
        repeated={metric: tuple(map(tuple, values)) for metric, values in repeated.items()},
        judge=JudgeIdentity(**judge) if judge else None,
        cost=Cost(asked_judge=any(name.startswith("judge_") for name in cost), **cost),
        top_k=row.get("top_k"),
    )


def _question(dataset_name: str, name: str, asked: Document, row: Document) -> Question:
    return Question(
        dataset_name=dataset_name,
        id=name,
        question=asked["question"],
        answerable=asked.get("answerable", True),
        must_not_mention=tuple(asked.get("must_not_mention", ())),
        must_not_retrieve=tuple(asked.get("must_not_retrieve", ())),
        gold_passages=_passages(asked.get("gold_passages", ())),
        distractors=_passages(asked.get("distractors", ())),
        quarantine=asked.get("quarantine"),
        xfail=asked.get("xfail"),
        tier=row.get("tier") or END_TO_END,
    )


def _passages(rows: Iterable[Document]) -> tuple[GoldPassage, ...]:
    return tuple(GoldPassage(text=row.get("text", ""), doc_id=row.get("doc_id")) for row in rows)


@frozen
class GatedOutcomes:
    outcomes: Outcomes
    decision: Decision
    flaky: tuple[Flaky, ...]


def gate_outcomes(
    outcomes: Outcomes, baseline: Baseline | None, rules: GateRules, *, clean: Callable[[str], str], accept: str
) -> GatedOutcomes:
    """The outcomes under this gate; *clean* and *accept* are as for `compare` and `Comparison`."""
    comparison = None
    if baseline is not None:
        outcomes = examined_against(baseline, outcomes)
        comparison = compare(baseline, outcomes, rules, clean=clean, expects=outcomes.reach.expects)
        comparison = replace(comparison, accept=accept)
    return GatedOutcomes(
        outcomes=replace(outcomes, tolerated=tolerated(outcomes, rules, baseline, clean=clean)),
        decision=decide(outcomes, comparison, rules),
        flaky=flaky_in_run(outcomes.measured, baseline, clean=clean),
    )


def gated(results: Results, baseline: Baseline | None, rules: GateRules, *, clean: Callable[[str], str]) -> Results:
    """The results with this gate's decision in place of the run's own; *clean* removes secrets from a text."""
    outcomes = outcomes_of(results.predictions, results.summary, results.asked)
    gated = gate_outcomes(outcomes, baseline, rules, clean=clean, accept=ACCEPT)
    decision = gated.decision
    return replace(
        results,
        baseline=baseline,
        notes=(*decision_lines(decision), *flaky_lines(gated.flaky)),
        gate=decision_headline(decision),
        changes=changes_of(decision),
        xfailed=gated.outcomes.tolerated,
    )
