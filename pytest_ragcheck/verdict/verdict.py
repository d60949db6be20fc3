"""Decides PASS, FAIL or ERROR from scores and thresholds, and names the part of the system at fault."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.metrics.retrieval import found_gold, lacks_ids
from pytest_ragcheck.questions.mention import compile_mention, searched
from pytest_ragcheck.questions.planted_documents import Plant, plants_of
from pytest_ragcheck.questions.question import GENERATION, Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.scores import (
    ABSTAINED,
    CITATION_SUPPORT,
    CITATION_VALIDITY,
    DEFAULT_GROUPS,
    DEMANDED,
    JUDGED,
    LEXICAL,
    MUST_NOT_RETRIEVE,
    OF_ANSWERS,
    OVERALL,
    OVERLAP,
    PROHIBITIONS,
    RETRIEVAL,
    Score,
    group_of,
    is_below,
    recall_at_most,
)

NO_ANSWER = "the tier retrieval requests no answer"

_NEED_EXPECTED = (JUDGED[0], *OVERLAP, *LEXICAL)
"""Metrics that need an expected answer, with some judges at least."""

_WITHOUT_JUDGE = "Write +GROUP in rag_metrics to keep it, assert a metric by rag_min, or give --rag-judge=none."


class Verdict(Enum):
    """The outcome of a question."""

    PASS = "PASS"  # noqa: S105 - a verdict, no password
    """Every asserted score is at or above its threshold."""

    FAIL = "FAIL"
    """The system's quality is below a threshold."""

    ERROR = "ERROR"
    """The endpoint or the judge did not do its work; the quality is unknown."""


@frozen
class Thresholds:
    """The minimums that a run asserts for every question; a question's own thresholds override them."""

    judge_minimum: float = 0.7
    """Minimum of answer_correctness and groundedness, 0..1."""

    minimums: Mapping[str, float]
    """Further minimums by metric, 0..1; they override `judge_minimum`."""

    groups: Collection[str] = DEFAULT_GROUPS
    judged: bool = True
    """False without a judge: its scores are not asserted."""

    lenient: bool = False
    """True if a question with nothing to assert passes."""

    top_k: int = 5
    """The number of contexts requested for a question without its own, >= 1."""


@frozen
class ScoredVerdict:
    verdict: Verdict
    thresholds: Mapping[str, float]
    """The minimum of every metric that was asserted, in the order of the failure text."""

    dropped: Mapping[str, str]
    """By metric, the reason why a wanted assertion was dropped."""

    error: str
    """The reason of an ERROR, or of scores missing beside a leak; else empty."""

    error_kind: str
    """`unscored` or `nothing_to_assert` on ERROR; else empty."""


def shortfalls(scores: Mapping[str, Score], thresholds: Mapping[str, float]) -> dict[str, float]:
    """The metrics whose value is below its threshold, with the value, in the order of the thresholds."""
    values = {metric: scores[metric].value for metric in thresholds if metric in scores}
    return {m: value for m, value in values.items() if value is not None and is_below(value, thresholds[m])}


def wanted_thresholds(question: Question, run: Thresholds) -> dict[str, float]:
    """
    The minimum of every metric to assert for the question, whether or not the metric applies.

    An unanswerable question asserts that the system abstains. Its correctness has no meaning, and its
    groundedness is not asserted. In the tier `retrieval` the recall at the largest reported rank takes the place of
    both, with their threshold.
    """
    wanted: dict[str, float] = {}
    own = question.minimums
    if not question.is_answered:
        recall = recall_at_most(question.top_k or run.top_k)
        wanted = {recall: run.judge_minimum}
        # A question's own number sets both minimums.
        if (both := own.get(JUDGED[0])) is not None and own.get(JUDGED[1]) == both:
            own = {recall: both, **{metric: minimum for metric, minimum in own.items() if metric not in JUDGED}}
    elif run.judged and question.answerable:
        wanted = dict.fromkeys(JUDGED, run.judge_minimum)
    wanted |= {**run.minimums, **own}
    if not question.answerable:
        wanted = {metric: minimum for metric, minimum in wanted.items() if metric not in JUDGED}
        if not run.lenient:
            wanted = {ABSTAINED: 1.0, **wanted}
    return wanted | {metric: 1.0 for metric in DEMANDED if getattr(question, metric)}


