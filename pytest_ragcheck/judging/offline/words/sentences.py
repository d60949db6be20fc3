from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from pytest_ragcheck.judging.offline.words.normalized_text import listed, normalised
from pytest_ragcheck.judging.offline.words.word_lists import MONTHS_BY_WORD, WORDS

# Begins with one set of characters, so that the search can skip to them, three times as fast. A run of dots matches
# from its first dot only, in linear time.
_ENDS = re.compile(
    r"""[.!?…\n。！？｡।](?:(?<=[.!?…])(?<![.!?…]{2})[.!?…]*["'”’»)\]*]*(?=\s)|(?<=\n)\n*|(?<=[。！？｡।])[。！？｡।]*["'”’」』）]*)"""
)
_MARKERS = re.compile(r"(?:(?:[-*•‣–—#>]+|\(?\d{1,3}(?:[.)]|\ufe0f?\u20e3)|\(?[a-zA-Z][.)])(?:\s+|$)){1,3}")
_AFTER_A_LETTER = ("", ".", ")")  # of a marker
_ABBREVIATIONS = listed(WORDS["abbreviations"])
_HALVES_OF_A_DAY = frozenset(("a.m", "p.m"))
_LEAST_OF_AN_END = 3  # letters, which exclude most words that are not abbreviations
_ENDS_OF_ABBREVIATIONS = frozenset(word[-_LEAST_OF_AN_END:] for word in _ABBREVIATIONS)
_AFTER_A_DAY = frozenset(("bis", "und"))
_NEXT_WORD = re.compile(r"[^\S\n]([^\W\d_]+)")


def sentences(text: str) -> Iterator[str]:
    """
    The sentences and list items of *text*, verbatim, in order, without surrounding spaces and list markers.

    A text of nothing but markers, such as "30." or "B.", is one sentence.
    """
    start = 0
    has_any = False
    for end in _ENDS.finditer(text):
        mark, stop = end.span()
        if text[mark] == "." and _is_abbreviation(text, start, mark):
            continue
        if piece := _without_marker(text[start:stop]):
            has_any = True
            yield piece
        start = stop
    if piece := _without_marker(text[start:]):
        yield piece
    elif not has_any and any(map(str.isalnum, text)):
        yield text.strip()


def places_of_sentences(text: str) -> Iterator[tuple[int, int]]:
    end = 0
    for sentence in sentences(text):
        start = text.index(sentence, end)
        end = start + len(sentence)
        yield start, end


def _is_abbreviation(text: str, start: int, dot: int) -> bool:
    # True if the dot at *dot* ends an abbreviation, an initial or a list marker, and not a sentence.
    end = text[max(start, dot - _LEAST_OF_AN_END) : dot].lower()
    if len(end) == _LEAST_OF_AN_END and end.isalpha() and end not in _ENDS_OF_ABBREVIATIONS:
        return False
    if text[dot - 1 : dot] == " ":  # of a citation marker that was removed
        dot = start + len(text[start:dot].rstrip(" "))
    before = text[max(start, dot - 12) : dot].split()
    if not before:
        return True
    last = before[-1].lstrip("(\"'“*")
    if last.lower() == "no" and text[dot + 1 : dot + 3].strip().isdigit():  # "No. 4"
        return True
    if last.lower() in _HALVES_OF_A_DAY:
        return _is_dated(text, dot)
    if last[-1:].isdigit():
        is_marker = last.isdigit() and not text[start : dot - len(last)].strip(" \t\n-*•(")
        return is_marker or _is_dated(text, dot)
    return last.lower() in _ABBREVIATIONS or (len(last) == 1 and last.isalpha() and last.isupper())


def _is_dated(text: str, dot: int, goes_on: Callable[[str], bool] = lambda word: word[0].islower()) -> bool:
    # True if a month or a word that *goes_on* follows the dot, as in "15. September", "1.5. bis" and "9 a.m. to".
    following = _NEXT_WORD.match(text, dot + 1)
    return following is not None and (goes_on(following[1]) or normalised(following[1]) in MONTHS_BY_WORD)


def _without_marker(piece: str) -> str:
    # *piece* without blanks and list markers around it; empty if it has no letters and digits.
    piece = piece.strip()
    if not piece or (piece[0].isalpha() and piece[1:2] not in _AFTER_A_LETTER):
        return piece
    if (markers := _MARKERS.match(piece)) and not (
        piece[0].isdigit() and _is_dated(piece, markers.end() - 2, _AFTER_A_DAY.__contains__)
    ):
        piece = piece[markers.end() :]
    return piece if any(map(str.isalnum, piece)) else ""
