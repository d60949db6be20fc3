"""Calls judges, which may be users' own objects or functions, and checks their judgements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pytest_ragcheck.errors import JudgeError, JudgeReplyError, UsageError
from pytest_ragcheck.judging.judgement import Judge, JudgeIdentity, Judgement, grounding_contexts
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.rag.ask import are_texts, settled
from pytest_ragcheck.scores import JUDGED, number

if TYPE_CHECKING:
    from pytest_ragcheck.judging.judgement import GivenJudge, JudgeFunction
    from pytest_ragcheck.judging.model.chat import AsksModel


class FunctionJudge:
    def __init__(self, function: JudgeFunction) -> None:
        self.function = function
        self.identity = JudgeIdentity(kind=getattr(function, "__qualname__", type(function).__qualname__))

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        return cast("Judgement", await settled(self.function, question, answer))


def as_judge(given: GivenJudge) -> Judge:
    identity, name = getattr(given, "identity", None), type(given).__qualname__
    if not isinstance(identity, JudgeIdentity | None) and not isinstance(given, type):
        raise UsageError(
            f"{name}: the identity of the rag_judge is {identity!r:.80}, not a JudgeIdentity. "
            f'Write identity = JudgeIdentity(kind="{name}", prompt_version="1").'
        )
    if hasattr(given, "judge") or not callable(given):
        return cast("Judge", given)
    return FunctionJudge(given)


async def checked_judgement(question: Question, answer: RagAnswer, judge: Judge | None) -> Judgement:
    """
    The judgement of the answer, with `abstained` always set.

    Without a judge, only `abstained` is set. An empty answer counts as an abstention, without a call to the judge. An
    answer without contexts has a groundedness of 0, whatever the judge returns, and a refusal of a question with gold
    passages has a correctness of 0 if the judge returns none.

    Raises:
        JudgeError: The judge failed, or its judgement cannot be used.
    """
    empty = not answer.text.strip()
    if judge is None:
        return Judgement(abstained=empty or _declines(answer))
    if empty:
        # An empty answer to an unanswerable question is right, so no groundedness of 0 may enter a mean.
        return Judgement(answer_correctness=0.0, groundedness=0.0 if question.answerable else None, abstained=True)
    if not hasattr(judge, "judge"):
        raise JudgeError(
            f"{type(judge).__qualname__}: the rag_judge has no method judge(question, answer). "
            "Return an object with that method, a function of question and answer, or None to run without a judge."
        )
    if isinstance(judge, type):
        name = judge.__qualname__
        raise JudgeError(f"{name}: the rag_judge is a class. Return an object of it, such as {name}().")
    judgement = await settled(judge.judge, question, answer)
    if not isinstance(judgement, Judgement):
        raise JudgeReplyError(f"{_name(judge)}: judge() returned {judgement!r:.80}, not a Judgement. Return one.")
    if problem := _problem(judgement):
        raise JudgeReplyError(f"{_name(judge)}: judge() returned a Judgement whose {problem}.")
    abstained = _declines(answer) if judgement.abstained is None else bool(judgement.abstained)
    grounded = _score(judgement.groundedness)
    if grounded is not None and not grounding_contexts(question, answer):
        # A right refusal claims nothing that contexts would have to support.
        grounded = None if abstained and not question.answerable else 0.0
    correctness = _score(judgement.answer_correctness)
    if correctness is None and abstained and question.answerable and question.gold_passages:
        correctness = 0.0
    return Judgement(
        answer_correctness=correctness,
        groundedness=grounded,
        error_message=(judgement.error_message or "").strip(),
        abstained=abstained,
        unsupported_claims=tuple(judgement.unsupported_claims or ()),
        votes=judgement.votes or {},
        cached=bool(judgement.cached),
        served_by=str(judgement.served_by or ""),
    )


def judge_identity(judge: Judge | None) -> JudgeIdentity | None:
    return None if judge is None else identity_of(judge)


def identity_of(judge: Judge) -> JudgeIdentity:
    """The judge's `identity`, or its class name if it has none."""
    identity = getattr(judge, "identity", None)
    return identity if isinstance(identity, JudgeIdentity) else JudgeIdentity(kind=type(judge).__qualname__)


def model_of(judge: Judge | None) -> AsksModel | None:
    """The judge's model, or None; the `chat` of a user's judge may be anything."""
    from pytest_ragcheck.judging.model.chat import AsksModel

    chat = getattr(judge, "chat", None)
    return chat if isinstance(chat, AsksModel) else None


def _problem(judgement: Judgement) -> str:
    for metric in JUDGED:
        value = getattr(judgement, metric)
        if value is not None and not 0 <= number(value) <= 1:
            return f"{metric} is {value!r:.80}, not a number from 0 to 1"
    if judgement.abstained not in (None, 0, 1):
        return f"abstained is {judgement.abstained!r:.80}, not True, False or None"
    message: Any = judgement.error_message or ""
    if not isinstance(message, str):
        return f"error_message is {message!r:.80}, not a str"
    if not are_texts(judgement.unsupported_claims or ()):
        return f"unsupported_claims are {judgement.unsupported_claims!r:.80}, not a tuple of str"
    return ""


def _name(judge: Judge) -> str:
    return judge.identity.kind if isinstance(judge, FunctionJudge) else type(judge).__qualname__


def _declines(answer: RagAnswer) -> bool:
    from pytest_ragcheck.judging.offline.refusals import is_refusal

    return is_refusal(answer.text)


def _score(value: Any) -> float | None:
    return None if value is None else number(value)
