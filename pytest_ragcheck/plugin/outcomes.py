"""What became of the questions of a run, from what its process knows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.questions.question import QuestionSet
from pytest_ragcheck.record import Record
from pytest_ragcheck.report.terminal import run_thresholds
from pytest_ragcheck.summary.outcomes import Outcomes
from pytest_ragcheck.summary.terms import Terms
from pytest_ragcheck.verdict import Verdict

if TYPE_CHECKING:
    from pytest_ragcheck.plugin.run import Run
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.settings import Settings


def outcomes_of(run: Run, settings: Settings) -> Outcomes:
    """All questions with what became of them, in collection order."""
    records = {**_lost(run), **run.records}
    sets = list(_sets_with_calls(run).values())
    order = {(q.dataset_name, q.id): i for i, q in enumerate(q for s in sets for q in s.questions)}
    skipped: dict[str, int] = {}
    for node in run.skipped & run.selected.keys():
        question = run.selected[node]
        if (question.dataset_name, question.id) not in records:
            skipped[question.dataset_name] = skipped.get(question.dataset_name, 0) + 1
    outcomes = Outcomes(
        agent_name=settings.agent,
        session_name=settings.session_name,
        timestamp=datetime.now(timezone.utc),
        sets=tuple(sets),
        records=tuple(record for _, record in sorted(records.items(), key=lambda row: order[row[0]])),
        skipped=skipped,
        complete=False,
        thresholds=run_thresholds(settings),
        groups=settings.metrics,
        cut_short=run.cut_short,
        expected_to_fail=frozenset(key for node_id in run.xfailed for key in run.keys_of(node_id)),
        out_of_reach=run.out_of_reach,
        terms=Terms.of(settings),
        documents=run.documents,
        shard=settings.shard,
        replay_of=run.shown(settings.replay).as_posix() if settings.replay else "",
        on_demand=Counter(why for key in records if (why := run.on_demand.get(key, ""))),
    )
    part = settings.shard is not None and settings.shard[1] > 1
    return replace(outcomes, complete=outcomes.not_run == 0 and not run.cut_short and not part)


def _lost(run: Run) -> dict[tuple[str, str], Record]:
    """An ERROR for every question whose item failed without a record: a fixture broke, or its worker died."""
    lost = {}
    for node, text in run.failed.items():
        if node in run.selected:
            question = run.selected[node]
            lost[question.dataset_name, question.id] = Record(
                question=question, verdict=Verdict.ERROR, error_kind="not_evaluated", reason=text
            )
    return lost


def _sets_with_calls(run: Run) -> dict[str, QuestionSet]:
    """All sets, those of `rag_check` calls by the file and in the order of the tests that call."""
    known = {(s.dataset_name, question.id) for s in run.sets.values() for question in s.questions}
    by_dataset: dict[str, list[Question]] = {}
    for key, record in run.records.items():
        if key not in known:
            by_dataset.setdefault(record.question.dataset_name, []).append(record.question)
    sets = dict(run.sets)
    for name, called in sorted(by_dataset.items()):
        called.sort(key=lambda question: (question.line or 0, question.id))
        # A question file beside the test may have the same name.
        empty = QuestionSet(dataset_name=name, path=called[0].path or Path(name), questions=())
        known_set = sets.get(name, empty)
        sets[name] = replace(known_set, questions=(*known_set.questions, *called))
    return sets
