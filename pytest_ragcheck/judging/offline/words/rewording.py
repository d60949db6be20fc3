"""Replaces words whose meaning depends on others: homographs, phrases, French negations, signs of money."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import compress, count

from pytest_ragcheck.judging.offline.words import word_lists
from pytest_ragcheck.judging.offline.words.normalized_text import SENTENCE_ENDS, listed, normalised
from pytest_ragcheck.judging.offline.words.number_spellings import language_number
from pytest_ragcheck.judging.offline.words.stems import stem
from pytest_ragcheck.judging.offline.words.word_lists import (
    LANGUAGE_OF,
    PER,
    PERIODS_BY_WORD,
    SCALES,
    TIMES_BY_WORD,
    UNIT_WORDS,
    WORDS,
)
from pytest_ragcheck.package_text import package_text

NOT = "¬"
"""The term of every negation. A negative word is two terms: "forbidden" is `NOT` and "allow"."""

WITHOUT = "¬with"
"""The term of every word like "without", which cancels a negation before it: "not possible without a receipt"."""

EXCEPT = "¬in"
"""The term of every word like "except", which reverses the polarity of its clause."""

NEGATIVE = frozenset((NOT, WITHOUT, EXCEPT))

_NEGATIONS = {
    **dict.fromkeys(listed(WORDS["negations"]), NOT),
    **dict.fromkeys(listed("without ohne sans sin sem senza zonder без"), WITHOUT),
    **dict.fromkeys(listed(WORDS["exceptions"]), EXCEPT),
}

PORTUGUESE = listed(WORDS["Portuguese"])
"""Words with which "no" is Portuguese for "in the", unless one of `NOT_PORTUGUESE` is near."""

AFTER_PORTUGUESE_NO = re.compile(rf"{'|'.join(WORDS['after a Portuguese no'].split())}|\w+(?:ao|[ln]ho|eiro|mento)")
"""A word before which "no" is Portuguese in any text."""

NOT_PORTUGUESE = listed(WORDS["not Portuguese"])

_PAIRS, _OPPOSITES = package_text("judging/offline/words/opposites.txt").split("\n\n")

PAIRS = [
    [side.split() for side in line.split("~")] for line in normalised(_PAIRS).splitlines() if not line.startswith("#")
]
"""The affirmative and the negative words of each pair."""

OPPOSITES = [line.split(" ~ ") for line in _OPPOSITES.splitlines() if not line.startswith("#")]
"""Words that exclude each other in the same place of two sentences."""

# The prefixes and endings do not match "united", "under", "international" and "often".
_PREFIXED = re.compile(
    r"un((?!der|til|less|i(?![mn]))[a-z]{3,}(?:ed|able|ible|ing|al|ful|ary|ain))"
    r"|un([a-z]{3,}(?:bar|ig|lich|zt|tet|delt)(?:e[nrsm]?)?)"
    r"|i[mnlr]([a-z]{3,}(?:[ai]ble|[ai]bile|[ai]vel|[ai]bili|[ai]veis)s?)"
    r"|on((?!der)[a-z]{3,}(?:ig|lijk|baar|kt)e?)"
)


def without_prefix(word: str) -> str | None:
    """The word that *word* negates by a prefix: "supported" for "unsupported"; None if there is none."""
    if word[0] not in "uio":
        return None
    found = _PREFIXED.fullmatch(word)
    return found and found[found.lastindex or 0]


DIRECTIONS = {word: (base, word != base) for base, opposites in word_lists.DIRECTIONS for word in (base, *opposites)}
"""For each word of direction, the first word of its pair, and True for the second side."""

BUT = "¦"
"""The term of every word that begins another clause."""

_CLAUSES = dict.fromkeys(listed(WORDS["conjunctions"]), BUT)

IF = "¦if"
"""The term of every word that begins a condition."""

_CONDITIONS = dict.fromkeys(listed("if unless wenn falls sofern si indien mits если"), IF)
MERELY = listed(WORDS["merely"])
"""Words that exclude all else."""

ONLY = MERELY | listed(WORDS["all and always"])
"""Words that leave the rest affirmed after a negation: "not only", "not everyone"."""

MORE = frozenset(DIRECTIONS) | listed(WORDS["comparatives"])
"""Words that compare: "not more than 30" denies nothing."""

OPEN = listed("open offen ouvert abiert abert apert открыт")
"""The terms of `PAIRS` for what is open."""

SIGNED = NEGATIVE | frozenset(DIRECTIONS)
"""The terms without which a text affirms everything."""

SIGNS = {**{word: word for word in MORE | ONLY}, **_NEGATIONS, **_CLAUSES, **_CONDITIONS}
"""The term of each negation, of each word that begins a clause, and of the words that go with them."""


_SIGNS_OF_MONEY = frozenset("$€£¥₹₽₩₣₢元")
_SCALES_OF_MONEY = {"m": "mn", "b": "bn"}
_BEFORE_SECONDS = listed(WORDS["before seconds"])
_DUTCH_TIMES = listed("ochtends morgens middags avonds nachts")  # "om 8 uur 's ochtends"
_DIGITS_OF_A_YEAR = 4
_BEFORE_PERIODS = PER.union(PERIODS_BY_WORD, ("am", "in"))
# "si" is "if" in French and Spanish only, and "en" is "and" in Dutch only.
_ITALIAN = listed(WORDS["Italian"])
_NOT_ITALIAN = frozenset(("el", "los", "que", "est", "une", "les", "vous", "y"))
NOT_DUTCH = listed(WORDS["not Dutch"])
_GERMAN = listed(WORDS["German articles and verbs"])
_DUTCH = listed(WORDS["Dutch"])
_HOMOGRAPHS = frozenset(("si", "en", "falls", "pas"))
_PHRASES = {
    **dict.fromkeys(("free", "frei", "vrij", "libre", "libres", "livre", "livres"), "without"),
    **dict.fromkeys(("isento", "isenta", "exempt", "exempte", "privo", "priva"), "without"),
    **dict.fromkeys(("other", "anders", "d'autre"), "except"),
}
"""The meaning of a word before one of `_IN_PHRASES`: "frei von" is "without", "anders dan" is "except"."""

_IN_OTHER_WORDS = _PHRASES.keys() | TIMES_BY_WORD.keys()
_IN_PHRASES = frozenset(("of", "von", "van", "de", "di", "than", "dan", "que"))
_FRENCH_NEGATIONS = frozenset(("pas", "plus", "jamais", "aucun", "aucune", "rien", "point", "personne", "ni"))
_NOR = frozenset(("ni", "ни", "nem"))
# Words shortly before "nor" that already deny what follows; "как бы ни" is "however".
_BEFORE_NOR = {word for word, sign in _NEGATIONS.items() if sign == NOT} | {NOT, "бы"}
_REACH_OF_NOR = 5  # words
_REACH_OF_NE = 4  # words
_SEVERAL_LANGUAGES = frozenset(LANGUAGE_OF)
_UNITS = frozenset(map(stem, UNIT_WORDS))
_COUNTED = _UNITS.union(map(stem, SCALES))
AMBIGUOUS = _FRENCH_NEGATIONS.union(_HOMOGRAPHS, _IN_OTHER_WORDS, _SIGNS_OF_MONEY, _SEVERAL_LANGUAGES, _NOR, ("s",))
"""The words that `reworded` may replace, besides negative ones."""


def reworded(found: list[str], ambiguous: AbstractSet[str], negative: AbstractSet[str]) -> list[str]:
    """
    The words *found*, with others for those that mean something else here; the same list if there are none.

    *ambiguous* and *negative* are the words of these kinds among *found*.
    """
    if not _FRENCH_NEGATIONS.isdisjoint(ambiguous):
        found = list(_with_french_negations(found))
    if negative:
        found = _with_negations(found, negative)
    if not _NOR.isdisjoint(ambiguous):
        found = list(_with_one_nor(found))
    if homographs := _HOMOGRAPHS & ambiguous:
        found = _with_homographs(found, homographs)
    if phrases := _IN_OTHER_WORDS & ambiguous:
        found = _rewritten(found, phrases, _in_other_words)
    if "s" in ambiguous:
        found = _with_seconds(found)
    if numbers := _SEVERAL_LANGUAGES & ambiguous:
        cues = frozenset(found)
        found = _rewritten(found, numbers, lambda word, after: [language_number(word, after, cues, _COUNTED)])
    return found if _SIGNS_OF_MONEY.isdisjoint(ambiguous) else _with_signs_after_numbers(found)


def _rewritten(
    found: list[str], sought: AbstractSet[str], written: Callable[[str, Sequence[str]], Sequence[str]]
) -> list[str]:
    # *found* with each word of *sought* as *written* returns it for the word and those after it.
    result: list[str] = []
    end = 0
    for place in compress(count(), map(sought.__contains__, found)):
        result += found[end:place]
        end = place + 1
        result += written(found[place], found[end : end + 2])
    return result + found[end:]


def _with_negations(found: list[str], negative: AbstractSet[str]) -> list[str]:
    # *found* with `NOT` before each *negative* word, and without a Portuguese "no".
    if "no" in negative:
        is_portuguese = not PORTUGUESE.isdisjoint(found) and NOT_PORTUGUESE.isdisjoint(found)
        found = [
            word
            for word, after in zip(found, (*found[1:], ""), strict=True)
            if word != "no" or not (is_portuguese or AFTER_PORTUGUESE_NO.fullmatch(after))
        ]
        negative = negative - {"no"}
    return _rewritten(found, negative, lambda word, _: (NOT, word)) if negative else found


def _with_homographs(found: list[str], homographs: AbstractSet[str]) -> list[str]:
    # *found* with words for a Spanish "en", an Italian "si", an English "falls" and a Dutch "pas", "only".
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
    # *found* with "ne ... pas" as one negation before the verb: "ne comprend pas" becomes "not comprend".
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


def _with_one_nor(found: list[str]) -> Iterator[str]:
    # *found* without "nor" soon after another negation: "no hay ni tren ni bus" denies once. "No, ni tren" stays.
    left = 0
    for word in found:
        is_repeated = word in _NOR and 0 < left < _REACH_OF_NOR
        left = _REACH_OF_NOR if word in _BEFORE_NOR else 0 if word in SENTENCE_ENDS else max(left - 1, 0)
        if not is_repeated:
            yield word


def _in_other_words(word: str, after: Sequence[str]) -> Sequence[str]:
    # The words for *word*: "2 times" for "twice", "without" for "free" in "free of nuts", not in "frei von 9 bis 12".
    # A word for one time only counts before a period, "once a day".
    if word in _PHRASES:
        is_phrase = len(after) > 1 and after[0] in _IN_PHRASES and not after[1][0].isdigit()
        return (_PHRASES[word] if is_phrase else word,)
    count = TIMES_BY_WORD[word]
    is_conjunction = word == "once" and after[:1] == ["a"] and _UNITS.isdisjoint(map(stem, after[1:]))
    is_count = count != "1" or (not is_conjunction and not _BEFORE_PERIODS.isdisjoint(after[:1]))
    return (count, "times") if is_count else (word,)


def _with_seconds(found: list[str]) -> list[str]:
    # *found* with "30 seconds" for "30s", "after 30s" and "1.5 s"; "the 1990s", "his 30s" and "the 3s" stay.
    result = found.copy()
    for place in compress(count(), map("s".__eq__, found)):
        before, number = ("", "", *found[max(0, place - 2) : place])[-2:]
        is_count = number[:1].isdigit() and not (number.isdigit() and len(number) == _DIGITS_OF_A_YEAR)
        are_seconds = "." in number or len(found) == 2 or before in _BEFORE_SECONDS
        if is_count and are_seconds and _DUTCH_TIMES.isdisjoint(found[place + 1 : place + 2]):
            result[place] = "seconds"
    return result


def _with_signs_after_numbers(found: list[str]) -> list[str]:
    # *found* with the signs moved after their numbers: `$`, `5`, `million` or `m` becomes `5`, `million`, `$`.
    result: list[str] = []
    sign, passed = "", False
    for each in found:
        word = _SCALES_OF_MONEY.get(each, each) if sign and passed else each
        if sign and (word in SCALES if passed else word[0].isdigit()):
            passed = True
        elif sign:
            result.append(sign)
            sign = ""
        if word in _SIGNS_OF_MONEY:
            sign, passed = word, False
        else:
            result.append(word)
    return [*result, sign] if sign else result
