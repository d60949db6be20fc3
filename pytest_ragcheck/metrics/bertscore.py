"""BERTScore: how well the words of an answer and of an accepted one match, each in its context, by a local model."""

from __future__ import annotations

import threading
import warnings
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.errors import MeasurementError
from pytest_ragcheck.metrics.catalogue import BERTSCORE
from pytest_ragcheck.metrics.score import Score
from pytest_ragcheck.threads import in_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """BERTScore of one answer and one accepted answer, each number -1..1."""

    precision: float
    recall: float
    f1: float


class BertScore:
    """
    The group `bertscore`: what applies to answerable questions with an expected answer.

    The model is loaded for the first answer; one text is read at a time, in a thread, so that nothing waits for it.

    Args:
        model: A folder or a name on the hub.
        layer: Whose outputs are compared, from 1; None: the last.
    """

    names = BERTSCORE
    local = True

    def __init__(self, model: str, layer: int | None = None) -> None:
        self._model = model
        self._layer = layer
        self._turn = threading.Lock()
        self._loaded: _Loaded | None = None
        self._problem = ""

    async def score(self, question: Question, answer: RagAnswer) -> dict[str, Score]:
        """
        The three scores against the accepted answers, each the best of them, as bert-score has it.

        Raises:
            MeasurementError: The model cannot be loaded.
        """
        if not (question.answerable and question.acceptable_answers):
            return {}
        matches = await in_thread(self._matches, answer.text, question.acceptable_answers)
        best = (
            max(match.precision for match in matches),
            max(match.recall for match in matches),
            max(match.f1 for match in matches),
        )
        return {name: Score(value) for name, value in zip(BERTSCORE, best, strict=True)}

    def _matches(self, answer: str, acceptable: Sequence[str]) -> list[Match]:
        with self._turn:
            model = self._model_itself()
            said = model.words(answer)
            return [_match(said, model.words(accepted)) for accepted in acceptable]

    def _model_itself(self) -> _Loaded:
        if self._problem:
            # Not tried again for every question: the hub may take minutes to fail.
            raise MeasurementError(self._problem)
        if self._loaded is None:
            try:
                self._loaded = _Loaded(self._model, self._layer)
            except Exception as error:
                self._problem = (
                    f"the model {self._model!r} of rag_bertscore_model cannot be loaded: "
                    f"{' '.join(str(error).split())[:300]}"
                )
                raise MeasurementError(self._problem) from error
        return self._loaded


class _Loaded:
    """A model with its tokenizer."""

    def __init__(self, name: str, layer: int | None) -> None:
        # They warn of their own parts, which a user's `filterwarnings = error` would make an error.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._torch: Any = import_module("torch")
            transformers: Any = import_module("transformers")
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(name)
            model = transformers.AutoModel.from_pretrained(name)
        model.eval()
        self._model = getattr(model, "encoder", model) if hasattr(model, "decoder") else model
        layers = int(self._model.config.num_hidden_layers)
        self._layer = layers if layer is None else layer
        if self._layer > layers:
            raise ValueError(f"it has {layers} layers, there is no {layer}")
        self._unweighted = {self._tokenizer.cls_token_id, self._tokenizer.sep_token_id}

    def words(self, text: str) -> _Words:
        """The text's word pieces as the model sees them."""
        torch, tokenizer = self._torch, self._tokenizer
        # Tokenizers of RoBERTa's kind tell a word at the beginning from one after a blank, and bert-score puts one.
        spaced = {"add_prefix_space": True} if type(tokenizer).__name__.startswith(("Roberta", "GPT2")) else {}
        ids = tokenizer.encode(
            text.strip(), add_special_tokens=True, truncation=True, max_length=tokenizer.model_max_length, **spaced
        )
        with torch.no_grad():
            output = self._model(torch.tensor([ids]), output_hidden_states=True)
        vectors = output.hidden_states[self._layer][0]
        return _Words(
            vectors=vectors / vectors.norm(dim=-1, keepdim=True),
            # The marks of a text's beginning and end can be matched, and need not be.
            weights=torch.tensor([0.0 if piece in self._unweighted else 1.0 for piece in ids]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    vectors: Any
    """A tensor of unit vectors, one a row."""

    weights: Any
    """A tensor of numbers, one a row, >= 0."""


def _match(said: _Words, accepted: _Words) -> Match:
    """
    Greedy matching of word pieces by their cosine similarity; 0.0 where a text has none.

    Source: Zhang et al. (2020), as bert-score 0.3.13 has it, without weights by frequency and without rescaling.
    """
    if not float(said.weights.sum()) or not float(accepted.weights.sum()):
        return Match(precision=0.0, recall=0.0, f1=0.0)
    likeness = said.vectors @ accepted.vectors.T
    precision = float((likeness.max(dim=1).values * said.weights).sum() / said.weights.sum())
    recall = float((likeness.max(dim=0).values * accepted.weights).sum() / accepted.weights.sum())
    both = precision + recall
    return Match(precision=precision, recall=recall, f1=2 * precision * recall / both if both else 0.0)
