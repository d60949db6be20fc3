"""Tests whether a judge can tell good answers from bad ones, by the canaries: answers with a known verdict."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pytest_ragcheck.concurrency.limiter import Limiter
from pytest_ragcheck.concurrency.tasks import together
from pytest_ragcheck.errors import JudgeError, JudgeReplyError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.judge_prompt import JudgePrompt
from pytest_ragcheck.judging.judgement import Judge, digest_of, material_digest
from pytest_ragcheck.judging.panel import Cached, Panel
from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.rag.body.json_body import quoted
from pytest_ragcheck.scores import JUDGED

CHANCE = 0.5
"""The area under the ROC curve of a judge that guesses. A useful judge is above it in both scores."""


@frozen
class Canary:
    name: str
    """The kind of answer: `right`, `ungrounded`, ..."""

    question: Question
    answer: RagAnswer
    good: Mapping[str, bool]
    """True for each score that should be high; without the scores about which prompts may disagree."""

    abstains: bool = False
    """True if the answer declines to answer."""

    attacks: bool = False
    """True if a context gives the judge an order; a judge that declines the request has withstood it."""


def canaries(*, russian: bool = False) -> tuple[Canary, ...]:
    """The canaries in Russian or in English, the right one first."""
    texts = json.loads(package_text("judging/prompts/canaries.json"))["ru" if russian else "en"]
    question = Question(
        dataset_name="preflight", id="canary", question=texts["question"], expected_answer=texts["expected"]
    )
    # The first passage contains the expected answer, the other one is of the same documents without it.
    both, beside = (texts["passage"], texts["beside"]), (texts["beside"],)
    bad = {"answer_correctness": False, "groundedness": False}
    right = {"answer_correctness": True, "groundedness": True}

    def canary(name: str, text: str, contexts: tuple[str, ...], good: Mapping[str, bool], **what: bool) -> Canary:
        answer = RagAnswer(text=text, contexts=contexts)
        return Canary(name=name, question=question, answer=answer, good=good, **what)

    return (
        canary("right", texts["right"], both, right),
        # Prompts disagree whether an answer that the contexts do not support is also incorrect.
        canary("ungrounded", texts["right"], beside, {"groundedness": False}),
        canary("contradicted", texts["contradicting"], both, bad),
        # An empty answer and a refusal claim nothing, so only their correctness is clear.
        canary("empty", "", both, {"answer_correctness": False}, abstains=True),
        canary("refusing", texts["declining"], both, {"answer_correctness": False}, abstains=True),
        canary("instructed", texts["contradicting"], (*both, texts["instruction"]), bad, attacks=True),
    )


@frozen
class CanaryVerdict:
    canary: str
    scores: Mapping[str, float]
    """Empty if a content filter stopped the attack of the canary, or the model declined it."""

    abstained: bool | None
    error_message: str


@frozen
class Trial:
    """A judge's verdicts on all canaries, in order."""

    verdicts: tuple[CanaryVerdict, ...]

    @classmethod
    def from_json(cls, text: str) -> Trial:
        return cls(verdicts=tuple(CanaryVerdict(**row) for row in json.loads(text)))

    def to_json(self) -> str:
        return json.dumps(list(map(asdict, self.verdicts)))


def judges_to_try(judge: Any) -> Iterator[Judge]:
    """
    The judges that ask models: the judge itself, the judge behind a cache, or a panel's members.

    Such a judge has either a `prompt`, or `canaries` of its own. A `fingerprint` (or a `trial_fingerprint`, for the
    preflight only) is a digest of everything that its verdicts depend on.
    """
    if isinstance(judge, Panel):
        for member in judge.judges:
            yield from judges_to_try(member)
        return
    asked = judge.asked if isinstance(judge, Cached) else judge
    if isinstance(getattr(asked, "prompt", None), JudgePrompt) or _own_canaries(asked):
        yield asked


async def try_judge(judge: Judge, limiter: Limiter) -> Trial:
    """
    Asks the judge about its canaries, past any cache; raises a `JudgeError` without a verdict on one.

    The right answer goes first and the others follow together, so that an unreachable judge costs one request.
    """
    first, *others = canaries_for(judge)

    async def ask(canary: Canary) -> CanaryVerdict | JudgeError:
        try:
            return await limiter.run(lambda: _verdict_on(judge, canary))
        except JudgeError as error:
            return error

    found = [await ask(first)]
    if not isinstance(found[0], JudgeError):
        found += await together(map(ask, others))
    verdicts = []
    for each in found:
        if isinstance(each, JudgeError):
            raise each
        verdicts.append(each)
    return Trial(verdicts=tuple(verdicts))


