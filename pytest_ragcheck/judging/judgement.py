"""What a judge says, and the seam to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One judge's opinion of one answer. A score that could not be measured is no Judgement but a `JudgeError`."""

    answer_correctness: float | None = None
    """0..1: does the answer answer the question, and rightly so; None: does not apply."""

    groundedness: float | None = None
    """0..1: is everything that the answer says in the contexts; None: does not apply."""

    error_message: str = ""
    """The main weakness in a sentence, in the question's language; empty where there is none."""

    abstained: bool | None = None
    """Does the answer decline to answer; None: the judge does not say."""

    unsupported_claims: tuple[str, ...] = ()
    """Verbatim parts of the answer that the contexts do not support."""

    votes: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """By score the judgements that this one is made of, in the order in which they were made; empty of a single one."""

    cached: bool = False
    """True: said in an earlier run, and not asked for in this one."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Judgement:
        """The judgement of which `asdict` and JSON made these values."""
        return cls(**{**wire, "unsupported_claims": tuple(wire["unsupported_claims"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeIdentity:
    """Who judged: written into every record and result file, without secrets."""

    kind: str
    """`openai`, `offline`, `ragas`, `panel`, `none`, or the class name of a user's own judge."""

    model: str | None = None
    url: str | None = None
    """Host and path of the judge's server without credentials; None: OpenAI's own, or no server."""

    prompt_version: str | None = None
    """Name and version of the prompt, such as `en-1`; of the offline judge the version of its rules."""


class Judge(Protocol):
    """The seam to the judge: anything with this method can be the `rag_judge`; an `identity` is read if present."""

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        """Returns the judgement, or raises a `JudgeError`."""
        ...