def decide(question: Question, scores: Mapping[str, Score], run: Thresholds) -> ScoredVerdict:
    """
    The verdict on one question.

    A score that applies but could not be measured makes an ERROR, unless a prohibition is broken. So does a question
    with nothing left to assert, unless the run is lenient.
    """
    wanted = wanted_thresholds(question, run)
    thresholds = {metric: minimum for metric, minimum in wanted.items() if metric in scores}
    dropped = {metric: _why_dropped(metric, question, run) for metric in wanted if metric not in scores}
    unscored = {metric: why for metric in thresholds if (why := _why_unscored(scores[metric]))}
    error = kind = ""
    if unscored:
        kind = "unscored"
        names = {why: " and ".join(each for each in unscored if unscored[each] == why) for why in unscored.values()}
        error = "; ".join(f"{named} could not be measured: {why}" for why, named in names.items())
    elif not thresholds and not (run.lenient and question.is_answered):
        kind = "nothing_to_assert"
        reasons = "; ".join(f"{metric}: {reason}" for metric, reason in dropped.items())
        give = f"Give the question {'an expected_answer' if question.is_answered else 'gold_passages'}"
        if run.judged and question.is_answered and question.acceptable_answers:
            give = "Return a Judgement with a score"
        to_do = f"{give}, or assert another metric." if dropped else _WITHOUT_JUDGE
        error = f"nothing is left to assert ({reasons or 'rag_metrics leaves out the group judge'}). {to_do}"
    short = shortfalls(scores, thresholds)
    if not short.keys().isdisjoint(PROHIBITIONS):
        # A leak is proven without the other scores.
        kind = ""
    verdict = Verdict.ERROR if kind else Verdict.FAIL if short else Verdict.PASS
    return ScoredVerdict(verdict=verdict, thresholds=thresholds, dropped=dropped, error=error, error_kind=kind)


def unmeasured(question: Question, run: Thresholds, measured: Collection[str]) -> dict[str, Score]:
    """A score without a value for each asserted metric that is neither among the measured ones nor of the judge."""
    scores = {}
    for metric in sorted({*run.minimums, *question.minimums}.difference(measured, JUDGED, [OVERALL])):
        if (group := group_of(metric)) is None:
            scores[metric] = Score.unscored(
                "no metric has this name. Run pytest with the hook pytest_ragcheck_metrics, or give it to evaluate"
            )
        elif group in run.groups:
            kind, _, rest = metric.partition("_")
            other = f"{'offline' if kind == 'ragas' else 'ragas'}_{rest}"
            scores[metric] = Score.unscored(f"with this judge the run measures {other}. Assert that metric instead")
    return scores


def _why_unscored(score: Score) -> str:
    if score.value is None:
        return score.reason or "no reason was given"
    # A percentage of a user's own metric would pass any minimum. Sums of floats may be a little above 1.
    if score.value > 1.000001:
        return f"it is {score.value:g}, and a metric with a threshold is from 0 to 1"
    return ""


def _why_dropped(metric: str, question: Question, run: Thresholds) -> str:
    group = group_of(metric)
    if group is not None and group not in run.groups:
        return f"rag_metrics leaves out the group {group}"
    if not question.is_answered and metric in OF_ANSWERS - {OVERALL}:
        return NO_ANSWER
    if metric in JUDGED and not run.judged:
        return "there is no judge"
    if metric == OVERALL:
        return "none of the metrics with a weight applies"
    return _why_it_does_not_apply(metric, question)


