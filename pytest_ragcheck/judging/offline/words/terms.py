"""Maps words to terms, one for all forms of a word or spellings of a number, and lists the terms without content."""

from __future__ import annotations

from itertools import filterfalse
from typing import TYPE_CHECKING

from pytest_ragcheck.judging.offline.words.normalized_text import (
    CLAUSE_END,
    SENTENCE_ENDS,
    clause_words,
    listed,
    normalised,
    words,
)
from pytest_ragcheck.judging.offline.words.number_spellings import (
    READ_TOGETHER,
    canonical_number,
    composed,
    joined_number,
)
from pytest_ragcheck.judging.offline.words.rewording import AMBIGUOUS, BUT, NOT, PAIRS, SIGNS, reworded, without_prefix
from pytest_ragcheck.judging.offline.words.stems import STEM_LENGTH, stem
from pytest_ragcheck.judging.offline.words.word_lists import NUMBER_WORDS, SHORT_FORMS, WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import TypeVar

    T = TypeVar("T")


END = "¶"
"""The term at the end of a sentence, in `TermDictionary.with_ends`."""

_LEAST_OF_LARGE_NUMBER = 7  # letters
_MOST_TEXTS_KEPT, _LONGEST_TEXT_KEPT = 1000, 1000  # characters
_MOST_WORDS_KEPT = 100_000


class _WordTable(dict[str, str]):
    # The term of each word, its stem or the canonical spelling of its number, computed on first use.
    special: set[str]
    """Words for which `of_words` needs more than a lookup."""

    negative: set[str]
    """Words that deny another one, and "no", which is not a negation in Portuguese."""

    def __init__(self) -> None:
        super().__init__()
        self.reset()

    def reset(self) -> None:
        self.clear()
        self.update(_FIXED)
        self.special = {*AMBIGUOUS, *READ_TOGETHER, "no"}
        self.negative = {"no"}

    def __missing__(self, word: str) -> str:
        if word[0].isdigit():
            term = canonical_number(word.rstrip("dhnrst"))  # of ordinals
        elif len(word) >= _LEAST_OF_LARGE_NUMBER and (value := joined_number(word)) is not None:
            term = canonical_number(str(value))
        elif "'" in word and word.endswith("n't"):
            term = NOT
        else:  # l'hôtel, the hotel's, O'Brien: the longest part is the word
            plain = max(word.split("'"), key=len) if "'" in word else word
            term = (_FIXED.get(plain) if plain != word else None) or stem(plain)
            affirmed = (
                _listed(_NEGATIVE, plain, term) if term in _NEGATIVE or plain in _NEGATIVE else without_prefix(plain)
            )
            if affirmed:
                term = stem(affirmed)
                self.special.add(word)
                self.negative.add(word)
            if term in _BASES:
                term = _listed(_BASES, affirmed or plain, term) or term
        self[word] = term
        return term


class TermDictionary:
    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {}

    def of(self, text: str) -> list[str]:
        """The terms of *text*, in order, which a caller must not change: those of short texts are kept."""
        known = self._texts.get(text)
        if known is None:
            known = self.of_words(words(text))
            if len(self._texts) >= _MOST_TEXTS_KEPT:
                self._texts.clear()
            if len(text) <= _LONGEST_TEXT_KEPT:
                self._texts[text] = known
        return known

    def with_ends(self, text: str) -> list[str]:
        """The terms of *text*, with `END` at the end of each sentence."""
        return self.of_words(clause_words(normalised(text), with_ends=True))

    def of_words(self, found: list[str]) -> list[str]:
        if len(_TABLE) > _MOST_WORDS_KEPT:  # not after the look-ups, which note special words
            _TABLE.reset()
        terms = list(map(_TABLE.__getitem__, found))
        special = _TABLE.special.intersection(found)
        if not special:
            return terms
        replaced = reworded(found, special, _TABLE.negative & special)
        if replaced is not found:
            terms = list(map(_TABLE.__getitem__, replaced))
        return terms if READ_TOGETHER.isdisjoint(replaced) else composed(replaced, terms)


def is_number(term: str) -> bool:
    """True if *term* is a number, written in digits or in words."""
    return term < ":"  # only numbers begin with an ASCII digit; all other terms sort after


def numbers_in(terms: Iterable[str]) -> list[str]:
    return [term for term in terms if term < ":"]


_PARTIES = listed(WORDS["parties"])
_FIXED = {
    **{word: f"{word[:STEM_LENGTH]}-{word[STEM_LENGTH:][:2]}" for word in _PARTIES},
    **dict.fromkeys(SENTENCE_ENDS, END),
    CLAUSE_END: BUT,
    **{word: stem(long) for word, long in SHORT_FORMS.items()},
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
    # The value of the listed word that *word*, with the stem *own*, is a form of; None without one.
    listings: list[tuple[str, str]] = [*by_stem.get(own, ()), *by_stem.get(word, ())]
    for entry, value in listings:
        if entry[1:] == word if entry[0] == "=" else word.startswith(entry[: max(len(own), len(entry) - _SHORTENED)]):
            return value
    return None


_BASES = _by_stem((word, stem(affirmative[0])) for affirmative, _ in PAIRS for word in affirmative)
"""The term of each affirmative word by its stem, one for all synonyms."""

_NEGATIVE = _by_stem((word, affirmative[0]) for affirmative, negative in PAIRS for word in negative)
"""The word that a negative word denies, by its stem."""

_TABLE = _WordTable()


def term_of(word: str) -> str:
    return _TABLE[word]


def terms_of(text: str) -> frozenset[str]:
    """The term of each word by itself: "un once" is not a number here."""
    return frozenset(map(term_of, words(text)))


def by_term(by_word: Mapping[str, T]) -> dict[str, T]:
    """The values of *by_word* by term; the first of several words with the same term counts."""
    return {term_of(word): value for word, value in reversed(list(by_word.items()))}


STOP_WORDS = terms_of(WORDS["function words"])
"""Scripts without word boundaries have none."""


def content_of(terms: Iterable[str]) -> list[str]:
    return list(filterfalse(STOP_WORDS.__contains__, terms))


def first_content(terms: Iterable[str]) -> str:
    """The first content term of *terms*; empty if there is none."""
    return next(filterfalse(STOP_WORDS.__contains__, terms), "")


PERMISSIONS = terms_of(WORDS["permissions and duties"])
WITHOUT_POLARITY = STOP_WORDS | PERMISSIONS
"""Terms of function words and of what is allowed or required: a negation beside them denies the rest."""

_YES = terms_of(WORDS["yes"])
NO = terms_of(WORDS["no"]) - _YES
ANSWERING = WITHOUT_POLARITY | NO | _YES | terms_of("final short answer statement case cas caso asi works")
"""Terms of answers that only affirm or deny: "That is not the case"."""

FRAMING = terms_of(WORDS["frame"])
"""Terms with which an answer refers to itself and its sources; they claim nothing."""

REFUSING = terms_of(WORDS["refusals"])

ABOUT = terms_of(WORDS["about"])

CENTURY = term_of("century")
TO = terms_of("to and")
"""Terms between the ends of a range."""

LOWER_BOUNDS, UPPER_BOUNDS = (
    frozenset(tuple(map(term_of, bound.split())) for bound in bounds)
    for bounds in (
        ("more than", "at least", "over", "above"),
        ("less than", "fewer than", "at most", "up to", "under", "below"),
    )
)
"""Terms directly before a lower or an upper bound."""
