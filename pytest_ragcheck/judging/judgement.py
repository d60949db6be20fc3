"""Defines the protocol of every judge with its result, and the material that it reads."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol

from pytest_ragcheck.frozen import frozen

if TYPE_CHECKING:
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer

    JudgeFunction = Callable[[Question, RagAnswer], "Judgement | Awaitable[Judgement]"]

    class _Judges(Protocol):
        def judge(self, question: Question, answer: RagAnswer) -> Judgement | Awaitable[Judgement]: ...

    GivenJudge = _Judges | JudgeFunction
    """A judge of a user, whose method may be async or not."""


@frozen
class Judgement:
    """
    One judge's opinion of one answer.

    A judge that cannot judge raises a `JudgeError`; it never returns a score of 0 in place of one.
    """

    answer_correctness: float | None = None
    """0..1, how well the answer answers the question; None if that does not apply."""

    groundedness: float | None = None
    """0..1, how far the contexts support the answer; None if that does not apply."""

    error_message: str = ""
    """The main weakness in one sentence, in the question's language; empty if there is none."""

    abstained: bool | None = None
    """True if the answer declines to answer; None if the judge does not report it."""

    unsupported_claims: tuple[str, ...] = ()
    """Verbatim parts of the answer that the contexts do not support."""

    votes: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """The combined judgements' values by score, in the order they were made; empty without a combination."""

    cached: bool = False
    """True if the judgement comes from an earlier run."""

    served_by: str = field(default="", compare=False)
    """Model and fingerprint that the server named in its reply, such as `gpt-5-2025-08-07 fp_1`; empty without them."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Judgement:
        """The judgement whose `asdict` was written as JSON."""
        return cls(**{**wire, "unsupported_claims": tuple(wire["unsupported_claims"])})


@frozen
class JudgeIdentity:
    """The judge as records and result files name it, without secrets."""

    kind: str
    """`openai`, `offline`, `local`, `ragas`, `panel`, `none`, or the class name of a user's own judge."""

    model: str | None = None
    url: str | None = None
    """Host and path of the judge's server, without credentials; None for OpenAI's own, or without a server."""

    prompt_version: str | None = None
    """Name and version of the prompt, such as `en-2`, or the version of the offline judge's rules."""

    parameters: str | None = None
    """The user's request parameters and headers as JSON, without secrets; None if there are none."""

    @property
    def words(self) -> str:
        """The judge in a few words, such as `offline (offline-23)` or `openai (gpt-5-mini, en-2)`."""
        details = ", ".join(filter(None, (self.model, self.prompt_version, self.url)))
        note = " - word matching, no language model" if self.kind == "offline" else ""
        return f"{self.kind}{f' ({details})' if details else ''}{note}"


@frozen
class SentenceSupport:
    supported: bool
    """True if the cited passages together support the sentence."""

    alone: frozenset[int] = frozenset()
    """The numbers of the passages that support it alone."""

    needed: frozenset[int] = frozenset()
    """The numbers of the passages without which the others do not support it."""


class Judge(Protocol):
    """
    The protocol of every judge. An object with this method can be the `rag_judge`.

    A `JudgeIdentity` in an attribute `identity` names the judge in the results.
    """

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        """
        The judgement of the answer.

        Raises:
            JudgeError: The judge gave no judgement.
        """
        ...


def material_digest(question: Question, answer: RagAnswer) -> str:
    """
    64 hex digits over the question, the accepted answers, the contexts, the answer and the earlier turns.

    The dataset, the question's id and the thresholds do not change the digest.
    """
    material: list[object] = [question.question, list(question.acceptable_answers), list(answer.contexts), answer.text]
    if question.history:
        material.append([[turn.question, turn.answer, list(turn.contexts)] for turn in question.history])
    return digest_of(material)


def digest_of(value: object) -> str:
    """64 hex digits over a value that JSON can hold; anything else in it counts as its text."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode("ascii")).hexdigest()


def grounding_contexts(question: Question, answer: RagAnswer) -> tuple[str, ...]:
    """
    The contexts of the answer, followed by those of the earlier turns, the latest turn first.

    A system may answer a follow-up from passages that it retrieved for an earlier turn.
    """
    if not question.history:
        return answer.contexts
    earlier = (context for turn in reversed(question.history) for context in turn.contexts)
    return tuple(dict.fromkeys((*answer.contexts, *earlier)))
