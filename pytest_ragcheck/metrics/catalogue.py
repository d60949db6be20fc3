"""The metrics there are, the groups that a run measures them by, and which a threshold may name."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

JUDGED = ("answer_correctness", "groundedness")
"""The judge's two scores, asserted by default."""

ABSTAINED = "abstained"
"""1.0 where the system declined to answer, else 0.0; asserted at 1.0 on unanswerable questions."""

MENTIONS = ("must_mention", "must_not_mention")
"""Share of the demanded mentions that are there, and of the forbidden ones that are not; asserted at 1.0."""

OVERLAP = ("exact_match", "f1")
"""Against the acceptable answers, by the SQuAD v2 rules."""

LEXICAL = ("rouge_l", "chrf")
"""Against the acceptable answers, by order of words and by parts of words."""

RAGAS = ("ragas_answer_relevancy", "ragas_answer_correctness", "ragas_context_relevance", "ragas_faithfulness")
"""By the formulas of the ragas library, from what a model finds."""

RAGAS_BY_EMBEDDINGS = RAGAS[:2]
"""Those that compare meanings too."""

NO_EMBEDDING_MODEL = "there is no embedding model: set rag_embedding_model"
"""Why they could not be measured."""

RAGAS_STAND_INS = (
    "offline_answer_relevancy", "offline_answer_correctness", "offline_context_relevance", "offline_faithfulness",
)  # fmt: skip
"""In their place where there is no model: by counting words."""

SEMANTIC = ("embedding_similarity",)
"""Against the acceptable answers, by the meaning of the whole texts."""

BERTSCORE = ("bertscore_precision", "bertscore_recall", "bertscore_f1")
"""Against the acceptable answers, by the meaning of words in their context."""

CUTOFFS = (1, 3, 5, 10)
"""The ranks up to which retrieval is measured, as far as so many contexts are asked for."""

RETRIEVAL = (
    *(f"{measure}_at_{k}" for measure in ("recall", "precision", "ndcg", "hit_rate") for k in CUTOFFS),
    "mrr",
    "map",
)
"""Of the contexts against the gold passages."""

OVERALL = "overall_score"
"""Weighted mean of other metrics."""

DEFAULT_WEIGHTS: Mapping[str, float] = MappingProxyType(dict(zip(RAGAS, (0.30, 0.30, 0.25, 0.15), strict=True)))
"""What `overall_score` is made of where a run was told nothing else."""

GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "judge": JUDGED,
        "overlap": OVERLAP,
        "lexical": LEXICAL,
        "retrieval": RETRIEVAL,
        "abstention": (ABSTAINED,),
        "performance": (),
        "ragas": (*RAGAS, *RAGAS_STAND_INS),
        "semantic": SEMANTIC,
        "bertscore": BERTSCORE,
    }
)
"""What `rag_metrics` may name, with the metrics of a question that each measures; `performance` is of whole runs."""

DEFAULT_GROUPS = ("judge", "overlap", "retrieval", "abstention", "performance")
"""What a run measures that was told nothing else."""

LOCAL_PACKAGES = ("torch", "transformers")
"""What models in this process need."""

EXTRAS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"lexical": ("rapidfuzz", "sacrebleu"), "bertscore": LOCAL_PACKAGES}
)
"""By group that is an extra of its own name, the packages that it needs."""

JUDGE_GROUPS = frozenset({"judge", "ragas"})
"""Those that somebody has to be chosen for as the judge, be it `none`."""

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
    *MENTIONS,
)
"""All of them, in the order in which they are shown; of each, higher is better."""

ASSERTABLE = tuple(metric for metric in METRICS if metric not in {ABSTAINED, *MENTIONS})
"""What `--rag-min` and a question's `thresholds` may name; the others are asserted by the question itself."""


def listed(metrics: Iterable[str]) -> str:
    """The metrics for a person to choose from; those that differ in their cutoff only, once, with `K` for it."""
    return ", ".join(dict.fromkeys(re.sub(r"_at_\d+$", "_at_K", metric) for metric in metrics))


def group_of(metric: str) -> str | None:
    """The group that measures the metric; None for mentions, the weighted score and users' own."""
    return next((group for group, metrics in GROUPS.items() if metric in metrics), None)
