"""Maps words to terms, one for all forms of a word or spellings of a number, and lists the terms without content."""

from __future__ import annotations

import re
from itertools import compress, count
from typing import TYPE_CHECKING, TypeVar

from pytest_ragcheck.judging.offline.words.measure_words import (
    LANGUAGE_OF,
    NUMBER_WORDS,
    PER,
    PERIODS_BY_WORD,
    SCALES,
    TIMES_BY_WORD,
    UNIT_WORDS,
)
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
    language_number,
)
from pytest_ragcheck.judging.offline.words.polarity_words import (
    BUT,
    NOT,
    NOT_PORTUGUESE,
    PAIRS,
    PORTUGUESE,
    SIGNS,
    without_prefix,
)
from pytest_ragcheck.judging.offline.words.word_lists import WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    T = TypeVar("T")


# Units and months that are often abbreviated in only one of answer and source.
_SHORT_FORMS = {
    "%": "percent", "$": "dollar", "€": "euro", "£": "pound", "hr": "hour", "hrs": "hour", "min": "minute",
    "mins": "minute", "sec": "second", "secs": "second", "yr": "year", "yrs": "year", "km": "kilometer",
    "kilometre": "kilometer", "kilometres": "kilometer", "kg": "kilogram", "lb": "pound", "lbs": "pound",
    "jan": "january", "feb": "february", "apr": "april", "jun": "june", "jul": "july", "aug": "august",
    "sep": "september", "sept": "september", "oct": "october", "nov": "november", "dec": "december",
    "usa": "us", "d": "day", "h": "hour", "kbps": "kbit", "mbps": "mbit", "gbps": "gbit",
    "volt": "v", "volts": "v",  # the stem of "volt" is that of Italian "volte"
}  # fmt: skip


END = "¶"
"""The term at the end of a sentence, in `TermDictionary.with_ends`."""

_SIGNS = frozenset("$€£")
_SEVERAL_LANGUAGES = frozenset(LANGUAGE_OF)
_BEFORE_SECONDS = listed("to of after for every within is takes take wait default timeout than about least")
_DUTCH_TIMES = listed("ochtends morgens middags avonds nachts")  # "om 8 uur 's ochtends"
_DIGITS_OF_A_YEAR = 4
_LEAST_OF_LARGE_NUMBER = 7  # letters
_MOST_TEXTS_KEPT, _LONGEST_TEXT_KEPT = 1000, 1000  # characters
_COUNTED = UNIT_WORDS.union(SCALES)
_BEFORE_PERIODS = PER.union(PERIODS_BY_WORD, ("am", "in"))
# "si" is "if" in French and Spanish only, and "en" is "and" in Dutch only.
_ITALIAN = frozenset(("il", "gli", "della", "delle", "dei", "nel", "nella", "agli", "non", "puo", "di"))
_NOT_ITALIAN = frozenset(("el", "los", "que", "est", "une", "les", "vous", "y"))
NOT_DUTCH = frozenset(("la", "el", "los", "las", "se", "que", "est", "le", "les", "du", "une", "un", "por", "y", "et"))
_GERMAN = frozenset(("der", "die", "das", "den", "ist", "sie", "er", "es", "ein", "eine", "nicht", "wird", "und"))
_DUTCH = frozenset(("het", "een", "van", "niet", "na", "vanaf", "bij", "wordt", "met", "voor", "zijn"))
_HOMOGRAPHS = frozenset(("si", "en", "falls", "pas"))
_PHRASES = {
    **dict.fromkeys(("free", "frei", "vrij", "libre", "libres", "livre", "livres"), "without"),
    **dict.fromkeys(("isento", "isenta", "exempt", "exempte", "privo", "priva"), "without"),
    **dict.fromkeys(("other", "anders", "d'autre"), "except"),
}
"""What a word says before one of `_IN_PHRASES`: "frei von" is "without", "niemand anders dan" is "nobody except"."""
_IN_OTHER_WORDS = _PHRASES.keys() | TIMES_BY_WORD.keys()
_IN_PHRASES = frozenset(("of", "von", "van", "de", "di", "than", "dan", "que"))
_FRENCH_NEGATIONS = frozenset(("pas", "plus", "jamais", "aucun", "aucune", "rien", "point", "personne"))
_REACH_OF_NE = 4  # words
_SPECIAL = _FRENCH_NEGATIONS.union(_HOMOGRAPHS, _IN_OTHER_WORDS, _SIGNS, READ_TOGETHER, _SEVERAL_LANGUAGES, ("s",))


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
        self._texts: dict[str, list[str]] = {}

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
                self._special.add(word)
                self._negative.add(word)
            if term in _BASES:
                term = _listed(_BASES, affirmed or plain, term) or term
        self[word] = term
        return term

    def of(self, text: str) -> list[str]:
        """
        The terms of *text*, in order; a number of several words is one term.

        The terms of short texts are kept, since questions and expected answers repeat; a caller must not change them.
        """
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
        """The terms of a text with the words *found*."""
        terms = list(map(self.__getitem__, found))
        special = self._special.intersection(found)
        if not special:
            return terms
        given = found
        if not _FRENCH_NEGATIONS.isdisjoint(special):
            found = list(_with_french_negations(found))
        if negative := self._negative & special:
            found = _with_negations(found, negative)
        if homographs := _HOMOGRAPHS & special:
            found = _with_homographs(found, homographs)
        if phrases := _IN_OTHER_WORDS & special:
            found = _rewritten(found, phrases, _in_other_words)
        if "s" in special:
            found = _with_seconds(found)
        if numbers := _SEVERAL_LANGUAGES & special:
            cues = frozenset(found)
            found = _rewritten(found, numbers, lambda word, after: [language_number(word, after, cues, _COUNTED)])
        if not _SIGNS.isdisjoint(special):
            found = _with_signs_after_numbers(found)
        if found is not given:
            terms = list(map(self.__getitem__, found))
        return terms if READ_TOGETHER.isdisjoint(special) else composed(found, terms)


