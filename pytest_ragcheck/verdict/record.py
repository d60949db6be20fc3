"""Defines the `Record` of one evaluated question, which crosses processes and goes into the result files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import lru_cache
from sys import intern
from typing import Any

from pytest_ragcheck.errors import RagcheckError
from pytest_ragcheck.frozen import changed_fields, frozen, replace
from pytest_ragcheck.judging.judgement import JudgeIdentity, Judgement
from pytest_ragcheck.metrics.cost import Cost
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.questions.question_rows import question_from_wire, question_to_wire
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.redaction import Redactor, is_redacted
from pytest_ragcheck.scores import PROHIBITIONS, Score
from pytest_ragcheck.verdict.failure_text import Shown, failure_text
from pytest_ragcheck.verdict.verdict import Verdict

_OFTEN_ALIKE = ("judge", "scores", "judgement", "dropped", "cost")
"""Fields that most records share with their predecessor."""

_OFTEN_ALIKE_NUMBERS = ("thresholds", "maximums", "repeated", "unstable", "evidence")
"""Those with numbers that may be integers: 1 and 1.0 are equal but differ in JSON."""

_TUPLES = ("contexts", "source_ids", "server_source_ids", "unsupported_claims", "overall_lacks", "asked_again")


@frozen
class Record(Shown):
    """One evaluated question. The fixtures `rag_result` and `rag_check` return it."""

    question: Question
    verdict: Verdict

    answer: str | None = None
    """The system's answer; None on an ERROR of the endpoint, and in the tier `retrieval`, which requests none."""

    contexts: tuple[str, ...] = ()
    """The passages that the system used, best first."""

    source_ids: tuple[str, ...] | None = None
    """The system's document ids of `contexts`; None if the system gives none."""

    server_source_ids: tuple[str, ...] | None = None
    """The server's ids of documents that the run uploaded, when `source_ids` holds the ids of the question file."""

    latency_seconds: float | None = None
    """Seconds until the answer, >= 0; None if there was no answer or no timing."""

    first_token_seconds: float | None = None
    """Seconds until the first piece of a streamed answer, >= 0; None if it was not streamed."""

    asked_at: str = ""
    """When the system was asked, ISO 8601 in UTC; in a replay, when it was recorded. Empty without an answer."""

    scores: Mapping[str, Score] = field(default_factory=dict)
    """The scores by metric; a metric that does not apply is absent."""

    overall_lacks: tuple[str, ...] = ()
    """The weighted metrics without a result, which `overall_score` leaves out."""

    thresholds: Mapping[str, float] = field(default_factory=dict)
    """The minimum of every metric that was asserted, 0..1."""

    maximums: Mapping[str, float] = field(default_factory=dict)
    """The maximum of every measurement that was asserted, > 0."""

    dropped: Mapping[str, str] = field(default_factory=dict)
    """By metric, the reason why a wanted assertion was dropped."""

    reason: str = ""
    """The main weakness on FAIL, the failure on ERROR; empty on PASS."""

    blame: str = ""
    """`retrieval`, `generation` or `grounding` on FAIL of a question with gold passages; else empty."""

    error_kind: str = ""
    """The kind of an ERROR, such as `endpoint_timeout`; else empty."""

    unsupported_claims: tuple[str, ...] = ()
    """Verbatim parts of the answer that, by the judge, the contexts do not support."""

    judgement: Judgement | None = None
    """The judge's judgement, of unanswerable questions too; None without a judge or a reply."""

    material: str = ""
    """Digest of the material that the judge got; empty without a judgement."""

    asked_again: tuple[str, ...] = ()
    """The verdicts of further evaluations, which a gate requests to distinguish a FAIL from noise."""

    evidence: Mapping[str, Any] = field(default_factory=dict)
    """The gate's evidence about the question as JSON values; empty if the gate did not examine the question."""

    top_k: int | None = None
    """The number of contexts requested, >= 1; None if no request was made."""

    verdict_cached: bool = False
    """True if the judgement came from the verdict cache."""

    repeated: Mapping[str, tuple[tuple[float, ...], ...]] = field(default_factory=dict)
    """By metric, the judgements of each answer, if the system or the judge was asked several times."""

    unstable: Mapping[str, float] = field(default_factory=dict)
    """By metric, the largest difference between its `repeated` values, if it exceeds the run's limit."""

    judge: JudgeIdentity | None = None
    """The judge; None without a judge."""

    cost: Cost = field(default_factory=Cost)
    """Known tokens and money."""

    endpoint: str = ""
    """The system under test without secrets: a URL or the name of a function."""

    def __repr__(self) -> str:
        # pytest shows the repr next to the failure text, which has the details.
        return f"<Record {self.question.dataset_name}::{self.question.id} {self.verdict.value}>"

    @property
    def leaks(self) -> bool:
        """True for a FAIL that breaks a prohibition."""
        return self.verdict is Verdict.FAIL and not self.shortfalls.keys().isdisjoint(PROHIBITIONS)

    @property
    def bounded(self) -> dict[str, float | None]:
        """The measurements that have a maximum, with their values; None if one could not be measured."""
        return {each: self.cost.usd if each == "cost_usd" else getattr(self, each) for each in self.maximums}

    @property
    def exceeded(self) -> dict[str, float]:
        """The measurements above their maximum, with their values."""
        values = self.bounded.items()
        return {metric: value for metric, value in values if value is not None and value > self.maximums[metric]}

    def __bool__(self) -> bool:
        """True if the verdict is PASS, as `assert rag_check(...)` expects."""
        return self.verdict is Verdict.PASS

    def assert_passed(self) -> None:
        """
        Return if the verdict is PASS.

        Raises:
            QuestionFailed: The verdict is FAIL; the text has the numbers, the reason, question, answer, contexts.
            QuestionErrored: The verdict is ERROR; the text says what happened and what to do.
        """
        __tracebackhide__ = True
        if self.verdict is Verdict.FAIL:
            raise QuestionFailed(self.text(), record=self)
        self.assert_measured()

    def assert_measured(self) -> None:
        """Return unless the verdict is ERROR, which raises `QuestionErrored`."""
        __tracebackhide__ = True
        if self.verdict is Verdict.ERROR:
            raise QuestionErrored(self.text(), record=self)

    def text(self) -> str:
        """The failure text, as the terminal and the reports show it."""
        return failure_text(self)

    def to_json(self) -> str:
        """The record as one ASCII JSON string, the form that crosses every process boundary."""
        return json.dumps(self.to_document(), default=_plain)

    def to_document(self) -> dict[str, Any]:
        """
        The values that `to_json` encodes, without fields that have their default.

        A user's metadata may hold values that JSON has no type for.
        """
        document = changed_fields(self) | {
            "question": question_to_wire(self.question),
            "verdict": self.verdict.value,
            "scores": {metric: [score.value, score.reason] for metric, score in self.scores.items()},
            "cost": changed_fields(self.cost),
        }
        if self.judge:
            document["judge"] = members(self.judge)
        if self.judgement:
            document["judgement"] = members(self.judgement)
        return document

    @classmethod
    def from_json(cls, text: str) -> Record:
        return record_of(json.loads(text))


