"""
Embeddings by a local model against sentence-transformers, by a tiny model of random numbers that the tests make.

    tox run -e oracles-bertscore
"""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.errors import JudgeError
from pytest_ragcheck.judging.embeds import LocalEmbeddings
from pytest_ragcheck.judging.judge_choice import choose_embeddings
from pytest_ragcheck.metrics.metric_choice import choose_metrics
from pytest_ragcheck.rag.answer import RagAnswer
from tests.making import a_question
from tests.oracles.comparison import check, program
from tests.oracles.tiny_model import some_text

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore")
CASES = 300


def similarity(model: Path, pairs: list[tuple[str, str]]) -> list[float]:
    """The metric `embedding_similarity` of answers and expected ones, as a run has it."""
    settings = Settings.of(metrics=("semantic",), embedding_model=f"local:{model}")
    metric, *_ = choose_metrics(settings)

    async def measured() -> list[float]:
        found: list[Any] = []
        for answer, expected in pairs:
            scores = await metric.score(a_question(expected_answer=expected), RagAnswer(text=answer))
            found.append(scores["embedding_similarity"].value)
        return found

    return asyncio.run(measured())


def test_it_is_that_of_sentence_transformers(model: Path) -> None:
    theirs = program("sentence_transformers").SentenceTransformer(str(model))
    rng = random.Random(3)
    pairs = [(some_text(rng), some_text(rng)) for _ in range(CASES)]
    answers, expected = (theirs.encode(list(side), normalize_embeddings=True) for side in zip(*pairs, strict=True))
    cosines = (answers.astype("float64") * expected.astype("float64")).sum(axis=1).tolist()
    worst = max(abs(a - b) for a, b in zip(similarity(model, pairs), cosines, strict=True))
    check("embedding_similarity by a local model", cases=CASES, largest=worst)
    assert worst < 1e-6


def test_a_vector_is_the_mean_over_the_pieces_that_a_batch_does_not_pad(model: Path) -> None:
    torch, transformers = program("torch"), program("transformers")
    texts = ["thirty days", "the refund window is free for members", "days " * 60]
    batch = transformers.AutoTokenizer.from_pretrained(model)(
        texts, padding=True, truncation=True, max_length=32, return_tensors="pt"
    )
    with torch.no_grad():
        outputs = transformers.AutoModel.from_pretrained(model).eval()(**batch).last_hidden_state
    mask = batch["attention_mask"].unsqueeze(-1)
    means = ((outputs * mask).sum(dim=1) / mask.sum(dim=1)).tolist()
    ours = asyncio.run(LocalEmbeddings(str(model)).embed(texts))
    for text, mean in zip(texts, means, strict=True):
        assert ours[text] == pytest.approx(mean, abs=1e-6)


def test_a_text_that_is_empty_or_holds_a_lone_surrogate_has_a_vector_too(model: Path) -> None:
    texts = ["", "thirty \ud800 days", "thirty ? days"]
    vectors = asyncio.run(choose_embeddings(Settings.of(embedding_model=f"local:{model}")).embed(texts))
    assert [len(vectors[text]) for text in texts] == [16, 16, 16]
    assert vectors[texts[1]] == pytest.approx(vectors[texts[2]])


def test_a_model_that_cannot_be_loaded_is_said_by_the_name_that_was_given(model: Path) -> None:
    embeddings = LocalEmbeddings(f"{model}/nowhere")
    with pytest.raises(JudgeError, match=f"^the model '{model}/nowhere' of rag_embedding_model cannot be loaded: "):
        asyncio.run(embeddings.embed(["a"]))