def _rewritten(
    found: list[str], sought: AbstractSet[str], written: Callable[[str, Sequence[str]], Sequence[str]]
) -> list[str]:
    """*found* with what *written* returns for each word of *sought* and the words after it."""
    turned: list[str] = []
    end = 0
    for place in compress(count(), map(sought.__contains__, found)):
        turned += found[end:place]
        end = place + 1
        turned += written(found[place], found[end : end + 2])
    return turned + found[end:]


def _with_negations(found: list[str], negative: AbstractSet[str]) -> list[str]:
    """*found* with `NOT` before each *negative* word, and without a Portuguese "no"."""
    if "no" in negative:
        if not PORTUGUESE.isdisjoint(found) and NOT_PORTUGUESE.isdisjoint(found):
            found = [word for word in found if word != "no"]
        negative = negative - {"no"}
    return _rewritten(found, negative, lambda word, _: (NOT, word)) if negative else found


def _with_homographs(found: list[str], homographs: AbstractSet[str]) -> list[str]:
    """*found* with words for a Spanish "en", an Italian "si", an English "falls" and a Dutch "pas", "only"."""
    words_in = frozenset(found)
    is_italian = not _ITALIAN.isdisjoint(words_in) and _NOT_ITALIAN.isdisjoint(words_in)
    instead = {
        "si": "sich" if is_italian else "si",
        "en": "en" if NOT_DUTCH.isdisjoint(words_in) else "in",
        "falls": "fall" if _GERMAN.isdisjoint(words_in) else "falls",
        "pas": "alleen" if not _DUTCH.isdisjoint(words_in) and NOT_DUTCH.isdisjoint(words_in) else "pas",
    }
    return _rewritten(found, homographs, lambda word, _: [instead[word]])


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


def _in_other_words(word: str, after: Sequence[str]) -> Sequence[str]:
    """
    The words for *word*: "2 times" for "twice", "without" for "free" in "free of nuts", not in "frei von 9 bis 12".

    A word for one time only counts before a period, "once a day".
    """
    if word in _PHRASES:
        is_phrase = len(after) > 1 and after[0] in _IN_PHRASES and not after[1][0].isdigit()
        return (_PHRASES[word] if is_phrase else word,)
    count = TIMES_BY_WORD[word]
    is_conjunction = word == "once" and after[:1] == ["a"] and UNIT_WORDS.isdisjoint(after[1:])
    is_count = count != "1" or (not is_conjunction and not _BEFORE_PERIODS.isdisjoint(after[:1]))
    return (count, "times") if is_count else (word,)


def _with_seconds(found: list[str]) -> list[str]:
    """*found* with "30 seconds" for "30s", "after 30s" and "1.5 s"; "the 1990s", "his 30s" and "the 3s" stay."""
    turned = found.copy()
    for place in compress(count(), map("s".__eq__, found)):
        before, number = ("", "", *found[max(0, place - 2) : place])[-2:]
        is_count = number[:1].isdigit() and not (number.isdigit() and len(number) == _DIGITS_OF_A_YEAR)
        are_seconds = "." in number or len(found) == 2 or before in _BEFORE_SECONDS
        if is_count and are_seconds and _DUTCH_TIMES.isdisjoint(found[place + 1 : place + 2]):
            turned[place] = "seconds"
    return turned


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
    if "nehmer" in word[_STEM_LENGTH:]:  # Arbeitgeber and Arbeitnehmer
        return f"{word[:_STEM_LENGTH]}-nehmer"
    if word.isascii():
        return _english_stem(word)[:_STEM_LENGTH]
    return (_CYRILLIC_ENDING.sub("", word) if _CYRILLIC.match(word) else word)[:_STEM_LENGTH]