class QuestionFailed(RagcheckError, AssertionError):
    """A question whose verdict is FAIL. The first line of the text holds the number and the reason."""

    def __init__(self, text: str, *, record: Record) -> None:
        super().__init__(text)
        self.record = record


class QuestionErrored(RagcheckError):
    """A question whose verdict is ERROR. The first line of the text says what happened and where."""

    def __init__(self, text: str, *, record: Record) -> None:
        super().__init__(text)
        self.record = record


def record_of(document: dict[str, Any]) -> Record:
    """The record of the parsed JSON."""
    given = {name: value for name, value in document.items() if value is not None}
    return Record(**{name: _READERS[name](value) if name in _READERS else value for name, value in given.items()})


def members(value: Any) -> dict[str, Any]:
    """The fields like `asdict`, without copying their values, since each record is converted several times."""
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


def sharing(record: Record, other: Record) -> Record:
    """The record with the other's objects for equal fields, which saves memory in long runs."""
    shared = {}
    for name in (*_OFTEN_ALIKE, *_OFTEN_ALIKE_NUMBERS):
        own, theirs = getattr(record, name), getattr(other, name)
        if own is not theirs and own == theirs and (name in _OFTEN_ALIKE or repr(own) == repr(theirs)):
            shared[name] = theirs
    return replace(record, **shared) if shared else record


def without_shown_turns(record: Record, records: Mapping[tuple[str, str], Record]) -> Record:
    """The record without its earlier turns if the *records* have them with the same answers."""
    asked = record.question
    for turn, given in zip(asked.earlier, asked.history, strict=False):
        row = records.get((asked.dataset_name, turn.id))
        if row is None or row.answer != given.answer or row.contexts != given.contexts:
            return record
    return replace(record, question=replace(asked, history=())) if asked.earlier and asked.history else record


_score = lru_cache(1_000, typed=True)(Score)
_READERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_TUPLES, tuple),
    "question": question_from_wire,
    "verdict": Verdict,
    # All records of a run share these names, and many of them these scores.
    "scores": lambda scores: {intern(metric): _score(*score) for metric, score in scores.items()},
    "thresholds": lambda minimums: {intern(metric): minimum for metric, minimum in minimums.items()},
    "endpoint": intern,
    "judge": lambda judge: JudgeIdentity(**{name: value and intern(value) for name, value in judge.items()}),
    "repeated": lambda repeated: {metric: tuple(map(tuple, values)) for metric, values in repeated.items()},
    "cost": lambda cost: Cost(**cost),
    "judgement": Judgement.from_wire,
}
"""The reader of each field that is another value in JSON."""


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)


def lacks_secrets(record: Record) -> bool:
    """True if a text of the reply is redacted, so that the reply cannot be measured again."""
    return is_redacted(record.answer, *record.contexts, *(record.source_ids or ()))


def answer_without_secrets(answer: RagAnswer, clean: Callable[[str], str]) -> RagAnswer:
    return replace(
        answer,
        text=clean(answer.text),
        contexts=tuple(map(clean, answer.contexts)),
        source_ids=answer.source_ids and tuple(map(clean, answer.source_ids)),
        server_source_ids=answer.server_source_ids and tuple(map(clean, answer.server_source_ids)),
    )


def expected_without_secrets(question: Question, clean: Callable[[str], str]) -> Question:
    """The question with its expected answers redacted, as a judge on another machine gets them."""
    expected = tuple(map(clean, question.acceptable_answers))
    first = None if question.expected_answer is None else expected[0]
    return replace(question, expected_answer=first, all_acceptable_answers=expected)


def judgement_without_secrets(judgement: Judgement, clean: Redactor) -> Judgement:
    return replace(
        judgement,
        error_message=clean.text(judgement.error_message),
        unsupported_claims=tuple(map(clean.text, judgement.unsupported_claims)),
        served_by=clean.text(judgement.served_by),
    )


def identity_without_secrets(identity: JudgeIdentity | None, clean: Redactor) -> JudgeIdentity | None:
    if identity is None:
        return None
    # An own class may have further fields.
    parts = {name: getattr(identity, name) for name in JudgeIdentity.__dataclass_fields__}
    return JudgeIdentity(**{name: value and clean.text(str(value)) for name, value in parts.items()})
