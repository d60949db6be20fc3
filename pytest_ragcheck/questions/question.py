"""The values that the readers of question files return."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.scores import BOUNDED

GENERATION = "generation"
"""The tier in which a request carries the passages of its question, and the system retrieves nothing."""

END_TO_END = "end_to_end"
"""The tier in which the system retrieves its own passages."""

RETRIEVAL_ALONE = "retrieval"
"""The tier in which the system only retrieves, without an answer and a judge."""

TIERS = (GENERATION, RETRIEVAL_ALONE, END_TO_END)


@frozen
class GoldPassage:
    """A passage that answers the question, or a distractor, which only seems to."""

    text: str = ""
    """Empty if the file has only the document's id."""

    doc_id: str | None = None
    """The document's id in the file; None if the file has only the text."""

    identity: str = ""
    """The identity that the document is uploaded as; empty for that of the question."""


@frozen
class EarlierTurn:
    question: str
    # Tracebacks of a user's client show its values, and texts of the system may hold secrets.
    answer: str | None = field(repr=False)
    """The answer of the system, empty if it abstained; None in the tier `retrieval`, which asks for no answer."""

    contexts: tuple[str, ...] = field(default=(), repr=False)


@frozen
class Question:
    """One question with its expected answer and its settings, defaults of the file included."""

    dataset_name: str
    """The name of the dataset; together with `id` it identifies the question."""

    id: str
    """Unique within the dataset, stable from run to run, never contains `::`."""

    question: str
    """The text of the question."""

    expected_answer: str | None = None
    """The primary expected answer; None if the file has none."""

    all_acceptable_answers: tuple[str, ...] = ()
    """Every accepted answer, each once: `expected_answer` first, then the listed answers."""

    must_mention: tuple[str, ...] = ()
    """Strings, or regular expressions in slashes, that the answer has to contain."""

    must_not_mention: tuple[str, ...] = ()
    """Strings, or regular expressions in slashes, that the answer must not contain."""

    must_cite: tuple[str, ...] = ()
    """Ids of the documents that the answer has to cite."""

    must_not_retrieve: tuple[str, ...] = ()
    """Ids of the documents that neither the contexts nor the answer may come from."""

    gold_passages: tuple[GoldPassage, ...] = ()
    """The passages that answer the question."""

    distractors: tuple[GoldPassage, ...] = ()
    """Passages that do not answer the question, given in addition to the gold ones."""

    answerable: bool = True
    """False if the system should abstain."""

    thresholds: Mapping[str, float] = field(default_factory=dict)
    """
    Minimum by metric, 0..1, and maximum of `latency_seconds`, `first_token_seconds` and `cost_usd`, > 0.

    They come from the question and its file, not from the run.
    """

    top_k: int | None = None
    """How many contexts to request, >= 1; None for the number of the run."""

    tags: tuple[str, ...] = ()
    """Names of pytest markers."""

    skip: str | None = None
    """The reason to skip the question; None if it is asked."""

    xfail: str | None = None
    """The reason why the question is expected to fail; None if it is not."""

    quarantine: str | None = None
    """The reason why the gate ignores the question, which still runs and is reported; None if the gate counts it."""

    identity: str = ""
    """The name of the identity that asks the question; empty for the headers of the run alone."""

    tier: str = END_TO_END
    """One of `TIERS`."""

    ingest: bool = False
    """True if the run uploads its passages as documents first."""

    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Free values of the author, copied to the predictions."""

    conversation: str = ""
    """The id of the conversation that the question is a turn of; empty outside of one."""

    turn: int | None = None
    """The number of the turn in its conversation, >= 1; None outside of one."""

    earlier: tuple[Question, ...] = ()
    """The turns before this one, in their order, each without its own `earlier`."""

    history: tuple[EarlierTurn, ...] = field(default=(), compare=False)
    """The earlier turns of the conversation, in their order; filled when the turn is asked."""

    session: str | float | None = field(default=None, compare=False)
    """The session, a text or a number, that the earlier replies named; None before the first, or if they name none."""

    path: Path | None = field(default=None, compare=False)
    """The file that the question was read from."""

    line: int | None = field(default=None, compare=False)
    """The line in `path` where the question begins, from 1."""

    lacks_gold: bool = field(default=False, compare=False)
    """True if other questions of its dataset have gold passages and this question has none; False in a file."""

    def __post_init__(self) -> None:
        # One list with every accepted answer makes a question equal to itself after writing and reading.
        answers: Any = self.all_acceptable_answers
        if isinstance(answers, str):
            raise UsageError(f"Question: all_acceptable_answers is {answers!r:.80}; give a tuple of texts.")
        expected: Any = self.expected_answer
        if isinstance(expected, list | tuple):
            raise UsageError(f"Question: expected_answer is {expected!r:.80}; give them as all_acceptable_answers.")
        first = () if expected is None else (expected,)
        union = tuple(dict.fromkeys((*first, *self.all_acceptable_answers)))
        object.__setattr__(self, "all_acceptable_answers", union)
        if isinstance(self.thresholds, dict):  # code that gets one question must not change those of others
            object.__setattr__(self, "thresholds", dict(self.thresholds))

    @property
    def key(self) -> tuple[str, str]:
        """The dataset's name and the id, which identify the question in results and baselines."""
        return self.dataset_name, self.id

    @property
    def acceptable_answers(self) -> tuple[str, ...]:
        """The same as `all_acceptable_answers`."""
        return self.all_acceptable_answers

    @property
    def minimums(self) -> dict[str, float]:
        """The `thresholds` of scores."""
        return {metric: value for metric, value in self.thresholds.items() if metric not in BOUNDED}

    @property
    def maximums(self) -> dict[str, float]:
        """The `thresholds` of times and of the cost."""
        return {metric: value for metric, value in self.thresholds.items() if metric in BOUNDED}

    @property
    def is_answered(self) -> bool:
        """False in the tier `retrieval`, which asks for no answer."""
        return self.tier != RETRIEVAL_ALONE

    @property
    def asked_before(self) -> tuple[Question, ...]:
        """The turns before this one as they are asked for it: in its tier, and with the dataset's name of its item."""
        return tuple(
            replace(turn, dataset_name=self.dataset_name, tier=self.tier, ingest=self.ingest) for turn in self.earlier
        )

    @property
    def location(self) -> str:
        """`path:line`, or `path` if the line is unknown; empty for a question from a call."""
        if self.path is None:
            return ""
        return f"{self.path}:{self.line}" if self.line else str(self.path)


