"""Reads the answers of saved runs from a baseline, and defines the digests that identify them in a later run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple, field, replace
from pathlib import Path
from statistics import median
from typing import Any

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.judgement import JudgeIdentity, Judgement, digest_of
from pytest_ragcheck.questions.question import RETRIEVAL_ALONE, EarlierTurn, Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.redaction import is_redacted
from pytest_ragcheck.scores import ABSTAINED, CITATION_SUPPORT, DEMANDED, JUDGED, RETRIEVAL
from pytest_ragcheck.summary.gate.procedure.compared_question import passes
from pytest_ragcheck.summary.predictions_reader import Fields, InGit, Unusable, judge_of, judgement_of, shown
from pytest_ragcheck.verdict.verdict import Verdict

_DIGITS = 16
"""Hex digits of a digest in a baseline; 64 bits keep a million texts apart."""

EXPECTED, GOLD, MENTIONS, ASKED = "expected", "gold", "mentions", "asked"
"""The parts of a question that define a right answer; the last one is what was asked, beside the question's text."""

PARTS = {
    **dict.fromkeys(RETRIEVAL, GOLD),
    **dict.fromkeys(DEMANDED, MENTIONS),
    **dict.fromkeys((JUDGED[1], ABSTAINED, *CITATION_SUPPORT), ASKED),
}
"""The part that a metric depends on; other metrics depend on the expected answers."""


@frozen
class SavedAnswer:
    passed: bool
    """Under the thresholds of that run."""

    scores: Mapping[str, float] = field(default_factory=dict)

    text: str | None = None
    """The answer; None if the file keeps no answers."""

    context_digests: tuple[str, ...] = ()
    contexts: tuple[str, ...] | None = None
    """The texts of the contexts; None if the contexts file lacks one."""

    source_ids: tuple[str, ...] | None = None
    """The system's document ids of the contexts; None if it gives none."""

    server_source_ids: tuple[str, ...] | None = None
    labels: Mapping[str, str] | None = None
    """The `label_digests` of the question; None if the file does not have them."""

    judge: JudgeIdentity | None = None
    judgement: Judgement | None = None
    material: str = ""
    """Digest of the judge's input; empty without a judgement."""

    latency_seconds: float | None = None

    history: tuple[EarlierTurn, ...] = ()
    """The earlier turns, if the rows of these turns do not show the same."""

    def digest(self, question: Question) -> str | None:
        if self.text is None or self.is_redacted:
            return None
        return answer_digest(self.text, self.context_digests, self.source_ids, question)

    @property
    def is_redacted(self) -> bool:
        """True if a text lacks a secret, so that answers with other secrets look the same."""
        return is_redacted(self.text, *(self.contexts or ()), *(self.source_ids or ()))

    def has_labels_of(self, question: Question, *parts: str) -> bool:
        """True if the question had the same labels, or these *parts* of them, as far as the file names them."""
        now, then = label_digests(question), self.labels
        return then is None or all(then.get(part) == now.get(part) for part in parts or {*then, *now})

    @property
    def answer(self) -> RagAnswer | None:
        """For rescoring; None if a text is missing or redacted."""
        return None if self.is_redacted else self.reply

    @property
    def reply(self) -> RagAnswer | None:
        """As the file has it; None if a text is missing."""
        if self.text is None or self.contexts is None:
            return None
        ours, theirs = self.source_ids, self.server_source_ids
        return RagAnswer(text=self.text, contexts=self.contexts, source_ids=ours, server_source_ids=theirs)


def context_digest(text: str) -> str:
    return digest_of(text)[:_DIGITS]


def answer_digest(
    text: str, context_digests: Sequence[str], source_ids: Sequence[str] | None, question: Question
) -> str:
    """
    Return 16 hex digits over an answer, its contexts and the earlier turns.

    If the question forbids documents, the digits are over the ids of the contexts too.
    """
    answer = [text, list(context_digests), source_ids if question.must_not_retrieve else None]
    # The judge reads the earlier turns, and their contexts may be what supports the answer.
    return digest_of([*answer, *map(astuple, question.history)])[:_DIGITS]


def label_digests(question: Question) -> dict[str, str]:
    """A digest of each part of the question that defines a right answer."""
    gold = [[passage.text, passage.doc_id] for passage in question.gold_passages]
    asked: list[Any] = [[turn.question for turn in question.earlier]] if question.earlier else []
    asked += [question.identity] if question.identity else []
    hidden = [{"must_not_retrieve": list(question.must_not_retrieve)}] if question.must_not_retrieve else []
    cited = [list(question.must_cite)] if question.must_cite else []
    parts = {
        EXPECTED: [question.answerable, list(question.acceptable_answers)],
        GOLD: gold,
        MENTIONS: [list(question.must_mention), list(question.must_not_mention), *cited, *hidden],
        **({ASKED: asked} if asked else {}),
    }
    return {name: digest_of(part)[:_DIGITS] for name, part in parts.items()}


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
    # In the tier `retrieval` the contexts are the whole reply, and its text is empty.
    alone = row.row.get("tier") == RETRIEVAL_ALONE and (answer.context_digests or answer.contexts is not None)
    return replace(answer, text="") if alone else answer


def _of_predictions(fields: Fields) -> SavedAnswer:
    if not isinstance(fields.row.get("contexts"), list):
        # A compact baseline of an earlier version has no answers.
        return replace(_common(fields), text=None)
    texts = fields.texts("contexts")
    return replace(_common(fields), contexts=texts, context_digests=tuple(map(context_digest, texts)))


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
