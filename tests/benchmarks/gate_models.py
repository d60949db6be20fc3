"""Models of a system and its judge over days, for the simulation of the gate."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pytest_ragcheck.summary.gate.procedure.candidate import ASKS
from pytest_ragcheck.summary.gate.procedure.compared_question import (
    AskAgain,
    ComparedQuestion,
    KnownRun,
    Look,
    Reply,
    Request,
)

if TYPE_CHECKING:
    import random

GOOD, BAD = 0.9, 0.3
"""True levels of an answer; a question passes from 0.7 on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One row of the table: the noise of a system and of a judge, and today's change."""

    title: str
    judge_sd: float = 0.05
    """Standard deviation of one judgement of one answer."""

    judge: str = "normal"
    """
    Shape of the judge's noise: `normal`, `three` (scores 0, 0.5 and 1), `saturated`, `heavy` (t3, uneven), or
    `unbounded`.
    """

    judge_day_sd: float = 0.0
    """Standard deviation of the judge's level between days."""

    metrics: int = 2
    shared_judge_noise: bool = False
    """True if all metrics of one judgement have most of their noise in common."""

    free_wording: bool = False
    """True if every answer has other words."""

    flaky_share: float = 0.0
    """Share of the questions that are bad by look or by day."""

    look_rate: float = 0.0
    """How often a flaky question is bad, look by look."""

    day_rate: float = 0.0
    """How often a flaky question is bad, day by day."""

    document_size: int = 0
    """Questions of one document; 0 for questions without documents."""

    document_sd: float = 0.0
    """Standard deviation of a document's level between days."""

    declared: bool = True
    threshold: float = 0.7
    edited: float = 0.0
    """Share of the questions whose labels were edited; they are not compared."""

    unasserted_drop: float = 0.0
    """By how much a metric without a threshold is lower today: f1 of wordier answers, recall by renamed ids."""

    broken: int = 0
    """Questions that fail today and from now on."""

    broken_share: float = 0.0
    broken_level: float = BAD
    lost_document: bool = False
    """True if the first document is gone today."""

    drop: float = 0.0
    """By how much every answer is worse today."""

    lenient: float = 0.0
    """By how much the judge's level is higher today."""

    def with_free_wording(self) -> Model:
        """The same with other words in every answer."""
        return replace(self, title=f"{self.title}, free wording", free_wording=True)

    def with_lenient_judge(self) -> Model:
        """The same with a judge that is 0.03 more lenient today."""
        return replace(self, title=f"{self.title}, judge +0.03", lenient=0.03)


