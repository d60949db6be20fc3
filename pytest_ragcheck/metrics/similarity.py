"""Measures similarity of meaning to the accepted answers: of whole texts, or of words in their contexts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from pytest_ragcheck.concurrency.tasks import closing
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.embeds import Embeds, LocalModel, Vector, load
from pytest_ragcheck.metrics.ragas.formulas import cosine_similarity
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.scores import BERTSCORE, SEMANTIC, Score

(SIMILARITY,) = SEMANTIC


class Similarity:
    """
    The group `semantic`; it applies to answerable questions with an expected answer.

    The embeddings are closed with the metric.
    """

    names = SEMANTIC
    local = False

    def __init__(self, embeddings: Embeds) -> None:
        self._embeddings = embeddings

    async def score(self, question: Question, answer: RagAnswer) -> dict[str, Score]:
        """
        The similarity, by one request; 0.0 without a request for an empty answer.

        Raises:
            JudgeError: The judge has no embeddings.
        """
        acceptable = question.acceptable_answers
        if not (question.answerable and acceptable):
            return {}
        if not answer.text.strip():
            return {SIMILARITY: Score(0.0)}
        vectors = await self._embeddings.embed([answer.text, *acceptable])
        return {SIMILARITY: Score.of(lambda: nearest(vectors[answer.text], [vectors[each] for each in acceptable]))}

    async def aclose(self) -> None:
        await closing(self._embeddings).aclose()


def nearest(answer: Vector, acceptable: Sequence[Vector]) -> float:
    """
    Cosine similarity of the embeddings of the answer and of the nearest accepted answer; there is at least one.

    Returns:
        -1..1, rarely below 0.

    Raises:
        ValueError: An embedding is all zeros.

    Source: ragas 0.4.3, `SemanticSimilarity`, for one accepted answer.
    """
    return max(cosine_similarity(answer, each) for each in acceptable)


class BertScore:
    """
    The group `bertscore`; it applies to answerable questions with an expected answer.

    The model is loaded for the first answer. *layer* is the layer whose outputs are compared, from 1; None: the last.
    """

    names = BERTSCORE
    local = True

    def __init__(self, model: str, layer: int | None = None) -> None:
        self._model = LocalModel(model, setting="rag_metrics", load=partial(_Reader, layer=layer))

    async def score(self, question: Question, answer: RagAnswer) -> dict[str, Score]:
        """
        The three scores, each for its best accepted answer, as in bert-score.

        Raises:
            JudgeError: The model cannot be loaded.
        """
        if not (question.answerable and question.acceptable_answers):
            return {}
        matches = await self._model.use(partial(_matches, answer=answer.text, acceptable=question.acceptable_answers))
        return {name: Score(max(match[name] for match in matches)) for name in BERTSCORE}


def _matches(reader: _Reader, *, answer: str, acceptable: Sequence[str]) -> list[dict[str, float]]:
    given = reader.words(answer)
    return [_match(given, reader.words(accepted)) for accepted in acceptable]


class _Reader:
    """The outputs of one layer of a model."""

    def __init__(self, name: str, *, layer: int | None) -> None:
        loaded = load(name)
        self._torch, self._tokenizer, self._model = loaded.torch, loaded.tokenizer, loaded.model
        self._most = loaded.longest_input
        layers = int(self._model.config.num_hidden_layers)
        self._layer = layers if layer is None else layer
        if self._layer > layers:
            raise ValueError(f"it has {layers} layers, not {layer}")
        self._unweighted = {self._tokenizer.cls_token_id, self._tokenizer.sep_token_id}

    def words(self, text: str) -> _Words:
        torch, tokenizer = self._torch, self._tokenizer
        # RoBERTa's tokenizer treats a first word differently; bert-score adds a space before it.
        spaced = {"add_prefix_space": True} if type(tokenizer).__name__.startswith(("Roberta", "GPT2")) else {}
        ids = tokenizer.encode(
            text.strip(), add_special_tokens=True, truncation=self._most is not None, max_length=self._most, **spaced
        )
        with torch.no_grad():
            output = self._model(torch.tensor([ids]), output_hidden_states=True)
        vectors = output.hidden_states[self._layer][0]
        return _Words(
            vectors=vectors / vectors.norm(dim=-1, keepdim=True),
            # The special tokens at both ends may match, but do not count.
            weights=torch.tensor([0.0 if piece in self._unweighted else 1.0 for piece in ids]),
        )


@frozen
class _Words:
    vectors: Any
    """A tensor with one unit vector a row."""

    weights: Any
    """A tensor with one weight a row, >= 0."""


def _match(given: _Words, accepted: _Words) -> dict[str, float]:
    """
    Greedy matching of tokens by cosine similarity: the three scores, each -1..1; 0.0 if a text has no tokens.

    Source: Zhang et al. (2020), as in bert-score 0.3.13, without frequency weights and without rescaling.
    """
    if not float(given.weights.sum()) or not float(accepted.weights.sum()):
        return dict.fromkeys(BERTSCORE, 0.0)
    cosines = given.vectors @ accepted.vectors.T
    precision = float((cosines.max(dim=1).values * given.weights).sum() / given.weights.sum())
    recall = float((cosines.max(dim=0).values * accepted.weights).sum() / accepted.weights.sum())
    both = precision + recall
    f1 = 2 * precision * recall / both if both else 0.0
    return dict(zip(BERTSCORE, (precision, recall, f1), strict=True))