def canaries_for(judge: Any) -> tuple[Canary, ...]:
    return _own_canaries(judge) or canaries(russian=judge.prompt.is_russian)


def _own_canaries(judge: Any) -> tuple[Canary, ...]:
    # The `canaries` of a user's judge may be anything else.
    named = getattr(judge, "canaries", None)
    return named if isinstance(named, tuple) and all(isinstance(each, Canary) for each in named) else ()


def trial_key(judge: Judge) -> str:
    """The key of equal trials; empty if the judge has no fingerprint."""
    fingerprint: str = getattr(judge, "fingerprint", "") or getattr(judge, "trial_fingerprint", "")
    asked = [material_digest(canary.question, canary.answer) for canary in canaries_for(judge)]
    return fingerprint and digest_of([fingerprint, asked])


def areas(trial: Trial) -> dict[str, float]:
    """
    The area under the ROC curve of each score, 0..1.

    It is the share of pairs of a good and a bad canary in which the good one has the higher score; ties count half.
    """
    found = {}
    for score in JUDGED:
        rated = _rated(trial, score)
        pairs = [(high, low) for high, good, _ in rated if good for low, is_good, _ in rated if not is_good]
        wins = [(high > low) + (high == low) / 2 for high, low in pairs]
        found[score] = sum(wins) / len(wins)
    return found


def why_useless(trial: Trial, scores: Iterable[str] = JUDGED) -> str:
    """The reason why the judge is useless, with its scores and its own reason; empty if the judge is useful."""
    found = areas(trial)
    blind = [score for score in scores if score in found and found[score] <= CHANCE]
    if not blind:
        return ""
    by_score = "; ".join(
        f"{score}: " + ", ".join(f"{name} {value:g}" for value, _, name in _rated(trial, score)) for score in blind
    )
    verdict = next((each for each in trial.verdicts if each.canary == "contradicted"), trial.verdicts[-1])
    reason = f"It says of the contradicted answer: {quoted(verdict.error_message)}." if verdict.error_message else ""
    return f"it cannot tell good answers from bad ones\n{by_score}\n{reason}".rstrip()


def weaknesses(trial: Trial, *, threshold: float) -> list[str]:
    """The mistakes of a useful judge; scores from *threshold*, 0..1, pass."""
    found = []
    for canary, verdict in _pairs(trial):
        wrong = [
            f"{score} {verdict.scores[score]:g}"
            for score, good in canary.good.items()
            if score in verdict.scores and (verdict.scores[score] >= threshold) != good
        ]
        if wrong:
            what = "fails" if any(canary.good.values()) else "passes"
            found.append(f"the {canary.name} answer {what} with {' and '.join(wrong)}")
        if verdict.abstained is not None and verdict.abstained != canary.abstains:
            found.append(f"the {canary.name} answer is {'' if verdict.abstained else 'not '}taken for a refusal")
    return found


async def _verdict_on(judge: Judge, canary: Canary) -> CanaryVerdict:
    # Called directly, because `checked_judgement` does not send an empty answer to the judge.
    try:
        judgement = await judge.judge(canary.question, canary.answer)
    except JudgeReplyError as error:
        if canary.attacks and error.declined:
            return CanaryVerdict(canary=canary.name, scores={}, abstained=None, error_message=str(error))
        raise
    given = {score: value for score in JUDGED if (value := getattr(judgement, score)) is not None}
    if lacking := sorted(canary.good.keys() - given.keys()):
        raise JudgeReplyError(f"the judgement of the {canary.name} answer has no {' and no '.join(lacking)}.")
    return CanaryVerdict(
        canary=canary.name, scores=given, abstained=judgement.abstained, error_message=judgement.error_message
    )


def _rated(trial: Trial, score: str) -> list[tuple[float, bool, str]]:
    # Each score that should be high or low, whether it should be high, and the canary's name.
    return [
        (verdict.scores[score], canary.good[score], canary.name)
        for canary, verdict in _pairs(trial)
        if score in canary.good and score in verdict.scores
    ]


def _pairs(trial: Trial) -> Sequence[tuple[Canary, CanaryVerdict]]:
    by_name = {canary.name: canary for canary in canaries()}
    return [(by_name[verdict.canary], verdict) for verdict in trial.verdicts]
