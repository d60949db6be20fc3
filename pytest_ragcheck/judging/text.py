"""Text as the offline judge compares it: normalised, split into sentences, words and terms."""

from __future__ import annotations

import re
import unicodedata
from itertools import chain
from typing import TYPE_CHECKING

from pytest_ragcheck.judging.offline_numbers import (
    NUMBER_WORDS,
    SCALES,
    canonical_number,
    composed,
    with_han_numbers_in_digits,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uac00-\ud7a3\U00020000-\U0003ffff"
)
"""Scripts without spaces between words, as ranges of a pattern; Hangul too, since its particles cling to the words."""

_UNSPACED_RUN = re.compile(f"[{UNSPACED}]+")
_RUNS = re.compile(f"[{UNSPACED}]+|[^{UNSPACED}]+")
_HAN = re.compile(r"[〇一-九十百千万零两]")

NUMBER_PATTERN = r"\d+(?:[.,'’]\d+)*"
NUMBER = re.compile(NUMBER_PATTERN)
_ASCII_WORDS = re.compile(rf"{NUMBER_PATTERN}|[a-z]+(?:'[a-z]+)*|[%$]")
# `\w` would break words at the vowel signs of Indic scripts and of Thai, so what is no word is excluded instead.
_NO_LETTER = (
    r"\s\d_\u0000-\u0026\u0028-\u0040\[-`{-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7"
    r"\u0589\u05be\u060c\u061b\u061f\u066a-\u066d\u06d4\u0964\u0965\u0e2f\u0e46\u0e4f\u0e5a\u0e5b"
    r"\u104a\u104b\u17d4\u17d5\u2000-\u206f\u20a0-\u20cf\u2100-\u2bff\u2e00-\u2e7f\u3000-\u303f\u30fb"
    r"\ud800-\udfff\ue000-\uf8ff\ufe00-\ufe0f\ufe10-\ufe6f\uff00-\uff0f\ufff0-\uffff\U0001f000-\U0001faff"
)
_ANY_WORDS = re.compile(rf"{NUMBER_PATTERN}|[^{_NO_LETTER}']+(?:'[^{_NO_LETTER}']+)*|[%$€£]")

END = "¶"
"""The term that stands where a sentence ends, in `Terms.with_ends`."""
_SENTENCE_ENDS = ".!?\n。！？।"
_ASCII_WORDS_AND_ENDS = re.compile(rf"{_ASCII_WORDS.pattern}|[.!?](?=\s)|\n")
_ANY_WORDS_AND_ENDS = re.compile(rf"{_ANY_WORDS.pattern}|[.!?](?=\s)|[\n。！？।]")

_MARKS = re.compile("[\u0300-\u036f\u0591-\u05bd\u0640\u064b-\u0652\u00ad\u200b-\u200f\u2060\ufeff]+")
_DIGIT_SPACE = re.compile("(?<=\\d)[\u00a0\u2009\u202f](?=\\d{3}(?!\\d))")
_LETTERS_WITHOUT_DECOMPOSITION = (("ø", "o"), ("ł", "l"), ("đ", "d"), ("æ", "ae"), ("œ", "oe"), ("ı", "i"), ("’", "'"))
_FRACTIONS = (("½", " 1/2"), ("¼", " 1/4"), ("¾", " 3/4"), ("⅓", " 1/3"), ("⅔", " 2/3"))


def listed(words: str) -> frozenset[str]:
    """The words of a list that is written as one text, for a shorter page."""
    return frozenset(words.split())


def normalised(text: str) -> str:
    """*text* with case, accents, widths and kinds of apostrophe folded away, and dates as 2024-05-01 written out."""
    if "-" in text:
        text = _ISO_DATE.sub(_date_in_words, text)
    if text.isascii():
        return text.lower()
    text = _DIGIT_SPACE.sub("", text)
    for sign, written in _FRACTIONS:
        text = text.replace(sign, written)
    text = _MARKS.sub("", unicodedata.normalize("NFKD", text).casefold())
    text = unicodedata.normalize("NFC", text)
    for letter, written in _LETTERS_WITHOUT_DECOMPOSITION:
        text = text.replace(letter, written)
    return with_han_numbers_in_digits(text) if _HAN.search(text) else text


# Looks back after the first digit, not before it: so the search can skip to digits, four times as fast.
_ISO_DATE = re.compile(r"([12](?<![\d-].)\d{3})-(0[1-9]|1[0-2])-([0-3]\d)(?![\d-])")
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip


def _date_in_words(match: re.Match[str]) -> str:
    return f"{_MONTHS[int(match[2]) - 1]} {match[3]} {match[1]}"


def words(text: str) -> list[str]:
    """
    The words, numbers and signs for units of *text*, normalised, in order.

    Scripts without word boundaries give overlapping pairs of characters. Digits and letters that are
    glued together come apart: `30d` is `30`, `d`.
    """
    return folded_words(normalised(text))


def folded_words(folded: str, *, with_ends: bool = False) -> list[str]:
    """The words of a text that is normalised already; *with_ends* the marks between sentences too."""
    if folded.isascii():
        return (_ASCII_WORDS_AND_ENDS if with_ends else _ASCII_WORDS).findall(folded)
    found: list[str] = (_ANY_WORDS_AND_ENDS if with_ends else _ANY_WORDS).findall(folded)
    if not _UNSPACED_RUN.search(folded):
        return found
    return list(chain.from_iterable(map(_pairs, ("", *found), found)))


