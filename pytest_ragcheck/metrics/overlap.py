"""
Measures overlap with the accepted answers: exact match, token F1, ROUGE-L and chrF.

An answer may be empty. There is at least one accepted answer, and the nearest counts.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence

from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.scores import Score

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
    F-measure of the longest common subsequence of words.

    Returns:
        0..1; 0.0 if either text has no words.

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
