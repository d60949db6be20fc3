"""ROUGE-L and chrF: overlap with the accepted answers that feels the order of words, and parts of words."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from pytest_ragcheck.judging.text import UNSPACED
from pytest_ragcheck.metrics.catalogue import LEXICAL
from pytest_ragcheck.metrics.score import Score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer

_ASCII_WORDS = re.compile(r"[a-z0-9]+")
_ALONE = re.compile(f"[{UNSPACED}]")


class Lexical:
    """The group `lexical`: what applies to answerable questions with an expected answer."""

    names = LEXICAL
    local = True

    async def score(self, question: Question, answer: RagAnswer) -> dict[str, Score]:
        """Both scores, against all acceptable answers."""
        if not (question.answerable and question.acceptable_answers):
            return {}
        return {
            "rouge_l": Score(rouge_l(answer.text, question.acceptable_answers)),
            "chrf": Score(chrf(answer.text, question.acceptable_answers)),
        }


def rouge_l(answer: str, acceptable: Sequence[str]) -> float:
    """
    F-measure of the longest common subsequence of words, against the accepted answer it is nearest to.

    Args:
        answer: The system's answer; may be empty.
        acceptable: All accepted answers, at least one.

    Returns:
        0..1; 0.0 where either has no words.

    Source: Lin (2004), as Google's `rouge_score` has it, without stemming: case and punctuation do not count. That
    program deletes whatever is not ASCII; here words of all scripts count, and each character of those that are
    written without blanks.
    """
    words = _words(answer)
    return max(_f_measure(words, _words(accepted)) for accepted in acceptable)


def chrf(answer: str, acceptable: Sequence[str]) -> float:
    """
    F-measure of the common runs of one to six characters, in which recall counts twice.

    Args:
        answer: The system's answer; may be empty.
        acceptable: All accepted answers, at least one; the best counts.

    Returns:
        0..1; 0.0 where either is blank.

    Source: Popović (2015), chrF2 by sacrebleu with its defaults, divided by 100.
    """
    from sacrebleu.metrics.chrf import (  # noqa: PLC0415  # pyright: ignore[reportMissingImports] - an extra
        CHRF,
    )

    return float(CHRF().sentence_score(answer, list(acceptable)).score) / 100


def _f_measure(answer: list[str], accepted: list[str]) -> float:
    if not answer or not accepted:
        return 0.0
    from rapidfuzz.distance import LCSseq  # noqa: PLC0415  # pyright: ignore[reportMissingImports] - an extra

    common: int = LCSseq.similarity(answer, accepted)
    return 2 * common / (len(answer) + len(accepted))


def _words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFC", text.lower())
    if folded.isascii():
        return _ASCII_WORDS.findall(folded)
    return "".join(map(_spaced, folded)).split()


def _spaced(character: str) -> str:
    if _ALONE.match(character):
        return f" {character} "
    return character if character.isalnum() or unicodedata.category(character)[0] == "M" else " "
