"""Reads a baseline: the predictions file of an earlier run, or the compact form with several runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.summary.gate.saved_answer import (
    SavedAnswer,
    read_contexts,
    repeated_answers,
    saved_runs,
    with_latest_answer,
)
from pytest_ragcheck.summary.predictions_reader import (
    AS_WRITTEN,
    Fields,
    InGit,
    Key,
    Unusable,
    judge_of,
    naming,
    read_document,
    rows,
    shown,
)
from pytest_ragcheck.summary.result_schemas import is_compact, schema_mistakes
from pytest_ragcheck.verdict.verdict import Verdict

if TYPE_CHECKING:
    from pytest_ragcheck.judging.judgement import JudgeIdentity
    from pytest_ragcheck.questions.question import Question


GIVE = "Make a baseline with pytest -p no:ragcheck-gate, then ragcheck baseline save."
_ANEW = "Move the file away, and make a new baseline with ragcheck baseline save."


@frozen
class BaselineRow:
    """One question of a baseline or of a run in a trend, identified by `dataset_name` and `id`."""

    dataset_name: str
    id: str
    question: str

    verdict: Verdict
    answer: str | None = None
    """The answer of the latest run; None if there is none, or if the file keeps none."""

    reason: str = ""
    """The weakness on FAIL, kind and message of an ERROR; empty for a PASS, and in a compact baseline."""

    metrics: Mapping[str, float] = field(default_factory=dict)
    """Empty on ERROR."""

    thresholds: Mapping[str, float] = field(default_factory=dict)
    prompt_version: str | None = None
    judge: JudgeIdentity | None = None

    served_by: str = ""
    tier: str | None = None
    top_k: int | None = None

    passes: int = 0
    fails: int = 0
    """Over all saved runs, as `passes`."""

    error_kind: str = ""

    saved: tuple[tuple[SavedAnswer, ...], ...] = ()
    """The looks of each saved run that measured the question, oldest run first; empty on ERROR."""

    @property
    def key(self) -> Key:
        return self.dataset_name, self.id

    @property
    def answers(self) -> list[SavedAnswer]:
        return [look for run in self.saved for look in run]


@frozen
class Baseline:
    name: str
    rows: Mapping[Key, BaselineRow]
    """The questions by identity: first those with a PASS or a FAIL, then ERRORs, each in the order of the file."""

    timestamp: str = ""
    """The end of the latest run, ISO 8601; empty if the file does not name it."""

    runs: tuple[str, ...] = ()
    """The end of each saved run, oldest first."""

    n_without_contexts: int = 0
    """Number of questions with an answer whose contexts the contexts file lacks."""

    def row(self, question: Question, clean: Callable[[str], str]) -> BaselineRow | None:
        """The row of a question, whose text may differ; *clean* removes secrets, as from the baseline."""
        return self.rows.get((clean(question.dataset_name), clean(question.id)))

    @property
    def means(self) -> dict[str, float]:
        """The mean of each metric over the questions that have a value."""
        values: dict[str, list[float]] = {}
        for row in self.rows.values():
            for metric, value in row.metrics.items():
                values.setdefault(metric, []).append(value)
        return {metric: math.fsum(found) / len(found) for metric, found in values.items()}


def read_baseline(path: Path | InGit, *, name: str, advice: str = GIVE, wrong_version: str = _ANEW) -> Baseline:
    """
    The baseline in a file.

    *name* stands for it in messages. *advice* and *wrong_version* are the remedies for another kind and version.

    Raises:
        UsageError: The file is not a baseline or the predictions file of a full run.
    """
    with naming(name):
        document = _checked_document(path, advice, wrong_version)
        found = _by_identity(document, advice, read_contexts(path))
        timestamp = document.get("timestamp", "")
        return Baseline(
            name=name,
            rows=found,
            timestamp=timestamp,
            runs=tuple(document.get("runs", (timestamp,))),
            n_without_contexts=sum(
                any(saved.text is not None and saved.contexts is None for saved in row.answers)
                for row in found.values()
            ),
        )


def _checked_document(path: Path | InGit, advice: str, wrong_version: str) -> dict[str, Any]:
    document = read_document(path.read_bytes, wrong_kind=advice, wrong_version=wrong_version)
    complete = document.get("complete")
    if complete is not True:
        raise Unusable(
            f'"complete" is {shown(complete)}: it is of a partial run, which has only some of the questions. {advice}'
        )
    compact = is_compact(document)
    if compact and not any(schema_mistakes("baseline", document)):
        return document
    # A compact row of another version has the keys of a full one, and more.
    for kind in ("predictions", "baseline")[: 1 + compact]:
        for mistake in schema_mistakes(kind, document, of_any_version=True):
            raise Unusable(f"{mistake}. {AS_WRITTEN}")
    return document


def _by_identity(document: Mapping[str, Any], advice: str, contexts: Mapping[str, str]) -> dict[Key, BaselineRow]:
    read = [(fields, _prediction(fields, contexts)) for fields in rows(document, "predictions")]
    read += [(fields, error_row(fields)) for fields in rows(document, "errors")]
    found: dict[Key, BaselineRow] = {}
    for fields, row in read:
        if found.setdefault(row.key, row) is not row:
            raise Unusable(
                f"{fields.place} is a second row of question {row.id!r} of {row.dataset_name!r}. {AS_WRITTEN}"
            )
    if not found:
        raise Unusable(f"it holds no questions, so nothing can be compared with it. {advice}")
    return found


def _prediction(fields: Fields, contexts: Mapping[str, str]) -> BaselineRow:
    row = measured_row(fields)
    passes, fails = passes_and_fails(row.verdict, fields.row.get("repeated", {}), row.thresholds)
    if history := fields.object_or_null("history"):
        passes, fails = (history.whole_or_null(name) or 0 for name in ("passes", "fails"))
    return replace(row, passes=passes, fails=fails, saved=saved_runs(fields, contexts))


def measured_row(given: Fields) -> BaselineRow:
    """A row with a PASS or a FAIL, with the values of its latest run and without the saved runs."""
    fields = Fields(with_latest_answer(given), given.place)
    judgement = fields.object_or_null("judgement")
    judge = judge_of(fields)  # first, because a compact row has its judge's prompt_version
    return BaselineRow(
        **_head(fields),
        verdict=fields.verdict(),
        reason=fields.text_or_null("reason") or "",
        metrics=fields.numbers("metrics"),
        thresholds=fields.numbers("thresholds"),
        prompt_version=fields.text_or_null("prompt_version"),
        judge=judge,
        served_by=(judgement.text_or_null("served_by") or "") if judgement else "",
        tier=fields.text_or_null("tier"),
        top_k=fields.whole_or_null("top_k"),
    )


def error_row(fields: Fields) -> BaselineRow:
    kind = fields.text("kind")
    return BaselineRow(
        **_head(fields),
        verdict=Verdict.ERROR,
        reason=f"{kind}: {fields.text_or_null('message') or ''}",
        error_kind=kind,
    )


def _head(fields: Fields) -> dict[str, Any]:
    return {
        "dataset_name": fields.text("dataset_name"),
        "id": fields.text("question_id"),
        "question": fields.text("question"),
        "answer": fields.text_or_null("prediction"),
    }


def passes_and_fails(
    verdict: Verdict, repeated: Mapping[str, Sequence[Sequence[float]]], thresholds: Mapping[str, float]
) -> tuple[int, int]:
    """The number of passes and of failures of a question over all its answers in one run."""
    answers = repeated_answers(repeated, thresholds)
    if not answers:
        return int(verdict is Verdict.PASS), int(verdict is Verdict.FAIL)
    passed = sum(each.passed for each in answers)
    return passed, len(answers) - passed
