"""Reads the answers of saved runs in a row of a baseline, and the contexts file of the baseline."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from pytest_ragcheck.questions.question import RETRIEVAL_ALONE
from pytest_ragcheck.summary.gate.git_revision import InGit
from pytest_ragcheck.summary.gate.procedure.compared_question import passes
from pytest_ragcheck.summary.gate.recorded.saved_answer import SavedAnswer, text_digest
from pytest_ragcheck.summary.predictions_reader import Fields, Unusable, judge_of, judgement_of, shown
from pytest_ragcheck.verdict.verdict import Verdict

OF_THE_LATEST_ANSWER = ("verdict", "prediction", "metrics", "judge")
"""Keys that a row of a compact baseline has only if its latest answer was recorded with another value."""

_RESTORE = "Restore it from version control, or move it away to compare without the texts of contexts."


def contexts_path(path: Path) -> Path:
    return path.with_name(f"{path.stem}.contexts.json")


def read_contexts(path: Path | InGit) -> dict[str, str]:
    """
    The texts of the contexts by digest; empty if the file is missing.

    Raises:
        Unusable: The file is damaged.
    """
    file = replace(path, path=contexts_path(path.path)) if isinstance(path, InGit) else contexts_path(path)
    try:
        content = file.read_bytes()
    except (OSError, Unusable):
        return {}
    name = (file.path if isinstance(file, InGit) else file).name
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        raise Unusable(f"{name} beside it is not readable JSON. {_RESTORE}") from None
    texts = document.get("contexts") if isinstance(document, dict) else None
    if not isinstance(texts, dict):
        raise Unusable(f'{name} beside it has no object under "contexts". {_RESTORE}')
    wrong = next((digest for digest, text in texts.items() if not isinstance(text, str)), None)
    if wrong is not None:
        raise Unusable(f"{name} beside it has {shown(texts[wrong])} under {shown(wrong)}, expected a text. {_RESTORE}")
    return texts


def with_latest_answer(fields: Fields) -> Mapping[str, Any]:
    """The row with the verdict, scores and judge of the latest answer, unless the row names its own."""
    if "answers" not in fields.row:
        return fields.row
    row, answers = fields.row, fields.row["answers"]
    runs = row.get("runs", ())
    try:
        known = max(place for run in runs for place in run) < len(answers) and len(row.get("asked", runs)) == len(runs)
        latest = Fields(dict(answers[runs[-1][0]]), f"{fields.place}.answers")
    except (LookupError, TypeError, ValueError):
        raise fields.mistake("runs") from None
    if not known:
        raise fields.mistake("runs")
    judge = latest.object_or_null("judge")
    of_answer = {name: latest.row[name] for name in OF_THE_LATEST_ANSWER if name in latest.row}
    prompt = judge.row.get("prompt_version") if judge else None
    return {"prompt_version": prompt, "judgement": latest.row.get("judgement"), **of_answer, **fields.row}


def repeated_answers(
    repeated: Mapping[str, Sequence[Sequence[float]]], thresholds: Mapping[str, float]
) -> list[SavedAnswer]:
    """The asserted scores of each answer of one run, without texts; empty if the system was asked once."""
    asserted = {metric: values for metric, values in repeated.items() if metric in thresholds}
    n = max(map(len, asserted.values()), default=1)
    answers = [{m: median(values[i]) for m, values in asserted.items() if i < len(values)} for i in range(n)]
    return [SavedAnswer(scores=scores, passed=passes(scores, thresholds)) for scores in answers if n > 1]


def saved_runs(fields: Fields, contexts: Mapping[str, str]) -> tuple[tuple[SavedAnswer, ...], ...]:
    """
    The looks of each saved run at the question, oldest run first.

    *fields* is the row of a full predictions file, or of a compact baseline with or without answers. *contexts* has
    texts by digest.
    """
    if "answers" in fields.row:
        found = [
            _known_text(_compact_answer(Fields(each, f"{fields.place}.answers[{number}]"), contexts), fields)
            for number, each in enumerate(fields.row["answers"])
        ]
        return tuple(tuple(found[place] for place in run) for run in fields.row["runs"])
    replies = fields.row.get("gate", {}).get("replies", ())
    further = [SavedAnswer(passed=each["passed"], scores=each["scores"]) for each in replies if isinstance(each, dict)]
    repeated = repeated_answers(fields.row.get("repeated", {}), fields.numbers("thresholds"))
    if not further and len({each.passed for each in repeated}) > 1:
        further = repeated
    return ((_known_text(_of_predictions(fields), fields), *further),)


def _compact_answer(fields: Fields, contexts: Mapping[str, str]) -> SavedAnswer:
    digests = fields.texts_or_null("contexts") or ()
    known = "contexts" in fields.row and all(digest in contexts for digest in digests)
    return replace(
        _common(fields),
        context_digests=digests,
        contexts=tuple(contexts[digest] for digest in digests) if known else None,
    )


def _known_text(answer: SavedAnswer, row: Fields) -> SavedAnswer:
    # The answer; in the tier `retrieval` the contexts are the whole reply, and its text is empty.
    alone = row.row.get("tier") == RETRIEVAL_ALONE and (answer.context_digests or answer.contexts is not None)
    return replace(answer, text="") if alone else answer


def _of_predictions(fields: Fields) -> SavedAnswer:
    if not isinstance(fields.row.get("contexts"), list):
        # A compact baseline of an earlier version has no answers.
        return replace(_common(fields), text=None)
    texts = fields.texts("contexts")
    return replace(_common(fields), contexts=texts, context_digests=tuple(map(text_digest, texts)))


def _common(fields: Fields) -> SavedAnswer:
    judgement = fields.object_or_null("judgement")
    return SavedAnswer(
        passed=fields.verdict() is Verdict.PASS,
        scores=fields.numbers("metrics"),
        text=fields.text_or_null("prediction"),
        source_ids=fields.texts_or_null("source_ids"),
        server_source_ids=fields.server_ids(),
        labels=fields.row.get("labels"),
        judge=judge_of(fields),
        judgement=judgement_of(judgement, fields) if judgement else None,
        material=(judgement.text_or_null("material") or "") if judgement else "",
        latency_seconds=fields.number_or_null("latency_seconds"),
        history=fields.earlier_turns(),
    )
