"""
BERTScore against the program bert-score, by tiny models of random numbers that the tests make.

    tox run -e oracles-bertscore
"""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.errors import MeasurementError
from pytest_ragcheck.metrics.metric import measure
from pytest_ragcheck.metrics.similarity import BertScore
from pytest_ragcheck.rag.answer import RagAnswer
from tests.making import a_question
from tests.oracles.comparison import check, program
from tests.oracles.tiny_model import LAYERS, some_text

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore")
CASES = 300


def ours(metric: BertScore, answer: str, *accepted: str) -> list[float]:
    question = a_question(expected_answer=accepted[0], all_acceptable_answers=tuple(accepted))
    scores: Any = asyncio.run(metric.score(question, RagAnswer(text=answer)))
    assert tuple(scores) == metric.names
    return [score.value for score in scores.values()]


@pytest.mark.parametrize("layer", [1, LAYERS])
def test_it_is_that_of_bert_score(model: Path, layer: int) -> None:
    bert_score = program("bert_score")
    rng = random.Random(layer)
    answers = [some_text(rng) for _ in range(CASES)]
    accepted = [list(dict.fromkeys(some_text(rng) for _ in range(rng.randint(1, 3)))) for _ in range(CASES)]
    theirs = zip(
        *(part.tolist() for part in bert_score.score(answers, accepted, model_type=str(model), num_layers=layer)),
        strict=True,
    )
    metric = BertScore(str(model), None if layer == LAYERS else layer)
    worst = 0.0
    for answer, several, expected in zip(answers, accepted, theirs, strict=True):
        pairs = zip(ours(metric, answer, *several), expected, strict=True)
        worst = max(worst, *(abs(a - b) for a, b in pairs))
    if layer == LAYERS:
        check("bertscore_precision bertscore_recall bertscore_f1", cases=CASES, largest=worst)
    assert worst < 1e-5


def test_equal_texts_match_wholly_and_an_empty_one_not_at_all(model: Path) -> None:
    metric = BertScore(str(model))
    assert ours(metric, "thirty days", "thirty days") == pytest.approx([1, 1, 1], abs=1e-6)
    assert ours(metric, " ", "thirty days") == [0, 0, 0]


def test_it_does_not_apply_without_an_expected_answer(model: Path) -> None:
    assert asyncio.run(BertScore(str(model)).score(a_question(), RagAnswer(text="a"))) == {}


@pytest.mark.parametrize(
    ("name", "layer", "problem"),
    [("", LAYERS + 1, f"it has {LAYERS} layers, not {LAYERS + 1}"), ("/nowhere", None, "")],
)
def test_a_model_that_cannot_be_loaded_is_said_once_for_all(model: Path, name: str, layer: Any, problem: str) -> None:
    metric = BertScore(str(model) + name, layer)
    question = a_question(expected_answer="thirty days")
    texts = set()
    for _ in range(2):
        with pytest.raises(MeasurementError) as caught:
            asyncio.run(metric.score(question, RagAnswer(text="days")))
        texts.add(str(caught.value))
    (text,) = texts
    assert text.startswith(f"the model {str(model) + name!r} of rag_metrics cannot be loaded: ")
    assert problem in text

    class Room:
        async def run(self, operation: Any) -> Any:
            return await operation()

    scores = asyncio.run(measure(metric, question, RagAnswer(text="days"), Room()))
    assert {score.reason for score in scores.values()} == {text}
