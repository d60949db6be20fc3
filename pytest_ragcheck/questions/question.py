"""The values that a question file is read into."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

GENERATION = "generation"
"""The tier in which passages go along with a question; nothing is retrieved."""

END_TO_END = "end_to_end"
"""The tier in which the system retrieves by itself."""

TIERS = (GENERATION, END_TO_END)

NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldPassage:
    """A passage that answers the question, or one that only looks as if it did (a distractor)."""

    text: str
    doc_id: str | None = None
    """The document's id as the file gives it; None where the file gives a bare text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question with all that is known about its right answer; file-level defaults are worked in."""

    dataset_name: str
    """The name of the set that the question belongs to; with `id` its identity."""

    id: str
    """Unique within the dataset, stable from run to run, never contains `::`."""

    question: str
    """The text that is asked."""

    expected_answer: str | None = None
    """The primary expected answer; None where the file gives none."""

    all_acceptable_answers: tuple[str, ...] = ()
    """Every accepted answer, each once: the expected one, which need not be listed, then the listed ones."""

    must_mention: tuple[str, ...] = ()
    """Strings, or regular expressions in slashes, that the answer has to contain."""

    must_not_mention: tuple[str, ...] = ()
    """Strings, or regular expressions in slashes, that the answer must not contain."""

    gold_passages: tuple[GoldPassage, ...] = ()
    """The passages that answer the question."""

    distractors: tuple[GoldPassage, ...] = ()
    """Passages beside the gold ones that do not answer the question."""

    answerable: bool = True
    """False: the right thing for the system is to abstain."""

    thresholds: Mapping[str, float] = field(default_factory=lambda: NOTHING)
    """Minimum by metric, 0..1, question over file; the run's thresholds are not in it."""

    top_k: int | None = None
    """How many contexts are asked for, >= 1; None: the run's."""

    tags: tuple[str, ...] = ()
    """Names of pytest markers."""

    skip: str | None = None
    """Why the question is not asked; None: it is asked."""

    xfail: str | None = None
    """Why the question is expected to fail; None: it is not."""

    quarantine: str | None = None
    """Why the question does not gate; None: it does. It runs and is reported all the same."""

    tier: str = END_TO_END
    """One of `TIERS`: how the question is asked."""

    ingest: bool = False
    """Whether its passages are put into the system first, as documents."""

    metadata: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    """Whatever the file's author wants to find again in the predictions."""

    path: Path | None = field(default=None, compare=False)
    """The file that the question was read from."""

    line: int | None = field(default=None, compare=False)
    """The line in `path` where the question begins, from 1."""

    lacks_gold: bool = field(default=False, compare=False)
    """True where it has no gold passages and others of its set have: nothing that is retrieved is known to be right."""

    def __post_init__(self) -> None:
        # Whoever reads the written questions finds every accepted answer in this one list, and a question
        # that is written and read back is equal to itself however its answers were given.
        first = () if self.expected_answer is None else (self.expected_answer,)
        union = tuple(dict.fromkeys((*first, *self.all_acceptable_answers)))
        object.__setattr__(self, "all_acceptable_answers", union)

    @property
    def acceptable_answers(self) -> tuple[str, ...]:
        """All accepted answers, the expected one first, each once; empty where none is known."""
        return self.all_acceptable_answers

    @property
    def location(self) -> str:
        """`path:line`, as far as they are known; empty for a question from a call."""
        if self.path is None:
            return ""
        return f"{self.path}:{self.line}" if self.line else str(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Which questions of which dataset a set holds."""

    source: str
    """The name of the dataset's file, or `hub: ` and the repository."""

    split: str | None
    """None where the file itself is all that is known."""

    available: int
    """How many questions there were to choose from, >= 1."""

    left_out: int
    """How many rows had a blank question, >= 0; they are not counted in `available`."""

    samples: int | None
    """How many questions were wanted, >= 1; None: all."""

    seed: int
    """Which ones were taken, of those that there were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionSet:
    """All questions of one file, in the file's order; of a dataset, those of the sample."""

    dataset_name: str
    path: Path
    questions: tuple[Question, ...]
    sets_thresholds: bool = False
    """True where the file or any of its questions sets thresholds of its own."""

    tier: str | None = None
    """The tier that the file asks for; None: the run's."""

    ingest: bool | None = None
    """Whether the file asks for its documents to be put into the system first; None: as the run says."""

    origin: Origin | None = None
    """Of a dataset; None for a question file."""

    def __post_init__(self) -> None:
        if any(question.gold_passages for question in self.questions):
            marked = tuple(
                q if q.gold_passages or q.lacks_gold else replace(q, lacks_gold=True) for q in self.questions
            )
            object.__setattr__(self, "questions", marked)
