"""ROUGE-L against Google's rouge_score, chrF against its description."""

from __future__ import annotations

from collections import Counter
from statistics import fmean
from typing import Any

from pytest_ragcheck.metrics.similarity import chrf, rouge_l

from .comparison import check, program
from .texts import ASCII, UNICODE, pairs

CASES = 5_000


def test_rouge_l_is_that_of_rouge_score() -> None:
    scorer: Any = program("rouge_score.rouge_scorer").RougeScorer(["rougeL"], use_stemmer=False)
    program("rapidfuzz")
    largest = 0.0
    for answer, accepted in pairs(ASCII, CASES, seed=11):
        theirs = scorer.score_multi(accepted, answer)["rougeL"].fmeasure
        largest = max(largest, abs(rouge_l(answer, accepted) - theirs))
    check("rouge_l", cases=CASES, largest=largest)


def test_chrf_is_what_its_description_says() -> None:
    program("sacrebleu")
    largest = 0.0
    for answer, accepted in pairs(UNICODE, CASES, seed=13):
        theirs = max(described_chrf(answer, text) for text in accepted)
        largest = max(largest, abs(chrf(answer, accepted) - theirs))
    check("chrf", cases=CASES, largest=largest)


def described_chrf(answer: str, accepted: str) -> float:
    """Precision and recall of the runs of 1 to 6 characters, each averaged over the lengths that both texts have."""
    left, right = ("".join(text.split()) for text in (answer, accepted))
    precisions, recalls = [], []
    for n in range(1, 7):
        ours, theirs = (Counter(text[i : i + n] for i in range(len(text) - n + 1)) for text in (left, right))
        if ours and theirs:
            common = (ours & theirs).total()
            precisions.append(common / ours.total())
            recalls.append(common / theirs.total())
    if not sum(precisions):
        return 0.0
    precision, recall = fmean(precisions), fmean(recalls)
    return 5 * precision * recall / (4 * precision + recall)