@dataclass(slots=True)
class World:
    """One system, one judge and one set of questions, from the first saved run to today."""

    model: Model
    size: int
    known: int
    chance: random.Random
    levels: list[float] = field(init=False)
    flaky: list[bool] = field(init=False)
    worse: set[int] = field(init=False)
    answers: dict[str, float] = field(default_factory=dict)
    """The true level of each answer."""

    looks: dict[str, Look] = field(default_factory=dict)
    """The recorded look of each answer, whose scores stand."""

    days: dict[tuple[str, int, int], float] = field(default_factory=dict)
    asks: int = 0
    judgements: int = 0

    def __post_init__(self) -> None:
        model, chance = self.model, self.chance
        self.levels = [_level(chance.random()) for _ in range(self.size)]
        self.flaky = [chance.random() < model.flaky_share for _ in range(self.size)]
        self.worse = set()
        if model.lost_document:
            self.worse = set(range(model.document_size))
        elif count := model.broken or round(model.broken_share * self.size):
            self.worse = set(chance.sample(range(self.size), count))
        # A question that never passed cannot break.
        for number in self.worse:
            self.levels[number] = GOOD

    def ask(self, number: int, day: int) -> str:
        """The answer of one look."""
        model = self.model
        self.asks += 1
        level, text = self.levels[number], str(number)
        today = day == self.known
        if today and number in self.worse:
            level, text = model.broken_level, f"{text} broken"
        elif self._is_bad(number, day):
            level, text = BAD, f"{text} bad"
        if today and model.drop:
            level, text = level - model.drop, f"{text} dropped"
        if model.document_sd:
            level += self._of_day("document", number // model.document_size, day, model.document_sd)
        if model.free_wording or (model.look_rate and text.endswith("bad")):
            text = f"{text} {len(self.answers)}"
        self.answers[text] = level
        return text

    def judge(self, answer: str, day: int) -> tuple[float, ...]:
        """A fresh judgement of an answer, by metric."""
        model, chance = self.model, self.chance
        self.judgements += 1
        level = self.answers[answer] + (model.lenient if day == self.known else 0.0)
        if model.judge_day_sd:
            level += self._of_day("judge", 0, day, model.judge_day_sd)
        if model.judge == "normal" and not model.shared_judge_noise:
            gauss, noise = chance.gauss, model.judge_sd
            scores = [gauss(level, noise) for _ in range(model.metrics)]
            return tuple([0.0 if score < 0 else 1.0 if score > 1 else score for score in scores])
        shared = chance.gauss(0, 1)
        return tuple([self._score(level, shared) for _ in range(model.metrics)])

    def look(self, number: int, day: int) -> Look:
        """One look as a run records it: an answer that is known keeps its scores."""
        answer = self.ask(number, day)
        found = self.looks.get(answer)
        if found is None:
            scores = self.judge(answer, day)
            passed = min(scores) >= self.model.threshold
            found = Look(answer=answer, scores=self._named(scores, day), passed=passed, fresh=day == self.known)
            self.looks[answer] = found
        return found

    def questions(self) -> list[ComparedQuestion]:
        """All runs up to today."""
        runs = [[self._saved(number, day) for number in range(self.size)] for day in range(self.known)]
        model = self.model
        thresholds = dict.fromkeys(METRICS[: model.metrics], model.threshold)
        edited = round(model.edited * self.size)
        found = []
        for number in range(self.size):
            document = frozenset({str(number // model.document_size)}) if model.document_size else frozenset()
            if number >= edited:
                found.append(
                    ComparedQuestion(
                        key=("simulated", str(number)),
                        thresholds=thresholds,
                        known=tuple(run[number] for run in runs),
                        now=self.look(number, self.known),
                        documents=document if model.declared else frozenset(),
                        context_documents=document,
                    )
                )
        self.asks = self.judgements = 0
        return found

    def serve(self, request: Request) -> Reply:
        """Today's replies to the requests of the gate."""
        if isinstance(request, AskAgain):
            return self.look(int(request.key[1]), self.known)
        return tuple([self._named(self.judge(answer, self.known), self.known) for answer in request.answers])

    def _named(self, scores: tuple[float, ...], day: int) -> dict[str, float]:
        named = dict(zip(METRICS, scores, strict=False))
        if self.model.unasserted_drop:
            named["unasserted"] = 1.0 - (self.model.unasserted_drop if day == self.known else 0.0)
        return named

    def _saved(self, number: int, day: int) -> KnownRun:
        looks = [self.look(number, day)]
        while not looks[-1].passed and len(looks) <= ASKS:
            looks.append(self.look(number, day))
        return KnownRun(looks=tuple(looks))

    def _is_bad(self, number: int, day: int) -> bool:
        model = self.model
        if not self.flaky[number]:
            return False
        if model.look_rate:
            return self.chance.random() < model.look_rate
        key = "bad", number, day
        if key not in self.days:
            self.days[key] = float(self.chance.random() < model.day_rate)
        return bool(self.days[key])

    def _of_day(self, kind: str, number: int, day: int, deviation: float) -> float:
        key = kind, number, day
        if key not in self.days:
            self.days[key] = self.chance.gauss(0, deviation)
        return self.days[key]

    def _score(self, level: float, shared: float) -> float:
        model, chance = self.model, self.chance
        noise = chance.gauss(0, 1)
        if model.shared_judge_noise:
            noise = 0.95 * shared + math.sqrt(1 - 0.95**2) * noise
        if model.judge == "heavy":
            # Student's t with 3 degrees of freedom, scaled to a variance of 1, wider at lower levels.
            noise *= (2 - level) / math.sqrt(chance.gammavariate(1.5, 2))
        if model.judge == "saturated":
            level += 0.1
        score = level + model.judge_sd * noise
        if model.judge == "unbounded":
            # A drop of the level is a drop of the mean: no score is cut off at 1.
            return score
        score = min(1.0, max(0.0, score))
        return round(2 * score) / 2 if model.judge == "three" else score


METRICS = tuple(f"metric_{number}" for number in range(20))


def _level(share: float) -> float:
    """Of ten questions eight are good, one is at the usual threshold and one is bad."""
    return GOOD if share < 0.8 else 0.7 if share < 0.9 else 0.4


NULL = (
    Model(title="judge 0.05, same answers"),
    Model(title="judge 0.15, same answers", judge_sd=0.15),
    Model(title="scores 0, 0.5 and 1", judge="three", judge_sd=0.15).with_free_wording(),
    Model(title="saturated at 1", judge="saturated", judge_sd=0.1).with_free_wording(),
    Model(title="heavy tails, uneven", judge="heavy").with_free_wording(),
    Model(title="judge 0.05").with_free_wording(),
    Model(title="judge 0.15", judge_sd=0.15).with_free_wording(),
    Model(title="20 % bad on 25 % of looks", flaky_share=0.2, look_rate=0.25),
    Model(title="20 % bad on 75 % of looks", flaky_share=0.2, look_rate=0.75),
    Model(title="20 % bad on 25 % of days", flaky_share=0.2, day_rate=0.25),
    Model(title="each bad on 5 % of days", flaky_share=1.0, day_rate=0.05),
    Model(title="each bad on 10 % of days", flaky_share=1.0, day_rate=0.10),
    Model(title="each bad on 25 % of days", flaky_share=1.0, day_rate=0.25),
    Model(title="judge's level 0.01 by day", judge_day_sd=0.01).with_free_wording(),
    Model(title="judge's level 0.02 by day", judge_day_sd=0.02).with_free_wording(),
    Model(title="documents 0.05 by day, declared", document_size=10, document_sd=0.05).with_free_wording(),
    Model(title="20 correlated metrics", metrics=20, shared_judge_noise=True).with_free_wording(),
    Model(title="15 % of labels edited", edited=0.15).with_free_wording(),
    Model(title="threshold raised to 0.95", threshold=0.95).with_free_wording(),
    Model(title="judge -0.03 today, same answers", lenient=-0.03),
    Model(title="right but wordier, f1 -0.4", unasserted_drop=0.4).with_free_wording(),
    Model(title="ids renamed, recall -1, same answers", unasserted_drop=1.0),
)
"""Nothing changed, or nothing that is the system's fault."""

OUTSIDE = (
    Model(
        title="documents 0.05 by day, not declared", document_size=10, document_sd=0.05, declared=False
    ).with_free_wording(),
    Model(title="documents 0.1 by day, declared", document_size=10, document_sd=0.1).with_free_wording(),
    Model(title="documents without noise, not declared", document_size=10, declared=False).with_free_wording(),
)
"""Models outside of the gate's promise, and one whose documents share no noise."""


def broken(count: int) -> tuple[Model, ...]:
    """So many questions broken for good."""
    one = Model(title=f"{count} broken", broken=count)
    both = one, one.with_free_wording()
    return (*both, *(each.with_lenient_judge() for each in both))
