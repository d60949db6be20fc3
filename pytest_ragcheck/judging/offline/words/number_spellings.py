"""Gives each number one spelling, so that the offline judge can compare numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import compress, count

from pytest_ragcheck.judging.offline.words.stems import stem
from pytest_ragcheck.judging.offline.words.word_lists import LANGUAGE_OF, MONTHS_BY_WORD, NUMBER_WORDS, SCALES, WORDS

_ENGLISH_WORD = {2: "two", 6: "six", 7: "seven", 8: "eight", 11: "eleven"}
_CUES_OF_A_LANGUAGE = 2
_HUNDREDS_INSIDE, _THOUSANDS_INSIDE = ("hundert", "honderd", "cento"), ("tausend", "duizend", "mila")
_INSIDE_LARGE_NUMBERS = re.compile("|".join(_HUNDREDS_INSIDE + _THOUSANDS_INSIDE))
_ONES = ("", "ein", "een")
_JOINING = frozenset(("and", "y", "e", "et", "en", "und"))
_BEFORE_HALF = _JOINING | {"с"}
_HALVES = frozenset(WORDS["halves after numbers"].split())
_PERCENT = "percen"  # the term of percent
_PERCENT_BEFORE, _PERCENT_AFTER = frozenset(("por", "per", "pour")), frozenset(("ciento", "cento", "cent"))
_AFTER_NUMBER = _PERCENT_AFTER.union(SCALES)
_AFTER_TENS: dict[str, int] = {
    **dict.fromkeys(("un", "une", "uno", "una", "um", "uma", "first", "первого"), 1),
    "second": 2,
    "второго": 2,
    "dos": 2,
    "sept": 7,
    "onze": 11,
}
_BESIDE_ORDINAL = frozenset(("the", "of", *MONTHS_BY_WORD))
_LONGEST_GROUP = 5  # words: "twenty five hundred thousand"
_BEFORE_HOURS = frozenset(("las", "la", "as", "alle", "le", "dalle"))  # "a las seis y media" is 6:30
_ARTICLES = frozenset(("a", "un", "une", "una", "uma", "um", "een", "eine", "einer", "ein"))
_LONGEST_SYMBOL = 2
_HUNDRED = 100
_FRENCH_DIGITS = frozenset(("deux", "trois", "quatre", "cinq", "sept", "huit", "neuf"))
_FRENCH_HUNDREDS, _FRENCH_TWENTIES = frozenset(("cent", "cents")), frozenset(("vingt", "vingts"))
_FRENCH = frozenset(WORDS["French"].split())

READ_TOGETHER = _HALVES.union(
    SCALES, _FRENCH_HUNDREDS, ("dix",), (word for word, value in NUMBER_WORDS.items() if value >= 20)
)
"""Words that may join their neighbours to one number."""

_GROUPED = re.compile(r"\d{1,3}(?:[,'’]\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3}){2,}|\d{1,3}(?:\.\d{3})+,\d+")
_GROUPED_BY_DOT = re.compile(r"[1-9]\d{0,2}\.\d\d0")
_LONGEST_NUMBER = 40  # digits; longer numbers are compared as text, because int() is quadratic
_LARGEST_COMPOSED = 10.0**_LONGEST_NUMBER  # else "hundred hundred ..." becomes infinite


def canonical_number(written: str) -> str:
    """
    One spelling for a number in digits: `1,000` is `1000`, `2,50` is `2.5`, `007` is `7`, `09:00` is `9:00`.

    A single dot is a decimal point, unless three digits that end in 0 follow: `1.500` is 1500. A comma before exactly
    three digits separates thousands. Another text (`1.2.3`) is returned unchanged.
    """
    if len(written) > _LONGEST_NUMBER:
        return written
    written = written.replace(" ", "")
    if written.isdigit():
        return str(int(written))
    if ":" in written:
        if written.count(":") > 1:
            written = written.removesuffix(":00")  # seconds
        return written[1:] if written[0] == "0" and written[1] != ":" else written
    if _GROUPED_BY_DOT.fullmatch(written):
        return written.replace(".", "")
    if _GROUPED.fullmatch(written):
        written = re.sub("[.]" if "." in written[:4] else "[,'’]", "", written)
    written = written.replace(",", ".")
    if written.count(".") > 1 or "'" in written:
        return written
    whole, _, decimals = written.partition(".")
    decimals = decimals.rstrip("0")
    return f"{int(whole)}.{decimals}" if decimals else str(int(whole))


def other_reading(number: str) -> str | None:
    """The same digits by the other convention: `1.5` may be `1.500`, which is 1500; else None."""
    whole, dot, decimals = number.partition(".")
    if not dot or not (whole + decimals).isdigit() or len(whole) > 3 or len(decimals) > 3 or whole == "0":
        return None
    return whole + decimals.ljust(3, "0")


def joined_number(word: str) -> float | None:
    """The value of a number above 100 in one word, such as `zweihundertdrei`; else None."""
    if not _INSIDE_LARGE_NUMBERS.search(word):
        return None
    if word.startswith("mille") and (rest := _below_thousand(word.removeprefix("mille"))):
        return 1000 + rest
    for thousand in _THOUSANDS_INSIDE:
        before, found, after = word.partition(thousand)
        if found:
            count = 1 if before in _ONES else _below_thousand(before)
            rest = _below_thousand(after.removeprefix("und").removeprefix("en")) if after else 0
            return None if count is None or rest is None else 1000 * count + rest
    return _below_thousand(word)


def _below_thousand(word: str) -> float | None:
    if word in NUMBER_WORDS or word in LANGUAGE_OF:
        return NUMBER_WORDS.get(word) or LANGUAGE_OF[word][0]
    for hundred in _HUNDREDS_INSIDE:
        before, found, after = word.partition(hundred)
        if found:
            count = 1 if before in _ONES else NUMBER_WORDS.get(before) or LANGUAGE_OF.get(before, (0,))[0]
            rest = NUMBER_WORDS.get(after) or NUMBER_WORDS.get(after.removeprefix("und").removeprefix("en"), 0)
            is_number = 0 < count < 100 and count % 10 and (not after or 0 < rest < 100)
            return 100 * count + rest if is_number else None
    return None


def language_number(word: str, after: Sequence[str], text: AbstractSet[str], units: AbstractSet[str]) -> str:
    """The `LANGUAGE_OF` word, in English if a unit follows or the text has two words of its language."""
    value, cues = LANGUAGE_OF[word]
    is_number = not units.isdisjoint(map(stem, after[:1])) or len(cues & text) >= _CUES_OF_A_LANGUAGE
    return _ENGLISH_WORD[value] if is_number else word


def composed(words: Sequence[str], terms: Sequence[str]) -> list[str]:
    """
    The *terms* of *words* with each number of several words as one: `two hundred and fifty`, `treinta y cinco`.

    A number of several words has one of `READ_TOGETHER` among its first four.
    """
    if "cent" in words:
        terms = ["100" if _is_french_hundred(words, place) else term for place, term in enumerate(terms)]
    joined: list[str] = []
    end = 0
    together = compress(count(), map(READ_TOGETHER.__contains__, words))
    for place in dict.fromkeys(place for at in together for place in range(max(0, at - 3), at + 1)):
        if place >= end and (terms[place] < ":" or words[place] in _AFTER_NUMBER):
            replaced, written, after = _number_with_words_before(words, terms, place)
            if written:
                joined += terms[end:place]
                joined[len(joined) - replaced :] = [written]
                end = after
    return [*joined, *terms[end:]]


def _number_with_words_before(words: Sequence[str], terms: Sequence[str], place: int) -> tuple[int, str, int]:
    # How many terms before *place* the number there replaces, its term or "", and the place after it.
    word, halves = words[place], _words_of_half(words, place)
    before = words[place - 1] if place else ""
    is_percent = place > 1 and word in _PERCENT_AFTER and before in _PERCENT_BEFORE
    if is_percent and (terms[place - 2] < ":" or words[place - 2] in _AFTER_TENS):  # not "per cento euro"
        return 1, _PERCENT, place + 1
    if terms[place] < ":":
        end, value = _number_at(words, terms, place)
        if words[end - 1] in _HALVES and before in _BEFORE_HOURS:
            return 0, f"{int(value)}:30", end
        return 0, terms[place] if end == place + 1 else canonical_number(f"{value:.6f}"), end
    if word not in SCALES or len(word) <= _LONGEST_SYMBOL or not (halves or before in _ARTICLES):
        return 0, "", place
    if halves:  # half a million
        return halves, canonical_number(str(SCALES[word] / 2)), place + 1
    end, value = _number_at(words, terms, place - 1)  # a hundred and ten
    return 1, canonical_number(f"{value:.6f}"), end


def _words_of_half(words: Sequence[str], place: int) -> int:
    # The number of words before *place* that halve the number there: "half a dozen"; or 0.
    if place and words[place - 1] in _HALVES:
        return 1
    return 2 if place > 1 and words[place - 1] in _ARTICLES and words[place - 2] in _HALVES else 0


def _is_french_hundred(words: Sequence[str], place: int) -> bool:
    # True for "cent" in "cent vingt places" and "mille cent", but not in "20 cent" and "pour cent".
    before = words[place - 1] if place else ""
    if words[place] != "cent" or before in _PERCENT_BEFORE or before[:1].isdigit():
        return False
    if before in NUMBER_WORDS or before in LANGUAGE_OF:
        return before == "mille"
    is_number = words[place + 1 : place + 2] and words[place + 1] in NUMBER_WORDS
    return bool(is_number) or len(_FRENCH.intersection(words)) >= _CUES_OF_A_LANGUAGE


def _number_at(words: Sequence[str], terms: Sequence[str], start: int) -> tuple[int, float]:
    try:
        current = 1.0 if words[start] in _ARTICLES else float(terms[start])
    except ValueError:  # a version such as 1.2.3
        return start + 1, 0.0
    if len(terms[start]) > _LONGEST_NUMBER:  # a float would lose digits
        return start + 1, 0.0
    total, end, smallest_scale = 0.0, start + 1, float("inf")
    room = _room_after(words[start])
    while end < len(words):
        word, scale = words[end], _scale_at(words, end)
        if scale is not None and scale < smallest_scale and current < _LARGEST_COMPOSED:
            current += (scale - 1) * (current % 1000 if scale == _HUNDRED else current)  # mille deux cents
            if scale > _HUNDRED:
                total, current, smallest_scale = total + current, 0.0, scale
            room = scale
            end += 1
            continue
        if word in _FRENCH_TWENTIES and words[end - 1] == "quatre":
            current, room, end = current + 76, 20, end + 1
            continue
        step = 2 if room and word in _JOINING and (word != "and" or room >= 100) and end + 1 < len(words) else 1
        following, value = words[end + step - 1], _value_added(words, terms, start, end + step - 1, room)
        if not value or value >= room or _begins_another(words, end, step, room, smallest_scale):
            break
        current += value
        room = 10 if value == 10 and room == 20 else _room_after(following)  # soixante-dix-sept
        end += step
    value = total + current
    after = [word for word in words[end : end + 3] if word not in _ARTICLES]
    if len(after) > 1 and after[0] in _BEFORE_HALF and after[1] in _HALVES:
        last = SCALES.get(words[end - 1], 1)
        end = words.index(after[1], end) + 1
        scale = SCALES.get(words[end], 1) if last == 1 and end < len(words) else 1
        # "Two million and a half", "two and a half million", "two hundred and a half".
        return end + (scale > 1), (value + 0.5 * (1 if last == _HUNDRED else last)) * scale
    return end, value


def _value_added(words: Sequence[str], terms: Sequence[str], start: int, place: int, room: int) -> float:
    # The value that the word at *place* adds to the number that begins at *start*; or 0.
    word = words[place]
    if word == "cent":
        return _HUNDRED if terms[place] == "100" else 0  # mille cent
    if word == "second" and _BESIDE_ORDINAL.isdisjoint((*words[:start][-1:], *words[place + 1 : place + 2])):
        return 0  # "a thirty second timeout", not "the thirty second of March"
    may_be_one = room < _HUNDRED or words[place - 1] in _FRENCH_HUNDREDS  # "deux cent un"
    return NUMBER_WORDS.get(word) or (_AFTER_TENS.get(word, 0) if may_be_one else 0)


def _scale_at(words: Sequence[str], place: int) -> int | None:
    is_french = words[place] in _FRENCH_HUNDREDS and words[place - 1] in _FRENCH_DIGITS
    return _HUNDRED if is_french else SCALES.get(words[place])


def _begins_another(words: Sequence[str], end: int, step: int, room: int, smallest_scale: float) -> bool:
    # True for the second number of "a hundred and two hundred" and of "a thousand and fifty thousand".
    first = end + step - 1
    limit = room if room > _HUNDRED else smallest_scale
    for place in range(first + 1, min(first + _LONGEST_GROUP, len(words))):
        scale = _scale_at(words, place)
        if scale is None and words[place] not in NUMBER_WORDS:
            return False
        counted = NUMBER_WORDS.get(words[first], 0) if place == first + 1 and scale == _HUNDRED else 0
        is_large = counted and (room == _HUNDRED or counted * _HUNDRED >= limit)  # "a thousand and fifteen hundred"
        if is_large or scale == limit or ((scale or 0) > limit and step > 1):
            return True
    return False


def _room_after(word: str) -> int:
    # The limit of a number that may be added to *word*: 10 after twenty, 0 after three or 3.
    if word in ("soixante", "dix"):  # soixante-dix is 70, dix-sept is 17
        return 20 if word == "soixante" else 10
    value = 100 if word in _FRENCH_HUNDREDS else NUMBER_WORDS.get(word, 0)
    return 0 if value < 20 else 10 if value < 100 else 100 if value < 1000 else 1000