def _pairs(before: str, word: str) -> list[str]:
    """The pairs of characters of *word*, where it is written in a script without word boundaries."""
    if word.isascii() or word[0].isdigit() or not _UNSPACED_RUN.search(word):
        return [word]
    pairs: list[str] = []
    for run in _RUNS.findall(word):
        if len(run) == 1 or not _UNSPACED_RUN.match(run):
            pairs.append(run)
            continue
        if not pairs and before[-1:].isdigit():
            pairs.append(run[0])  # the unit: 30天 has to be found in 30天内
        pairs += [run[place : place + 2] for place in range(len(run) - 1)]
    return pairs


# Units and months that are written short so often that an answer and its source differ in it.
_SHORT_FORMS = {
    "%": "percent", "$": "dollar", "€": "euro", "£": "pound", "hr": "hour", "hrs": "hour", "min": "minute",
    "mins": "minute", "sec": "second", "secs": "second", "yr": "year", "yrs": "year", "km": "kilometer",
    "kilometre": "kilometer", "kilometres": "kilometer", "kg": "kilogram", "lb": "pound", "lbs": "pound",
    "jan": "january", "feb": "february", "apr": "april", "jun": "june", "jul": "july", "aug": "august",
    "sep": "september", "sept": "september", "oct": "october", "nov": "november", "dec": "december",
    "usa": "us", "d": "day", "h": "hour",
}  # fmt: skip


class Terms(dict[str, str]):
    """
    The term that stands for each word: its stem, or its number in one spelling.

    A dictionary that fills itself, so that a word that was seen before costs one look-up.
    """

    def __missing__(self, word: str) -> str:
        term = self[word] = _term(word)
        return term

    def of(self, text: str) -> list[str]:
        """The terms of *text*, in order; a number that takes several words is one term."""
        return self.of_words(words(text))

    def with_ends(self, text: str) -> list[str]:
        """The terms of *text*, with `END` where a sentence ends."""
        return self.of_words(folded_words(normalised(text), with_ends=True))

    def of_words(self, found: list[str]) -> list[str]:
        """The terms of a text whose words *found* are."""
        if not _SIGNS.isdisjoint(found):
            found = _with_signs_after_numbers(found)
        terms = [self[word] for word in found]
        if _MULTIPLIERS.isdisjoint(found):
            return terms
        return composed(found, terms)


_SIGNS = frozenset("$€£")


def _with_signs_after_numbers(found: list[str]) -> list[str]:
    """*found* with `$`, `5`, `million` turned into `5`, `million`, `$`, as `5 million dollars` has them."""
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


_MULTIPLIERS = frozenset(SCALES).union(word for word, value in NUMBER_WORDS.items() if value >= 20)


def is_number(term: str) -> bool:
    """Is *term* a number, whether it was written in digits or in words."""
    return term < ":"  # of terms, which are never empty, only numbers begin with an ASCII digit; all else sorts after


def numbers_in(terms: Iterable[str]) -> list[str]:
    """Those of *terms* that are numbers, in order."""
    return [term for term in terms if term < ":"]


def _term(word: str) -> str:
    if word in _SENTENCE_ENDS:
        return END
    if word[0].isdigit():
        return canonical_number(word)
    if word in NUMBER_WORDS:
        return str(NUMBER_WORDS[word])
    if word in _SHORT_FORMS:
        word = _SHORT_FORMS[word]
    if "'" in word:  # l'hôtel, the hotel's, O'Brien, don't: the longest part says it
        word = max(word.split("'"), key=len)
    return stem(word)


# Cut stems let derived forms meet (recommend, recommendation) in any inflecting language. Uncut: -0.009 of the area
# under the curve on RAGTruth, -0.020 on WiCE; 5 is no better.
_STEM_LENGTH = 6


def stem(word: str) -> str:
    """The beginning of *word* without its commonest endings, so that forms of one word mostly meet; never empty."""
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
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ingly", "edly", "ing", "ed", "ly", "en"):
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


_ENDS = re.compile(r"""[.!?…]+["'”’»)\]*]*(?=\s)|[。！？｡।]+["'”’」』）]*|\n+""")
_MARKERS = re.compile(r"(?:(?:[-*•‣–—#>]+|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])(?:\s+|$)){1,3}")
_AFTER_A_LETTER = ("", ".", ")")  # of a marker; what begins with a letter and goes on otherwise has none
_ABBREVIATIONS = listed(
    "mr mrs ms dr prof st vs etc e.g i.e eg ie cf al fig jr sr inc ltd co approx dept est vol pp ca bzw z.b nr"
)


def sentences(text: str) -> Iterator[str]:
    """The sentences and list items of *text*, verbatim, in order, without blanks and list markers around them."""
    start = 0
    for end in _ENDS.finditer(text):
        if end[0][0] == "." and _is_abbreviation(text, start, end.start()):
            continue
        if piece := _without_marker(text[start : end.end()]):
            yield piece
        start = end.end()
    if piece := _without_marker(text[start:]):
        yield piece


def _is_abbreviation(text: str, start: int, dot: int) -> bool:
    """Does the dot at *dot* end an abbreviation, an initial or a list marker rather than a sentence."""
    before = text[max(start, dot - 12) : dot].split()
    if not before:
        return True
    last = before[-1].lstrip("(\"'“*")
    if last.isdigit():
        return not text[start : dot - len(last)].strip(" \t\n-*•(")
    return last.lower() in _ABBREVIATIONS or (len(last) == 1 and last.isalpha() and last.isupper())


def _without_marker(piece: str) -> str:
    """*piece* without blanks and list markers around it; empty where nothing can be read in it."""
    piece = piece.strip()
    if piece[:1].isalpha() and piece[1:2] not in _AFTER_A_LETTER:
        return piece
    if markers := _MARKERS.match(piece):
        piece = piece[markers.end() :]
    return piece if any(map(str.isalnum, piece)) else ""
