"""Everything that is known about one evaluated question; it crosses processes and goes into the result files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from sys import intern
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.errors import QuestionErrored, QuestionFailed
from pytest_ragcheck.judging.judgement import JudgeIdentity, Judgement
from pytest_ragcheck.metrics.cost import Cost
from pytest_ragcheck.metrics.score import Score
from pytest_ragcheck.questions.wire import question_from_wire, question_to_wire
from pytest_ragcheck.verdict import Verdict, shortfalls

if TYPE_CHECKING:
    from pytest_ragcheck.questions.question import Question

_OFTEN_ALIKE = ("judge", "thresholds", "dropped", "repeated", "unstable", "cost")
"""What a record has in common with the one before it, more often than not."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Record:
    """One question from its asking to its verdict. `rag_result` and `rag_check` give it to a test."""

    question: Question
    verdict: Verdict

    answer: str | None = None
    """What the system said; None where it gave no answer."""

    contexts: tuple[str, ...] = ()
    """The passages that the system used, best first."""

    source_ids: tuple[str, ...] | None = None
    """The system's document ids of `contexts`; None where it gives none."""

    server_source_ids: tuple[str, ...] | None = None
    """The same as the server calls them, where `source_ids` are ours: of documents that the run put into it."""

    latency_seconds: float | None = None
    """How long the system took, >= 0; None where it gave no answer or was not timed."""

    scores: Mapping[str, Score] = field(default_factory=dict)
    """By metric; a metric that does not apply is absent."""

    overall_lacks: tuple[str, ...] = ()
    """The metrics with a weight that `overall_score` is not over, for want of a result."""

    thresholds: Mapping[str, float] = field(default_factory=dict)
    """The minimum of every metric that was asserted, 0..1."""

    dropped: Mapping[str, str] = field(default_factory=dict)
    """Why a metric that was to be asserted was not, by metric."""

    reason: str = ""
    """On FAIL the main weakness, on ERROR what happened; empty on PASS."""

    blame: str = ""
    """On FAIL of a question with gold passages `retrieval`, `generation` or `grounding`; else empty."""

    error_kind: str = ""
    """On ERROR which kind, such as `endpoint_timeout`; else empty."""

    unsupported_claims: tuple[str, ...] = ()
    """Verbatim parts of the answer that the contexts do not support, as the judge names them."""

    judgement: Judgement | None = None
    """What the judge said, of an unanswerable question too; None where there is no judge, or it said nothing."""

    material: str = ""
    """Digest of what the judge was given; empty without a judgement."""

    asked_again: tuple[str, ...] = ()
    """The verdicts of asking once more, where a gate wanted to know whether a FAIL is more than noise."""

    top_k: int | None = None
    """How many contexts were asked for, >= 1; None where nobody was asked."""

    verdict_cached: bool = False
    """Whether the judge's verdict is that of an earlier run, from the verdict cache."""

    repeated: Mapping[str, tuple[tuple[float, ...], ...]] = field(default_factory=dict)
    """By metric, where the system or the judge was asked several times: the judgements of each answer."""

    unstable: Mapping[str, float] = field(default_factory=dict)
    """By metric the largest difference between those values, where it is above the run's limit."""

    judge: JudgeIdentity | None = None
    """Who judged; None without a judge."""

    cost: Cost = field(default_factory=Cost)
    """Tokens and money, as far as they are known."""

    endpoint: str = ""
    """The system under test as it may be shown: a URL without secrets, or the name of a function."""

    def __repr__(self) -> str:
        # pytest shows it beside the failure text, which says the rest.
        return f"<Record {self.question.dataset_name}::{self.question.id} {self.verdict.value}>"

    @property
    def shortfalls(self) -> dict[str, float]:
        """The asserted metrics that are below their threshold, with their value."""
        return shortfalls(self.scores, self.thresholds)

    def assert_passed(self) -> None:
        """
        Returns if the verdict is PASS.

        Raises:
            QuestionFailed: The verdict is FAIL; the text has the numbers, the reason, question, answer, contexts.
            QuestionErrored: The verdict is ERROR; the text says what happened and what to do.
        """
        __tracebackhide__ = True
        if self.verdict is Verdict.FAIL:
            raise QuestionFailed(self.text(), record=self)
        self.assert_measured()

    def assert_measured(self) -> None:
        """Returns unless the verdict is ERROR, which it raises as `QuestionErrored`."""
        __tracebackhide__ = True
        if self.verdict is Verdict.ERROR:
            raise QuestionErrored(self.text(), record=self)

    def text(self) -> str:
        """The failure text: what stands in the terminal and in reports."""
        from pytest_ragcheck.report.failure import failure_text  # noqa: PLC0415 - a text is needed only on failure

        return failure_text(self)

    def to_json(self) -> str:
        """The record as one ASCII JSON string, the only form that is sure to cross process boundaries."""
        return json.dumps(self.to_document(), default=_plain)

    def to_document(self) -> dict[str, Any]:
        """What `to_json` writes, as values of which JSON can be made; a user's metadata may hold others."""
        document = members(self)
        document["question"] = question_to_wire(self.question)
        document["verdict"] = self.verdict.value
        document["scores"] = {metric: [score.value, score.reason] for metric, score in self.scores.items()}
        document["judge"] = members(self.judge) if self.judge else None
        document["cost"] = members(self.cost)
        document["judgement"] = members(self.judgement) if self.judgement else None
        return document

    @classmethod
    def from_json(cls, text: str) -> Record:
        """The record that `to_json` wrote."""
        document = json.loads(text)
        document["question"] = question_from_wire(document["question"])
        document["verdict"] = Verdict(document["verdict"])
        # Of a long run each record has the same ones.
        document["scores"] = {intern(metric): Score(*score) for metric, score in document["scores"].items()}
        document["thresholds"] = {intern(metric): minimum for metric, minimum in document["thresholds"].items()}
        document["endpoint"] = intern(document["endpoint"])
        judge = document["judge"]
        document["judge"] = judge and JudgeIdentity(**{k: v and intern(v) for k, v in judge.items()})
        document["repeated"] = {metric: tuple(map(tuple, values)) for metric, values in document["repeated"].items()}
        document["cost"] = Cost(**document["cost"])
        document["judgement"] = Judgement.from_wire(document["judgement"]) if document["judgement"] else None
        for name in (
            "contexts",
            "source_ids",
            "server_source_ids",
            "unsupported_claims",
            "overall_lacks",
            "asked_again",
        ):
            document[name] = None if document[name] is None else tuple(document[name])
        return cls(**document)


def members(value: Any) -> dict[str, Any]:
    """As `asdict` without its copies of what the values are made of: every record goes this way several times."""
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


def sharing(record: Record, other: Record) -> Record:
    """The record, with the other's own objects for what is alike in both, so that a long run takes less memory."""
    shared = {}
    for name in _OFTEN_ALIKE:
        own, theirs = getattr(record, name), getattr(other, name)
        # 1 and 1.0 are equal, and are not written alike.
        if own == theirs and repr(own) == repr(theirs):
            shared[name] = theirs
    return replace(record, **shared)


def _plain(value: Any) -> Any:
    """What JSON has no type for: a mapping that is no dict, else whatever a user's metadata holds, as text."""
    return dict(value) if isinstance(value, Mapping) else str(value)
