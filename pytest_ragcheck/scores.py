"""Defines `Score`, a measured number or the reason why there is none, and names all metrics and their groups."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from pytest_ragcheck.frozen import frozen

LARGEST = 1e100
"""The largest absolute value of a score; the square of a larger one may exceed the range of a float."""


def number(value: object) -> float:
    """The value as a float, also of NumPy numbers and Decimals; NaN, which is in no range, for others."""
    try:
        return math.nan if isinstance(value, str | bytes) else float(value)  # type: ignore[arg-type]
    except Exception:
        return math.nan  # PyTorch raises RuntimeError


@dataclass(frozen=True, slots=True)
class Score:
    """
    The value of one metric for one question, which metrics return and assertions compare.

    Three cases are distinct. A metric that does not apply has no `Score`. A metric that could not be measured has
    `Score.unscored(reason)`. A measured metric has a value, which may be 0.0.
    """

    value: float | None
    """At most `LARGEST` in absolute value; None if the metric could not be measured."""

    reason: str = ""
    """The reason why the metric could not be measured; empty if it was."""

    findings: tuple[str, ...] = ()
    """The texts that lower the value: mentions or documents of the question, or citations; for the failure text."""

    def __post_init__(self) -> None:
        if self.value is None:
            return
        value = number(self.value)
        if not abs(value) <= LARGEST:
            raise ValueError(f"a score is a number from -{LARGEST} to {LARGEST}, not {self.value!r}")
        object.__setattr__(self, "value", value + 0.0)  # -0.0 would be shown with its sign

    @classmethod
    def unscored(cls, reason: str) -> Score:
        """The score of a metric that applies but could not be measured."""
        return cls(None, reason)

    @classmethod
    def of(cls, formula: Callable[[], float]) -> Score:
        """The score of the formula, or an unscored one with the text of the formula's ValueError."""
        try:
            return cls(formula())
        except ValueError as undefined:
            return cls.unscored(str(undefined))


def is_below(value: float, minimum: float) -> bool:
    """True if the value is below the minimum in the six decimals that result files have."""
    return not round(value, 6) >= round(minimum, 6)


def measured_values(scores: Mapping[str, Score]) -> dict[str, float]:
    return {metric: score.value for metric, score in scores.items() if score.value is not None}


@frozen
class Overall:
    score: Score
    lacks: tuple[str, ...]
    """The weighted metrics without a result, in the order of the weights."""


def weighted(scores: Mapping[str, Score], weights: Mapping[str, float]) -> Overall | None:
    """
    The weighted mean of the metrics that have results, between the smallest and the largest result.

    The mean is unscored if metrics apply but none could be measured, and None if none applies. The weights are > 0;
    their sum does not matter.
    """
    applying = {metric: scores[metric] for metric in weights if metric in scores}
    if not applying:
        return None
    measured = measured_values(applying)
    lacks = tuple(metric for metric in weights if metric not in measured)
    if not measured:
        return Overall(score=Score.unscored(f"none of {', '.join(applying)} could be measured"), lacks=lacks)
    total = math.fsum(weights[metric] for metric in measured)
    mean = math.fsum(weights[metric] * value for metric, value in measured.items()) / total
    # Rounding can move a mean of equal numbers out of their range.
    return Overall(score=Score(min(max(mean, min(measured.values())), max(measured.values()))), lacks=lacks)


JUDGED = ("answer_correctness", "groundedness")
"""The two scores of the judge, asserted by default."""

ABSTAINED = "abstained"
"""1.0 if the system abstained, else 0.0; asserted at 1.0 for unanswerable questions."""

MENTIONS = ("must_mention", "must_not_mention")
"""Shares of required mentions in the answer, and of forbidden mentions absent from it; asserted at 1.0."""

MUST_CITE = "must_cite"
"""Share of the documents that the question names and the answer cites; asserted at 1.0."""

CITATION_VALIDITY = "citation_validity"
"""Share of the answer's citations that resolve to a context."""

CITATION_SUPPORT = ("citation_precision", "citation_recall")
"""Shares of citations that support their sentence, and of sentences that their citations support, as in ALCE."""

MUST_NOT_RETRIEVE = "must_not_retrieve"
"""Share of the forbidden documents that neither contexts nor answer come from; asserted at 1.0."""

DEMANDED = (*MENTIONS, MUST_NOT_RETRIEVE, MUST_CITE)
"""Metrics that a question asserts at 1.0 by a key of the same name."""

PROHIBITIONS = (MENTIONS[1], MUST_NOT_RETRIEVE)

