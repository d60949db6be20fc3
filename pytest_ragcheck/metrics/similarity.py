"""
Measures similarity to the accepted answers: common words and parts of words, or meaning.

An answer may be empty. There is at least one accepted answer, and the nearest counts.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from pytest_ragcheck.concurrency.tasks import closing
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.embeds import Embeds, Vector
from pytest_ragcheck.judging.local_model import LocalModel, load
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
    # Tensors with a unit vector and a weight >= 0 a row.
    vectors: Any
    weights: Any


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


_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation + "\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f")


class Overlap:
    """A group of measures of answer and accepted answers; it applies to answerable questions with an expected one."""

    local = True

    def __init__(self, **measures: Callable[[str, Sequence[str]], float]) -> None:
        self.names = tuple(measures)
        self._measures = measures

    async def score(self, question: Question, answer: RagAnswer) -> dict[str, Score]:
        acceptable = question.acceptable_answers
        if not (question.answerable and acceptable):
            return {}
        return {name: Score(measure(answer.text, acceptable)) for name, measure in self._measures.items()}


def exact_match(answer: str, acceptable: Sequence[str]) -> float:
    """
    1.0 if the answer equals an accepted answer after normalisation, else 0.0.

    Source: the SQuAD v2 evaluation program, with its normalisation: lower case, without ASCII punctuation and English
    articles, and with single spaces. Two differences: that program ignores an accepted answer that normalises to
    nothing (`A`, `-`) if there are others, while here every accepted answer counts. It also distinguishes decomposed
    accents and curly quotation marks from the plain ones, while here they are equal.
    """
    answer_tokens = _tokens(answer)
    return max(float(_tokens(accepted) == answer_tokens) for accepted in acceptable)


def token_f1(answer: str, acceptable: Sequence[str]) -> float:
    """
    Harmonic mean of precision and recall of the answer's words.

    Repeated words count as often as they occur; the order does not count. The score is 1.0 if both texts have no words,
    and 0.0 if one has none.

    Returns:
        0..1.

    Source: the SQuAD v2 evaluation program; normalisation and differences as in `exact_match`.
    """
    answer_tokens = _tokens(answer)
    return max(_f1(answer_tokens, _tokens(accepted)) for accepted in acceptable)


def _tokens(text: str) -> list[str]:
    bare = unicodedata.normalize("NFC", text).lower().translate(_WITHOUT_PUNCTUATION)
    return _ARTICLES.sub(" ", bare).split()


def _f1(answer: list[str], accepted: list[str]) -> float:
    if not answer or not accepted:
        return float(answer == accepted)
    common = (Counter(answer) & Counter(accepted)).total()
    if common == 0:
        return 0.0
    precision, recall = common / len(answer), common / len(accepted)
    return 2 * precision * recall / (precision + recall)


_ASCII_WORDS = re.compile(r"[a-z0-9]+")


def rouge_l(answer: str, acceptable: Sequence[str]) -> float:
    """
    F-measure of the longest common subsequence of words, 0..1; 0.0 if either text has no words.

    Source: Lin (2004), as in Google's `rouge_score` without stemming: case and punctuation do not count. That program
    drops all characters outside ASCII. Here words of all scripts count, and so does each character of scripts without
    spaces.
    """
    words = _words(answer)
    return max(_f_measure(words, _words(accepted)) for accepted in acceptable)


def chrf(answer: str, acceptable: Sequence[str]) -> float:
    """
    F-measure of the common sequences of one to six characters; recall counts twice.

    Returns:
        0..1; 0.0 if either text is blank.

    Source: Popović (2015), chrF2 by sacrebleu with its defaults, divided by 100.
    """
    from sacrebleu.metrics.chrf import (  # pyright: ignore[reportMissingImports] - an extra
        CHRF,
    )

    return float(CHRF().sentence_score(answer, list(acceptable)).score) / 100


def _f_measure(answer: list[str], accepted: list[str]) -> float:
    if not answer or not accepted:
        return 0.0
    from rapidfuzz.distance import LCSseq  # pyright: ignore[reportMissingImports] - an extra

    common: int = LCSseq.similarity(answer, accepted)
    return 2 * common / (len(answer) + len(accepted))


def _words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFC", text.lower())
    if folded.isascii():
        return _ASCII_WORDS.findall(folded)
    # Imported late, because compiling its expressions would delay the first question.
    from pytest_ragcheck.judging.offline.words.normalized_text import UNSPACED

    alone = re.compile(f"[{UNSPACED}]")
    return "".join(
        f" {each} " if alone.match(each) else each if each.isalnum() or unicodedata.category(each)[0] == "M" else " "
        for each in folded
    ).split()
