"""Measures ROUGE-L and chrF: overlap with the accepted answers by the order of words and by parts of words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from pytest_ragcheck.judging.offline.words.normalized_text import UNSPACED

_ASCII_WORDS = re.compile(r"[a-z0-9]+")
_ALONE = re.compile(f"[{UNSPACED}]")


def rouge_l(answer: str, acceptable: Sequence[str]) -> float:
    """
    F-measure of the longest common subsequence of words, for the nearest accepted answer.

    The answer may be empty; there is at least one accepted answer.

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

    The answer may be empty. There is at least one accepted answer, and the best counts.

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
    return "".join(map(_spaced, folded)).split()


def _spaced(character: str) -> str:
    if _ALONE.match(character):
        return f" {character} "
    return character if character.isalnum() or unicodedata.category(character)[0] == "M" else " "
