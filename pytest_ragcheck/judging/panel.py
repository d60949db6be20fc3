"""Several judgements of one answer -> one: of several judges, or of one judge that is asked several times."""

from __future__ import annotations

from functools import partial
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, Literal

from pytest_ragcheck.closing import close
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.judging.judge import judge as judge_answer
from pytest_ragcheck.judging.judge import judge_identity
from pytest_ragcheck.judging.judgement import JudgeIdentity, Judgement

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer

    Run = Callable[[Callable[[], Awaitable[Judgement]]], Awaitable[Judgement]]
    """Runs one request to a judge when there is room for it."""

Rule = Literal["mean", "median", "majority"]
_RULES = ("mean", "majority")


class Panel:
    """
    Several judges that judge as one.

    By `majority` a score is the highest that more than half of the judges reach, so that it is at or above a
    threshold exactly where more than half of theirs are. That the answer abstains is what more than half say, by
    either rule. A judge that fails fails the panel: nothing is quietly left out.

    Args:
        judges: At least two; each is anything that can be the `rag_judge`.
        rule: `mean` or `majority`.

    Raises:
        UsageError: There are too few judges, or the rule is another.
    """

    def __init__(self, judges: Sequence[Judge], rule: Rule = "mean") -> None:
        if len(judges) < 2:
            raise UsageError(f"Panel: {len(judges)} judges are no panel. Give at least two.")
        if rule not in _RULES:
            raise UsageError(f"Panel: {rule!r} is no rule. Choose one of {', '.join(_RULES)}.")
        self.judges = tuple(judges)
        self.rule: Rule = rule
        self.chat: Any = next((chat for judge in judges if (chat := getattr(judge, "chat", None)) is not None), None)
        """The model of the first judge that is one."""

        identities = [identity for judge in judges if (identity := judge_identity(judge)) is not None]
        names = [" ".join(filter(None, (identity.kind, identity.model))) for identity in identities]
        versions = dict.fromkeys(identity.prompt_version for identity in identities if identity.prompt_version)
        self.identity = JudgeIdentity(
            kind="panel", model=f"{rule} of {', '.join(names)}", prompt_version=", ".join(versions) or None
        )

    async def judge(self, question: Question, answer: RagAnswer) -> Judgement:
        """
        What the judges say together, asked one after another.

        Raises:
            JudgeError: One of them gave no judgement.
        """
        return await judge_by_all(question, answer, self)

    def afresh(self) -> Panel:
        """The same judges, each asked whatever a cache before it knows."""
        return Panel([getattr(judge, "afresh", lambda judge=judge: judge)() for judge in self.judges], self.rule)

    async def aclose(self) -> None:
        """Closes those judges that can be closed."""
        await close(*self.judges)


async def judge_by_all(
    question: Question, answer: RagAnswer, by: Judge, *, repeats: int = 1, run: Run | None = None
) -> Judgement:
    """
    The judgement of a judge or of all of a panel, each asked as often as `repeats` says, one request after another.

    Several judgements of one judge come to their median. A judge with a method `for_repeat(index)` is asked through
    what it returns, so that the repeats are told apart.

    Args:
        question: What was asked.
        answer: What is judged.
        by: The judge.
        repeats: >= 1.
        run: Runs each request; None: at once.

    Raises:
        JudgeError: One of the requests failed.
    """
    if isinstance(by, Panel):
        members = [await judge_by_all(question, answer, judge, repeats=repeats, run=run) for judge in by.judges]
        return combined(members, by.rule)
    judgements = []
    for index in range(repeats):
        for_repeat = getattr(by, "for_repeat", None)
        seat = by if for_repeat is None else for_repeat(index)
        request = partial(judge_answer, question, answer, seat)
        judgements.append(await (request() if run is None else run(request)))
        if judgements[0].votes:
            # It is of several already, as a recorded one may be.
            return judgements[0]
    return judgements[0] if repeats == 1 else combined(judgements, "median")


def combined(judgements: Sequence[Judgement], rule: Rule) -> Judgement:
    """
    One judgement of several.

    Its reason and its claims are those of the judgement whose scores are nearest to the combined ones.
    """
    correctness = _combined([judgement.answer_correctness for judgement in judgements], rule)
    grounded = _combined([judgement.groundedness for judgement in judgements], rule)
    said = [judgement.abstained for judgement in judgements if judgement.abstained is not None]

    def distance(judgement: Judgement) -> float:
        pairs = ((judgement.answer_correctness, correctness), (judgement.groundedness, grounded))
        return sum(abs(a - b) for a, b in pairs if a is not None and b is not None)

    # Of equally near ones one that names a weakness, and of those the first.
    nearest = min(judgements, key=lambda judgement: (distance(judgement), not judgement.error_message))
    return Judgement(
        answer_correctness=correctness,
        groundedness=grounded,
        error_message=nearest.error_message,
        abstained=2 * sum(said) > len(said) if said else None,
        unsupported_claims=nearest.unsupported_claims,
        cached=all(judgement.cached for judgement in judgements),
        votes=_votes(judgements),
    )


def _combined(scores: Sequence[float | None], rule: Rule) -> float | None:
    """Of those that were given; None where none was."""
    given = sorted((score for score in scores if score is not None), reverse=True)
    if not given:
        return None
    if rule == "majority":
        return given[len(given) // 2]
    return median(given) if rule == "median" else fmean(given)


def _votes(judgements: Sequence[Judgement]) -> dict[str, list[float]]:
    votes: dict[str, list[float]] = {}
    for metric in ("answer_correctness", "groundedness"):
        for judgement in judgements:
            score = getattr(judgement, metric)
            own = judgement.votes.get(metric) or ([] if score is None else [score])
            votes.setdefault(metric, []).extend(own)
    return {metric: scores for metric, scores in votes.items() if scores}
