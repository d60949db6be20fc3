"""Asks a judge several times, or each of a panel, and combines the judgements; known ones are reused."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, Literal

from pytest_ragcheck.concurrency.tasks import closing
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import replace
from pytest_ragcheck.judging.checked_judgement import as_judge, checked_judgement, identity_of, model_of
from pytest_ragcheck.judging.judgement import Judge, JudgeIdentity, Judgement, material_digest
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.scores import JUDGED

if TYPE_CHECKING:
    from pytest_ragcheck.judging.judgement import GivenJudge

    Run = Callable[[Callable[[], Awaitable[Judgement]]], Awaitable[Judgement]]
    """Runs one request within the limit of the judge."""


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