OVERLAP = ("exact_match", "f1")
"""Overlap with the acceptable answers by the rules of SQuAD v2."""

LEXICAL = ("rouge_l", "chrf")
"""Overlap with the acceptable answers by the order of words and by parts of words."""

RAGAS = ("ragas_answer_relevancy", "ragas_answer_correctness", "ragas_context_relevance", "ragas_faithfulness")
"""The formulas of the ragas library, computed from facts that a model lists."""

RAGAS_BY_EMBEDDINGS = RAGAS[:2]

NO_EMBEDDING_MODEL = "there is no embedding model: set rag_embedding_model"
"""The reason in the unscored metrics of `RAGAS_BY_EMBEDDINGS`."""

RAGAS_STAND_INS = (
    "offline_answer_relevancy", "offline_answer_correctness", "offline_context_relevance", "offline_faithfulness",
)  # fmt: skip
"""Substitutes for the RAGAS metrics; the substitutes count words and need no model."""

SEMANTIC = ("embedding_similarity",)
"""Similarity of meaning to the acceptable answers, between whole texts."""

BERTSCORE = ("bertscore_precision", "bertscore_recall", "bertscore_f1")
"""Similarity of meaning to the acceptable answers, between words in their contexts."""

CUTOFFS = (1, 3, 5, 10)
"""The cutoff ranks of retrieval; those above the number of requested contexts are left out."""

RETRIEVAL = (
    *(f"{measure}_at_{k}" for measure in ("recall", "precision", "ndcg", "hit_rate") for k in CUTOFFS),
    "mrr",
    "map",
)
"""Measures of how well the contexts rank the gold passages."""

OVERALL = "overall_score"
"""The weighted mean of other metrics."""

DEFAULT_WEIGHTS: Mapping[str, float] = dict(zip(RAGAS, (0.30, 0.30, 0.25, 0.15), strict=True))

GROUPS: Mapping[str, tuple[str, ...]] = {
    "judge": JUDGED,
    "overlap": OVERLAP,
    "lexical": LEXICAL,
    "retrieval": RETRIEVAL,
    "abstention": (ABSTAINED,),
    "performance": (),
    "ragas": (*RAGAS, *RAGAS_STAND_INS),
    "semantic": SEMANTIC,
    "bertscore": BERTSCORE,
    "citations": CITATION_SUPPORT,
}
"""The groups that `rag_metrics` takes, with their metrics; `performance` measures whole runs."""

DEFAULT_GROUPS = ("judge", "overlap", "retrieval", "abstention", "performance")

LOCAL_PACKAGES = ("torch", "transformers")

EXTRAS: Mapping[str, tuple[str, ...]] = {"lexical": ("rapidfuzz", "sacrebleu"), "bertscore": LOCAL_PACKAGES}
"""The packages that the groups with an extra of the same name need."""

JUDGE_GROUPS = frozenset({"judge", "ragas", "citations"})
"""The groups that need a choice of judge, even if it is `none`."""

METRICS = (
    *JUDGED,
    *RAGAS,
    *RAGAS_STAND_INS,
    OVERALL,
    *OVERLAP,
    *LEXICAL,
    *SEMANTIC,
    *BERTSCORE,
    *RETRIEVAL,
    ABSTAINED,
    *DEMANDED,
    CITATION_VALIDITY,
    *CITATION_SUPPORT,
)
"""All metrics in display order; higher is better for each."""

ASSERTABLE = tuple(metric for metric in METRICS if metric not in {ABSTAINED, *DEMANDED})
"""The metrics that `--rag-min` and a question's `thresholds` accept; other keys of a question assert the rest."""

OF_ANSWERS = frozenset(METRICS).difference(RETRIEVAL, (MUST_NOT_RETRIEVE,))
"""The metrics that need an answer; the tier `retrieval` has none."""

BOUNDED = ("latency_seconds", "first_token_seconds", "cost_usd")
"""The measurements of a question that may have a maximum; lower is better for each."""


def listed(metrics: Iterable[str]) -> str:
    """The metrics as readable text; metrics that differ only in their cutoff appear once, with `K`."""
    return ", ".join(dict.fromkeys(re.sub(r"_at_\d+$", "_at_K", metric) for metric in metrics))


def recall_at_most(top_k: int) -> str:
    """The recall metric with the largest cutoff up to `top_k`, which the tier `retrieval` asserts."""
    return f"recall_at_{max(k for k in CUTOFFS if k <= top_k)}"


def group_of(metric: str) -> str | None:
    """The metric's group; None for metrics of every run, the weighted score and users' metrics."""
    return next((group for group, metrics in GROUPS.items() if metric in metrics), None)
