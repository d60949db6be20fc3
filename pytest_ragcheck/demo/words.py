"""Splits documents and questions into words."""

from __future__ import annotations

import re
import unicodedata

from pytest_ragcheck.package_text import package_text

# Function words carry no topic. Question words are included, because `quoting.answer` checks them itself.
STOP_WORDS = frozenset(package_text("demo/stop_words.txt").split())

# The parts of a word may be joined by `_`, `-` or `.`: rag_top_k, read-ahead, conftest.py, 0.7.
_COMPOUND = re.compile(r"[^\W_]+(?:[-_.][^\W_]+)*")
_POSSESSIVE = re.compile(r"['\u2019]s\b")
_JOINT = re.compile(r"[-_.]")


def words_of(text: str) -> list[str]:
    """
    The words of *text* in order, without case, accents, inflection and stop words.

    A compound adds its parts and itself joined by `_`, so that `--rag-top-k`, `rag_top_k` and "top k" share a word.
    """
    decomposed = unicodedata.normalize("NFKD", _POSSESSIVE.sub("", text.casefold()))
    plain = "".join(character for character in decomposed if not unicodedata.combining(character))
    words: list[str] = []
    for compound in _COMPOUND.findall(plain):
        parts = list(map(_stem, _JOINT.split(compound)))
        words += [part for part in parts if part not in STOP_WORDS]
        if len(parts) > 1:
            words.append("_".join(parts))
    return words


def _stem(word: str) -> str:
    # The same stem for judge, judges, judged and judging; only English endings are removed.
    if word in STOP_WORDS or not word.isascii() or not word.isalpha() or len(word) < 4:
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= 3 and re.search("[aeiouy]", stem):
            doubled = stem[-1] == stem[-2] and stem[-1] not in "lsz"
            word = stem[:-1] if doubled else stem
            break
    if word.endswith("ied"):
        return word[:-3] + "y"
    return word.removesuffix("e") if len(word) > 4 else word