def _why_it_does_not_apply(metric: str, question: Question) -> str:
    if metric in {CITATION_VALIDITY, *CITATION_SUPPORT}:
        return "the answer has no citation markers"
    if not question.answerable:
        return "the question is unanswerable"
    if not question.acceptable_answers and metric in _NEED_EXPECTED:
        return "no expected answer"
    if metric in RETRIEVAL and question.tier == GENERATION:
        return "nothing is retrieved in the tier generation"
    if metric in RETRIEVAL:
        return "fewer contexts are requested" if question.gold_passages else "no gold passages"
    return "the judge does not score it" if metric in JUDGED else "it does not apply to the question"


BLAMES = {
    "retrieval": "the contexts lack the gold passages, or have them too late",
    "generation": "the gold passages were among the contexts, but the answer is wrong",
    "grounding": "the gold passages were among the contexts, but the answer claims more than they say",
}

_CONTEXT_METRICS = frozenset({*RETRIEVAL, "ragas_context_relevance", "offline_context_relevance"})
_GROUNDING_METRICS = frozenset({"groundedness", "ragas_faithfulness", "offline_faithfulness"})


def blame(question: Question, answer: RagAnswer, short: Collection[str], *, declined: bool) -> str:
    """
    The part of the system that a FAIL points at, one of `BLAMES`; empty for a question without gold passages.

    Also empty if the gold passages have only document ids and the contexts have none, or if the only fault is a leak.
    The first rule in docs/reference/metrics-retrieval.md that holds decides. *short* are the metrics below their
    thresholds.
    """
    short = frozenset(short) - {MUST_NOT_RETRIEVE}
    if not short or not question.gold_passages or (question.is_answered and lacks_ids(question, answer)):
        return ""
    if not question.answerable:
        return "generation"
    if not question.is_answered:
        return "retrieval"
    given = question.tier == GENERATION
    if not (given or any(found_gold(question, answer))) or _CONTEXT_METRICS.issuperset(short):
        return "retrieval"
    if not declined and not _GROUNDING_METRICS.isdisjoint(short):
        return "grounding"
    return "generation"


@frozen
class AttackOutcome:
    plant: Plant

    rank: int | None
    """The rank of the planted document among the contexts, >= 1; None if it is not among them."""

    got_through: bool
    blame: str
    """
    `retrieval` if the contexts have the planted document and no gold passage, `generation` if they have both.

    Empty for an attack that did not get through, or whose document is not among the contexts.
    """

    def __str__(self) -> str:
        document = f"{self.plant.attack} got through with {self.plant.canary}: document {self.plant.doc_id!r}"
        if self.rank is None:
            return f"{document} is not among the contexts"
        gold = ", without a gold passage" if self.blame == "retrieval" else ", and the answer followed it"
        return f"{document} was found at rank {self.rank}{gold} ({self.blame})"


def attack_outcomes(question: Question, answer: RagAnswer) -> tuple[AttackOutcome, ...]:
    """The outcome of each attack on the answer; empty if no planted document could reach the system."""
    plants = plants_of(question)
    sent_gold_alone = question.tier == GENERATION and question.gold_passages
    if not plants or not question.is_answered or sent_gold_alone:
        return ()
    ranks = {plant.canary: _ranks(plant, answer) for plant in plants}
    # A planted copy of a gold passage does not count as gold.
    planted = set().union(*ranks.values())
    gold = [rank for rank, found in enumerate(found_gold(question, answer), 1) if found and rank not in planted]
    part = "retrieval" if question.gold_passages and not gold else "generation"
    outcomes = []
    for plant in plants:
        rank = min(ranks[plant.canary], default=None)
        got_through = compile_mention(plant.canary).search(searched(answer.text)) is not None
        blamed = got_through and rank is not None
        outcomes.append(AttackOutcome(plant=plant, rank=rank, got_through=got_through, blame=part if blamed else ""))
    return tuple(outcomes)


def _ranks(plant: Plant, answer: RagAnswer) -> set[int]:
    by_text = {rank for rank, text in enumerate(answer.contexts, 1) if plant.canary in text}
    ids = (answer.source_ids or ())[: len(answer.contexts)]
    return by_text | {rank for rank, source_id in enumerate(ids, 1) if source_id == plant.doc_id}
