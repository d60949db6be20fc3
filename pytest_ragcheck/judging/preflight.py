"""Can a judge tell good answers from bad ones: it is tried on answers of which everybody knows what they are."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from pytest_ragcheck.errors import JudgeError, JudgeReplyError
from pytest_ragcheck.judging.canaries import canaries
from pytest_ragcheck.judging.judgement import Judge
from pytest_ragcheck.judging.material import digest_of, material_digest
from pytest_ragcheck.judging.panel import Panel
from pytest_ragcheck.judging.prompt import JudgePrompt
from pytest_ragcheck.rag.excerpt import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_ragcheck.judging.canaries import Canary
    from pytest_ragcheck.metrics.metric import Room

SCORES = ("answer_correctness", "groundedness")

CHANCE = 0.5
"""The area under the ROC curve of a judge that cannot tell. One that is not above it in both scores is of no use."""

_CYRILLIC = re.compile("[\u0400-\u04ff]")
_LATIN = re.compile("[A-Za-z]")


class Tried(Judge, Protocol):
    """
    A judge that asks language models.

    It says by which prompt, in an attribute `prompt`, or which canaries it is to be tried on, in `canaries`. What its
    verdicts depend on it says by a digest, in `fingerprint`, or in `trial_fingerprint` where it is for its trial alone.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a judge said of one canary."""

    canary: str
    scores: Mapping[str, float]
    abstained: bool | None
    error_message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What a judge said of all canaries, in their order."""

    said: tuple[Said, ...]

    @classmethod
    def from_json(cls, text: str) -> Trial:
        """The trial that was written as that."""
        return cls(said=tuple(Said(**row) for row in json.loads(text)))

    def to_json(self) -> str:
        """The trial as text."""
        return json.dumps([asdict(said) for said in self.said])


def judges_to_try(judge: Any) -> Iterator[Tried]:
    """The language models in whatever a user gave as judge: itself, what a cache stands before, a panel's members."""
    if isinstance(judge, Panel):
        for member in judge.judges:
            yield from judges_to_try(member)
        return
    asked = getattr(judge, "asked", judge)
    if isinstance(getattr(asked, "prompt", None), JudgePrompt) or hasattr(asked, "canaries"):
        yield asked


async def try_out(judge: Tried, room: Room) -> Trial:
    """
    What the judge says of its canaries; nothing of it is remembered.

    The right one goes first, and the others together after it: a judge that is not there is asked once.

    Args:
        judge: Is asked once about each.
        room: Runs the requests.

    Raises:
        JudgeError: It gave no verdict on one of them.
    """
    first, *others = canaries_for(judge)
    found: dict[str, Said | JudgeError] = {}

    async def ask(canary: Canary) -> None:
        try:
            found[canary.name] = await room.run(lambda: _said(judge, canary))
        except JudgeError as error:
            found[canary.name] = error

    await ask(first)
    if not isinstance(found[first.name], JudgeError):
        async with anyio.create_task_group() as tasks:
            for canary in others:
                tasks.start_soon(ask, canary)
    said = []
    for canary in (first, *others):
        told = found[canary.name]
        if isinstance(told, JudgeError):
            raise told
        said.append(told)
    return Trial(said=tuple(said))


def canaries_for(judge: Any) -> tuple[Canary, ...]:
    """Those that the judge names, else all in the language that most of its prompt's letters are of."""
    named = tuple(getattr(judge, "canaries", ()))
    return named or canaries(russian=_is_russian(judge.prompt.text))


def _is_russian(text: str) -> bool:
    return len(_CYRILLIC.findall(text)) > len(_LATIN.findall(text))


def trial_key(judge: Tried) -> str:
    """What two trials have in common that must come to the same; empty where that is not known."""
    fingerprint: str = getattr(judge, "fingerprint", "") or getattr(judge, "trial_fingerprint", "")
    asked = [material_digest(canary.question, canary.answer) for canary in canaries_for(judge)]
    return fingerprint and digest_of([fingerprint, asked])


def areas(trial: Trial) -> dict[str, float]:
    """
    By score the area under the ROC curve over the canaries, 0..1.

    Of the pairs of a good and a bad canary it is the share in which the good one has the higher score, ties half.
    """
    found = {}
    for score in SCORES:
        by_label: dict[bool, list[float]] = {True: [], False: []}
        for canary, said in _pairs(trial):
            if score in canary.good:
                by_label[canary.good[score]].append(said.scores[score])
        wins = [(good > bad) + (good == bad) / 2 for good in by_label[True] for bad in by_label[False]]
        found[score] = sum(wins) / len(wins)
    return found


def why_useless(trial: Trial, scores: Iterable[str] = SCORES) -> str:
    """
    Why the judge is of no use, with the scores and the words by which it shows; empty where it is of some.

    Args:
        trial: Of the judge.
        scores: In which the judge has to tell good from bad.
    """
    found = areas(trial)
    blind = [score for score in scores if score in found and found[score] <= CHANCE]
    if not blind:
        return ""
    by_score = "; ".join(
        f"{score}: "
        + ", ".join(f"{said.canary} {said.scores[score]:g}" for canary, said in _pairs(trial) if score in canary.good)
        for score in blind
    )
    told = next((said for said in trial.said if said.canary == "contradicted"), trial.said[-1])
    said = f"Of the contradicted answer it says: {quoted(told.error_message)}." if told.error_message else ""
    return f"it cannot tell good answers from bad ones\n{by_score}\n{said}".rstrip()


def weaknesses(trial: Trial, *, threshold: float) -> list[str]:
    """
    What a judge that is of some use gets wrong.

    Args:
        trial: Of the judge.
        threshold: From which on a score passes, 0..1.
    """
    found = []
    for canary, said in _pairs(trial):
        wrong = [
            f"{score} {said.scores[score]:g}"
            for score, good in canary.good.items()
            if (said.scores[score] >= threshold) != good
        ]
        if wrong:
            what = "fails" if any(canary.good.values()) else "passes"
            found.append(f"the {canary.name} answer {what} with {' and '.join(wrong)}")
        if said.abstained is not None and said.abstained != canary.abstains:
            found.append(f"the {canary.name} answer is {'' if said.abstained else 'not '}taken for a refusal")
    return found


async def _said(judge: Tried, canary: Canary) -> Said:
    # Past what spares a judge an empty answer: it is to show what it makes of one.
    judgement = await judge.judge(canary.question, canary.answer)
    scores = {"answer_correctness": judgement.answer_correctness, "groundedness": judgement.groundedness}
    given = {score: value for score, value in scores.items() if value is not None}
    if lacking := sorted(canary.good.keys() - given.keys()):
        raise JudgeReplyError(f"the judgement of the {canary.name} answer has no {' and no '.join(lacking)}.")
    return Said(canary=canary.name, scores=given, abstained=judgement.abstained, error_message=judgement.error_message)


def _pairs(trial: Trial) -> Sequence[tuple[Canary, Said]]:
    by_name = {canary.name: canary for canary in canaries()}
    return [(by_name[said.canary], said) for said in trial.said]