_CYRILLIC = re.compile("[\u0400-\u04ff]")
_CYRILLIC_ENDING = re.compile(
    "(?<=[\u0400-\u04ff]{3})(?:ами|ями|иями|ого|его|ому|ему|ыми|ими|ов|ев|еи|ои|ии|ыи|ая|яя|ое|ее|ую|юю|ые|ие|ых|их|"
    "ам|ям|ах|ях|ом|ем|а|я|о|е|у|ю|ы|и|ь)$"
)


def cyrillic_case(word: str, cases: Mapping[str, str]) -> str:
    """The case of *cases* that the ending of a Russian noun has; empty for other words and endings."""
    if not _CYRILLIC.match(word):
        return ""
    ending = _CYRILLIC_ENDING.search(word)
    return cases.get(ending[0] if ending else "", "")


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


# The other party of a contract, whose word has the stem of the first one's: employer and employee.
_PARTIES = listed(
    "employee employees licensee licensees trainee trainees assignee assignees mortgagee transferee interviewee "
    "employeur employeurs empleador empleadora empleadores empregador empregadora empregadores "
    "arrendatario arrendataria arrendatarios arrendatarias"
)

_FIXED = {
    **{word: f"{word[:_STEM_LENGTH]}-{word[_STEM_LENGTH:][:2]}" for word in _PARTIES},
    **dict.fromkeys(SENTENCE_ENDS, END),
    CLAUSE_END: BUT,
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
    """The value of the listed word that *word*, with the stem *own*, is a form of; None without one."""
    listings: list[tuple[str, str]] = [*by_stem.get(own, ()), *by_stem.get(word, ())]
    for entry, value in listings:
        if entry[1:] == word if entry[0] == "=" else word.startswith(entry[: max(len(own), len(entry) - _SHORTENED)]):
            return value
    return None


_BASES = _by_stem((word, stem(affirmative[0])) for affirmative, _ in PAIRS for word in affirmative)
"""The term of each affirmative word by its stem, one for all synonyms."""

_NEGATIVE = _by_stem((word, affirmative[0]) for affirmative, negative in PAIRS for word in negative)
"""The word that a negative word denies, by its stem."""


_PLAIN_TERMS = TermDictionary()


def term_of(word: str) -> str:
    """The term of *word* by itself."""
    return _PLAIN_TERMS[word]


def terms_of(words: str) -> frozenset[str]:
    """The terms of a list of words that is written as one string."""
    return frozenset(map(term_of, words.split()))


def by_term(by_word: Mapping[str, T]) -> dict[str, T]:
    """The values of *by_word* by term; of words with one term the first one counts."""
    return {term_of(word): value for word, value in reversed(list(by_word.items()))}


def _terms(text: str) -> list[str]:
    """The term of each word by itself: "un once" is no number here."""
    return list(map(term_of, words(text)))


STOP_WORDS = frozenset(
    _terms(
        # English
        WORDS["function words"]
    )
)
"""Terms of function words; scripts without word boundaries have none."""

WITHOUT_POLARITY = STOP_WORDS | frozenset(_terms(WORDS["permissions and duties"]))
"""Terms of function words and of what is allowed or required: a negation beside them denies the rest."""

FRAMING = frozenset(_terms(WORDS["frame"]))
"""Terms with which an answer refers to itself and its sources; they claim nothing."""

REFUSING = frozenset(_terms(WORDS["refusals"]))
"""Terms of refusals besides those of `FRAMING`."""

ABOUT = frozenset(_terms("about around approximately approx roughly nearly almost circa ca estimated"))
"""Terms directly before an approximate number."""

CENTURY = term_of("century")

TO = frozenset(_terms("to and"))
"""Terms between the ends of a range."""

LOWER_BOUNDS = frozenset(map(tuple, map(_terms, ("more than", "at least", "over", "above"))))
UPPER_BOUNDS = frozenset(map(tuple, map(_terms, ("less than", "fewer than", "at most", "up to", "under", "below"))))
"""Terms directly before a lower or an upper bound."""
