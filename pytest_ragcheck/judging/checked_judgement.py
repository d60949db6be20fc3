"""Calls judges, which may be users' own objects or functions, and checks, combines or reuses their judgements."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, Literal, cast

from pytest_ragcheck.concurrency.tasks import closing
from pytest_ragcheck.errors import JudgeError, JudgeReplyError, UsageError
from pytest_ragcheck.frozen import replace
from pytest_ragcheck.judging.judgement import Judge, JudgeIdentity, Judgement, grounding_contexts, material_digest
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.rag.ask import are_texts, settled
from pytest_ragcheck.scores import JUDGED, number

if TYPE_CHECKING:
    from pytest_ragcheck.judging.judgement import GivenJudge, JudgeFunction
    from pytest_ragcheck.judging.model.chat import AsksModel

    Run = Callable[[Callable[[], Awaitable[Judgement]]], Awaitable[Judgement]]
    """Runs one request within the limit of the judge."""


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


class Cached:
    """A judge behind a cache; a user's judge may have other methods of these names."""

    asked: Any

    def for_repeat(self, index: int) -> Judge:
        """The judge for one of several judgements of an answer."""
        raise NotImplementedError

    def afresh(self) -> Judge:
        """The judge, asked even if the cache has a judgement."""
        raise NotImplementedError


class SameVerdict:
    """A judge that reuses verdicts of a saved run or of this one, by `material_digest`, or asks another judge."""

    def __init__(self, asked: Judge, verdicts: Mapping[str, Judgement]) -> None:
        self.identity = identity_of(asked)
        self.asked = asked
        self._verdicts = verdicts

    def known(self, question: Question, answer: RagAnswer) -> Judgement | None:
        """The known verdict, marked as cached."""
        verdict = self._verdicts.get(material_digest(question, answer))
        return None if verdict is None else replace(verdict, cached=True)

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        return self.known(question, answer) or await self.asked.judge(question, answer)


Rule = Literal["mean", "median", "majority"]
_RULES = ("mean", "majority")


class Panel:
    """
    Several judges that judge as one.

    The rule `majority` takes the highest score that more than half of the judges reach. The combined score is then
    at or above a threshold exactly when more than half of the judges' scores are. By either rule the answer
    abstains if more than half of the judges say so. If one judge fails, the panel fails.

    Args:
        judges: At least two judges or functions of question and answer.
        rule: `mean` or `majority`.

    Raises:
        UsageError: There are fewer than two judges, or the rule is unknown.
    """

    def __init__(self, judges: Sequence[GivenJudge], rule: Rule = "mean") -> None:
        if not isinstance(judges, Iterable):
            raise UsageError(f"Panel: {judges!r:.80} is not a list of judges. Write Panel([first, second]).")
        self.judges = tuple(map(as_judge, judges))
        if len(self.judges) < 2:
            raise UsageError(f"Panel: a panel needs at least two judges, not {len(self.judges)}.")
        if rule not in _RULES:
            raise UsageError(f"Panel: unknown rule {rule!r}. Choose one of {', '.join(_RULES)}.")
        self.rule: Rule = rule
        chats = map(model_of, self.judges)
        self.chat = next((chat for chat in chats if chat is not None), None)
        """The model of the first judge that has one."""

        identities = list(map(identity_of, self.judges))
        names = [" ".join(filter(None, (identity.kind, identity.model))) for identity in identities]
        versions = dict.fromkeys(identity.prompt_version for identity in identities if identity.prompt_version)
        self.identity = JudgeIdentity(
            kind="panel", model=f"{rule} of {', '.join(names)}", prompt_version=", ".join(versions) or None
        )

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        """
        The combined judgement.

        Raises:
            JudgeError: One of the judges gave no judgement.
        """
        return await judge_by_all(question, answer, self)

    async def aclose(self) -> None:
        await closing(*self.judges).aclose()


def afresh(judge: Judge) -> Judge:
    """The judge, or the panel of judges, without its cache."""
    if isinstance(judge, Panel):
        return Panel([afresh(each) for each in judge.judges], judge.rule)
    return judge.afresh() if isinstance(judge, Cached) else judge


async def judge_by_all(
    question: Question, answer: RagAnswer, by: Judge, *, repeats: int = 1, run: Run | None = None
) -> Judgement:
    """
    Asks a judge, or each judge of a panel, `repeats` times, one request at a time.

    Several judgements of one judge are combined by their median. A cache keeps the repeats apart. If one request
    fails, all fail.
    """
    if isinstance(by, SameVerdict):
        known = by.known(question, answer)
        return known or await judge_by_all(question, answer, by.asked, repeats=repeats, run=run)
    if isinstance(by, Panel):
        members = [await judge_by_all(question, answer, judge, repeats=repeats, run=run) for judge in by.judges]
        return combined(members, by.rule)
    judgements = []
    for index in range(repeats):
        judge = by.for_repeat(index) if isinstance(by, Cached) else by
        request = partial(checked_judgement, question, answer, judge)
        judgements.append(await (request() if run is None else run(request)))
        if judgements[0].votes:
            # A recorded judgement may be a combination already.
            return judgements[0]
    return judgements[0] if repeats == 1 else combined(judgements, "median")


def combined(judgements: Sequence[Judgement], rule: Rule) -> Judgement:
    """The reason and the claims are those of the judgement whose scores are nearest to the combined ones."""
    correctness = _combined([judgement.answer_correctness for judgement in judgements], rule)
    grounded = _combined([judgement.groundedness for judgement in judgements], rule)
    abstained = [judgement.abstained for judgement in judgements if judgement.abstained is not None]

    def distance(judgement: Judgement) -> float:
        pairs = ((judgement.answer_correctness, correctness), (judgement.groundedness, grounded))
        return sum(abs(a - b) for a, b in pairs if a is not None and b is not None)

    # Among equally near judgements, prefer one that names a weakness, then the first.
    nearest = min(judgements, key=lambda judgement: (distance(judgement), not judgement.error_message))
    return Judgement(
        answer_correctness=correctness,
        groundedness=grounded,
        error_message=nearest.error_message,
        abstained=2 * sum(abstained) > len(abstained) if abstained else None,
        unsupported_claims=nearest.unsupported_claims,
        cached=all(judgement.cached for judgement in judgements),
        served_by=nearest.served_by,
        votes=_votes(judgements),
    )


def _combined(scores: Sequence[float | None], rule: Rule) -> float | None:
    given = sorted((score for score in scores if score is not None), reverse=True)
    if not given:
        return None
    if rule == "majority":
        return given[len(given) // 2]
    return median(given) if rule == "median" else fmean(given)


def _votes(judgements: Sequence[Judgement]) -> dict[str, list[float]]:
    votes: dict[str, list[float]] = {}
    for metric in JUDGED:
        for judgement in judgements:
            score = getattr(judgement, metric)
            own = judgement.votes.get(metric) or ([] if score is None else [score])
            votes.setdefault(metric, []).extend(own)
    return {metric: scores for metric, scores in votes.items() if scores}
