"""Has an answer judged by whatever judge a user gave, and takes from it nothing but a judgement that can be used."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.errors import JudgeError, JudgeReplyError
from pytest_ragcheck.judging.judgement import JudgeIdentity, Judgement
from pytest_ragcheck.rag.ask import are_texts, number, settled

if TYPE_CHECKING:
    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer


async def judge(question: Question, answer: RagAnswer, by: Judge | None) -> Judgement:
    """
    The judgement of the answer; its `abstained` is always set.

    Without a judge nothing but `abstained` is. An empty answer needs no judge: it is an abstention. Whatever the
    judge finds, an answer without contexts is grounded in nothing.

    Raises:
        JudgeError: There is no judgement that can be used.
    """
    empty = not answer.text.strip()
    if by is None:
        return Judgement(abstained=empty or _declines(answer))
    if empty:
        # To say nothing is right where there is nothing to say, and then no score of 0.0 may go into a mean.
        return Judgement(answer_correctness=0.0, groundedness=0.0 if question.answerable else None, abstained=True)
    name = type(by).__qualname__
    if not hasattr(by, "judge"):
        raise JudgeError(
            f"{name}: the rag_judge has no method judge(question, answer). "
            "Return an object with that method, or None to do without a judge."
        )
    judgement = await settled(by.judge, question, answer)
    if not isinstance(judgement, Judgement):
        raise JudgeReplyError(f"{name}: judge() returned {judgement!r:.80}, not a Judgement.")
    if problem := _problem(judgement):
        raise JudgeReplyError(f"{name}: judge() returned a Judgement whose {problem}.")
    abstained = _declines(answer) if judgement.abstained is None else bool(judgement.abstained)
    grounded = _score(judgement.groundedness)
    if grounded is not None and not answer.contexts:
        # As with an empty answer: a right refusal claims nothing that contexts would have to hold.
        grounded = None if abstained and not question.answerable else 0.0
    return replace(
        judgement,
        answer_correctness=_score(judgement.answer_correctness),
        groundedness=grounded,
        error_message=(judgement.error_message or "").strip(),
        abstained=abstained,
        unsupported_claims=tuple(judgement.unsupported_claims or ()),
    )


def judge_identity(by: Judge | None) -> JudgeIdentity | None:
    """Who the judge is; one that does not say is known by the name of its class."""
    if by is None:
        return None
    identity = getattr(by, "identity", None)
    return identity if isinstance(identity, JudgeIdentity) else JudgeIdentity(kind=type(by).__qualname__)


def _problem(judgement: Judgement) -> str:
    """What keeps the judgement from being used; empty where nothing does."""
    for metric in ("answer_correctness", "groundedness"):
        value = getattr(judgement, metric)
        if value is not None and not 0 <= number(value) <= 1:
            return f"{metric} is {value!r:.80}, not a number from 0 to 1"
    message: Any = judgement.error_message or ""
    if not isinstance(message, str):
        return f"error_message is {message!r:.80}, not a str"
    if not are_texts(judgement.unsupported_claims or ()):
        return f"unsupported_claims are {judgement.unsupported_claims!r:.80}, not a tuple of str"
    return ""


def _declines(answer: RagAnswer) -> bool:
    from pytest_ragcheck.judging.refusals import is_refusal  # noqa: PLC0415 - 0.02 s, and most judges say it themselves

    return is_refusal(answer.text)


def _score(value: Any) -> float | None:
    return None if value is None else number(value)