def in_conversation(conversation: str, questions: Sequence[Question]) -> tuple[Question, ...]:
    turns = [
        replace(question, id=f"{conversation}[turn{number}]", conversation=conversation, turn=number)
        for number, question in enumerate(questions, start=1)
    ]
    return tuple(replace(turn, earlier=tuple(turns[:number])) for number, turn in enumerate(turns))


@frozen
class Origin:
    """The dataset that a set comes from, and the sample that was taken."""

    source: str
    """The name of the dataset's file, or `hub: ` and the repository."""

    split: str | None
    """None if only the file is known."""

    available: int
    """Number of questions in the dataset, >= 1."""

    left_out: int
    """Number of rows with a blank question, >= 0; `available` does not count them."""

    samples: int | None
    """Requested number of questions, >= 1; None for all."""

    seed: int


@frozen
class QuestionSet:
    """The questions of a file or of a dataset's sample, in their order."""

    dataset_name: str
    path: Path
    questions: tuple[Question, ...]
    tier: str | None = None
    """The tier that the file sets; None for the tier of the run."""

    ingest: bool | None = None
    """The file's setting for uploading its documents first; None for the setting of the run."""

    origin: Origin | None = None
    """The origin of a dataset; None for a question file."""

    def __post_init__(self) -> None:
        # In a handwritten file, a question without gold passages is only not labelled yet.
        if self.origin is not None and any(question.gold_passages for question in self.questions):
            marked = tuple(
                q if q.gold_passages or q.lacks_gold else replace(q, lacks_gold=True) for q in self.questions
            )
            object.__setattr__(self, "questions", marked)

    @property
    def sets_thresholds(self) -> bool:
        return any(question.thresholds for question in self.questions)


def text_digest(text: str) -> str:
    """12 hex digits, also of a text with lone surrogates."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def named(passage: GoldPassage, dataset_name: str) -> GoldPassage:
    """The passage with its own id, or with an id made from the dataset's name and the text."""
    if passage.doc_id is not None:
        return passage
    return replace(passage, doc_id=f"{dataset_name}:{text_digest(passage.text)}")


def documents_of(question: Question) -> list[GoldPassage]:
    """The passages, gold ones first, each once; several may belong to one document."""
    passages = (named(p, question.dataset_name) for p in (*question.gold_passages, *question.distractors))
    return list(dict.fromkeys(passages))


def context_of(question: Question) -> list[GoldPassage]:
    """
    The passages that a request carries in the tier `generation`: the gold passages, each once.

    A question without gold passages, such as an unanswerable question, carries all its passages.
    """
    return documents_of(replace(question, distractors=()) if question.gold_passages else question)
