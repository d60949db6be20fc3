"""The metrics that a threshold may name, and what each needs."""

from __future__ import annotations

JUDGED = ("answer_correctness", "groundedness")
"""The judge's two scores, asserted by default."""

ABSTAINED = "abstained"
"""1.0 where the system declined to answer, else 0.0; asserted at 1.0 on unanswerable questions."""

MENTIONS = ("must_mention", "must_not_mention")
"""Share of the demanded mentions that are there, and of the forbidden ones that are not; asserted at 1.0."""

OVERLAP = ("exact_match", "f1")
"""Against the acceptable answers, by the SQuAD v2 rules."""

METRICS = (*JUDGED, *OVERLAP, ABSTAINED, *MENTIONS)
"""All of them, in the order in which they are shown; every value is in 0..1, and higher is better."""

ASSERTABLE = (*JUDGED, *OVERLAP)
"""What `--rag-min` and a question's `thresholds` may name; the others are asserted by the question itself."""
