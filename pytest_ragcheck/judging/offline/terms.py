"""Maps words to terms: one term for all forms of a word and for all spellings of a number."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from pytest_ragcheck.judging.offline.measure_words import (
    LANGUAGE_OF,
    NUMBER_WORDS,
    PER,
    PERIODS_BY_WORD,
    SCALES,
    TIMES_BY_WORD,
    UNIT_WORDS,
)
from pytest_ragcheck.judging.offline.negation import (
    NOT,
    NOT_PORTUGUESE,
    PAIRS,
    PORTUGUESE,
    SIGNS,
    without_prefix,
)
from pytest_ragcheck.judging.offline.normalized_text import SENTENCE_ENDS, folded_words, normalised, words
from pytest_ragcheck.judging.offline.number_spellings import (
    READ_TOGETHER,
    canonical_number,
    composed,
    joined_number,
    with_language_numbers,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


# Units and months that are often abbreviated in only one of answer and source.
_SHORT_FORMS = {
    "%": "percent", "$": "dollar", "€": "euro", "£": "pound", "hr": "hour", "hrs": "hour", "min": "minute",
    "mins": "minute", "sec": "second", "secs": "second", "yr": "year", "yrs": "year", "km": "kilometer",
    "kilometre": "kilometer", "kilometres": "kilometer", "kg": "kilogram", "lb": "pound", "lbs": "pound",
    "jan": "january", "feb": "february", "apr": "april", "jun": "june", "jul": "july", "aug": "august",
    "sep": "september", "sept": "september", "oct": "october", "nov": "november", "dec": "december",
    "usa": "us", "d": "day", "h": "hour",
}  # fmt: skip


END = "¶"
"""The term at the end of a sentence, in `TermDictionary.with_ends`."""

_SIGNS = frozenset("$€£")
_SEVERAL_LANGUAGES = frozenset(LANGUAGE_OF)
_LEAST_OF_LARGE_NUMBER = 7  # letters
_TIMES = frozenset(TIMES_BY_WORD)
_COUNTED = UNIT_WORDS.union(SCALES)
_BEFORE_PERIODS = PER.union(PERIODS_BY_WORD, ("am", "in"))
# "si" is "if" in French and Spanish only, and "en" is "and" in Dutch only.
_ITALIAN = frozenset(("il", "gli", "della", "delle", "dei", "nel", "nella", "agli", "non", "puo", "di", "con"))
_NOT_ITALIAN = frozenset(("el", "los", "se", "que", "est", "une", "les", "vous", "y"))
_NOT_DUTCH = frozenset(("la", "el", "los", "las", "se", "que", "est", "le", "les", "du", "une", "un", "por", "y", "et"))
_HOMOGRAPHS = frozenset(("si", "en"))
_FRENCH_NEGATIONS = frozenset(("pas", "plus", "jamais", "aucun", "aucune", "rien", "point", "personne"))
_REACH_OF_NE = 4  # words
_SPECIAL = _HOMOGRAPHS | _FRENCH_NEGATIONS | _SIGNS | READ_TOGETHER | _SEVERAL_LANGUAGES | _TIMES


class TermDictionary(dict[str, str]):
    """
    The term of each word: its stem, or the canonical spelling of its number.

    Terms are computed on first use and kept.
    """

    def __init__(self) -> None:
        super().__init__(_FIXED)
        self._special = {*_SPECIAL, "no"}
        """Words that `of_words` does not only look up."""
        self._negative = {"no"}
        """Words that deny another one; and "no", which is no negation in Portuguese."""

    def __missing__(self, word: str) -> str:
        if word[0].isdigit():
            term = canonical_number(word)
        elif len(word) >= _LEAST_OF_LARGE_NUMBER and (value := joined_number(word)) is not None:
            term = canonical_number(str(value))
        elif word.endswith("n't"):
            term = NOT
        else:  # l'hôtel, the hotel's, O'Brien: the longest part is the word
            plain = max(word.split("'"), key=len) if "'" in word else word
            term = stem(plain)
            affirmed = (
                _listed(_NEGATIVE, plain, term) if term in _NEGATIVE or plain in _NEGATIVE else without_prefix(plain)
            )
            if affirmed:
                term = stem(affirmed)
                self._special.add(word)
                self._negative.add(word)
            if term in _BASES:
                term = _listed(_BASES, affirmed or plain, term) or term
        self[word] = term
        return term

    def of(self, text: str) -> list[str]:
        """The terms of *text*, in order; a number of several words is one term."""
        return self.of_words(words(text))

    def with_ends(self, text: str) -> list[str]:
        """The terms of *text*, with `END` at the end of each sentence."""
        return self.of_words(folded_words(normalised(text), with_ends=True))

    def of_words(self, found: list[str]) -> list[str]:
        """The terms of a text with the words *found*."""
        terms = list(map(self.__getitem__, found))
        if self._special.isdisjoint(found):
            return terms
        given = found
        if not _FRENCH_NEGATIONS.isdisjoint(found):
            found = list(_with_french_negations(found))
        if not self._negative.isdisjoint(found):
            found = list(self._with_negations(found))
        if not _HOMOGRAPHS.isdisjoint(found):
            found = list(_with_homographs(found))
        if not _TIMES.isdisjoint(found):
            found = list(_with_times(found))
        if not _SEVERAL_LANGUAGES.isdisjoint(found):
            found = with_language_numbers(found, _COUNTED.__contains__)
        if not _SIGNS.isdisjoint(found):
            found = _with_signs_after_numbers(found)
        if found is not given:
            terms = list(map(self.__getitem__, found))
        return terms if READ_TOGETHER.isdisjoint(found) else composed(found, terms)

    def _with_negations(self, found: list[str]) -> Iterator[str]:
        """*found* with `NOT` before each negative word, and without a Portuguese "no"."""
        is_portuguese = not PORTUGUESE.isdisjoint(found) and NOT_PORTUGUESE.isdisjoint(found)
        for word in found:
            if word in self._negative and word != "no":
                yield NOT
            if word != "no" or not is_portuguese:
                yield word


def _with_homographs(found: list[str]) -> Iterator[str]:
    """*found* with "in" for a Spanish or French "en", and with "oneself" for an Italian "si"."""
    words_in = frozenset(found)
    is_italian = not _ITALIAN.isdisjoint(words_in) and _NOT_ITALIAN.isdisjoint(words_in)
    is_dutch = _NOT_DUTCH.isdisjoint(words_in)
    for word in found:
        yield "sich" if word == "si" and is_italian else "in" if word == "en" and not is_dutch else word


def _with_french_negations(found: list[str]) -> Iterator[str]:
    """*found* with "ne ... pas" as one negation before the verb: "ne comprend pas" becomes "not comprend"."""
    closed: set[int] = set()
    for place, word in enumerate(found):
        if place in closed:
            continue
        if word == "ne" or word.startswith("n'"):
            reach = found[place + 1 : place + 1 + _REACH_OF_NE]
            end = next((at for at, each in enumerate(reach) if each in _FRENCH_NEGATIONS), None)
            if end is not None:
                closed.add(place + 1 + end)
                yield "not"
        yield word


def _with_times(found: list[str]) -> Iterator[str]:
    """*found* with "twice a day" as "2 times a day"."""
    for word, following in pairwise((*found, "")):
        count = TIMES_BY_WORD.get(word)
        if count and following in _BEFORE_PERIODS:
            yield count
            yield "times"
        else:
            yield word


def _with_signs_after_numbers(found: list[str]) -> list[str]:
    """*found* with the signs moved after their numbers: `$`, `5`, `million` becomes `5`, `million`, `$`."""
    turned: list[str] = []
    sign, passed = "", False
    for word in found:
        if sign and (word in SCALES if passed else word[0].isdigit()):
            passed = True
        elif sign:
            turned.append(sign)
            sign = ""
        if word in _SIGNS:
            sign, passed = word, False
        else:
            turned.append(word)
    return [*turned, sign] if sign else turned


def is_number(term: str) -> bool:
    """True if *term* is a number, written in digits or in words."""
    return term < ":"  # only numbers begin with an ASCII digit; all other terms sort after


def numbers_in(terms: Iterable[str]) -> list[str]:
    """The numbers among *terms*, in order."""
    return [term for term in terms if term < ":"]


# Stems are cut so that derived forms match (recommend, recommendation). Uncut: -0.009 of the area under the curve on
# RAGTruth, -0.020 on WiCE; 5 brings no gain.
_STEM_LENGTH = 6


def stem(word: str) -> str:
    """The beginning of *word* without common endings, equal for most forms of one word; never empty."""
    if len(word) < 4:
        return word
    if word.isascii():
        return _english_stem(word)[:_STEM_LENGTH]
    return (_CYRILLIC_ENDING.sub("", word) if _CYRILLIC.match(word) else word)[:_STEM_LENGTH]


_CYRILLIC = re.compile("[\u0400-\u04ff]")
_CYRILLIC_ENDING = re.compile(
    "(?<=[\u0400-\u04ff]{3})(?:ами|ями|иями|ого|его|ому|ему|ыми|ими|ов|ев|еи|ои|ии|ыи|ая|яя|ое|ее|ую|юю|ые|ие|ых|их|"
    "ам|ям|ах|ях|ом|ем|а|я|о|е|у|ю|ы|и|ь)$"
)


def _english_stem(word: str) -> str:
    last = word[-1]
    if last not in _LAST_OF_ENDINGS:
        return word
    if last == "s":
        word = _without_s(word)
        last = word[-1]
    for ending in _ENDINGS.get(last, ()):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            if word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    if len(word) > 3 and word[-1] == "e":
        word = word[:-1]
    if len(word) > 3 and word[-1] == "y":
        word = word[:-1] + "i"
    return word


_ENDINGS = {"g": ("ing",), "d": ("ed",), "y": ("ingly", "edly", "ly"), "n": ("en",)}
_LAST_OF_ENDINGS = frozenset("se").union(_ENDINGS)


def _without_s(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    return word if word.endswith(("ss", "us", "is")) else word[:-1]


_FIXED = {
    **dict.fromkeys(SENTENCE_ENDS, END),
    **{word: stem(long) for word, long in _SHORT_FORMS.items()},
    **dict.fromkeys(("centime", "centimes", "centimo", "centimos", "centesimo", "centesimi"), "cent"),  # no centimetre
    **{word: word for word in ("daily", "weekly", "fortnightly", "monthly", "yearly", "hourly")},  # not "day", "week"
    **SIGNS,
    **{word: canonical_number(str(value)) for word, value in NUMBER_WORDS.items()},
}

# Letters that a form of a listed word may lack at the end: "unterschrieben" has the stem of "untersagt".
_SHORTENED = 2


def _by_stem(pairs: Iterable[tuple[str, str]]) -> dict[str, list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for word, value in pairs:
        found.setdefault(word[1:] if word[0] == "=" else stem(word), []).append((word, value))
    return found


def _listed(by_stem: dict[str, list[tuple[str, str]]], word: str, own: str) -> str | None:
    """The value of the listed word of which *word*, with the stem *own*, is a form."""
    listings: list[tuple[str, str]] = [*by_stem.get(own, ()), *by_stem.get(word, ())]
    for listed, value in listings:
        if (
            listed[1:] == word
            if listed[0] == "="
            else word.startswith(listed[: max(len(own), len(listed) - _SHORTENED)])
        ):
            return value
    return None


_BASES = _by_stem((word, stem(affirmative[0])) for affirmative, _ in PAIRS for word in affirmative)
"""The term of each affirmative word by its stem, one for all synonyms."""

_NEGATIVE = _by_stem((word, affirmative[0]) for affirmative, negative in PAIRS for word in negative)
"""The word that a negative word denies, by its stem."""
