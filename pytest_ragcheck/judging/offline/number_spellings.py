"""Gives each number one spelling, so that the offline judge can compare numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_ENGLISH = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS = ("third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth")
# Words of other languages below ten and for tens, without those that mean something else in English.
_FURTHER = {
    "zwei": 2, "drei": 3, "vier": 4, "funf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9, "zehn": 10,
    "zwolf": 12, "zwanzig": 20, "dreissig": 30, "vierzig": 40, "funfzig": 50, "sechzig": 60, "neunzig": 90,
    "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "huit": 8, "neuf": 9, "dix": 10, "onze": 11, "douze": 12,
    "quinze": 15, "vingt": 20, "trente": 30, "quarante": 40, "cinquante": 50, "soixante": 60,
    "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6, "siete": 7, "ocho": 8, "nueve": 9, "diez": 10,
    "quince": 15, "veinte": 20, "treinta": 30, "cuarenta": 40, "cincuenta": 50, "sesenta": 60,
    "два": 2, "две": 2, "двух": 2, "три": 3, "трех": 3, "четыре": 4, "четырех": 4, "пять": 5, "пяти": 5,
    "шесть": 6, "шести": 6, "семь": 7, "семи": 7, "восемь": 8, "восьми": 8, "девять": 9, "десять": 10,
    "десяти": 10, "двадцать": 20, "двадцати": 20, "тридцать": 30, "тридцати": 30, "сорок": 40,
    "пятьдесят": 50, "шестьдесят": 60,
}  # fmt: skip

NUMBER_WORDS: dict[str, int] = {
    **{word: value for value, word in enumerate(_ENGLISH)},
    **{word: 10 * value for value, word in enumerate(_TENS, start=2)},
    **{word: value for value, word in enumerate(_ORDINALS, start=3)},
    **_FURTHER,
}
"""The value of each number word, in the spelling of `normalised`."""

SCALES: dict[str, int] = {
    "hundred": 100,
    **dict.fromkeys(("thousand", "k", "tausend", "mille", "mil", "тысяч", "тысячи", "тысяча"), 10**3),
    **dict.fromkeys(("million", "millions", "mn", "millionen", "millones", "миллион", "миллионов"), 10**6),
    **dict.fromkeys(("billion", "billions", "bn", "milliarden", "milliards", "миллиардов"), 10**9),
    **dict.fromkeys(("trillion", "trillions", "tn"), 10**12),
}
"""Words that multiply the number before them."""

_HAN_DIGITS = {"〇": 0, "零": 0, **{sign: value for value, sign in enumerate("一二三四五六七八九", start=1)}, "两": 2}
_HAN_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
# A lone Han digit is a number only before a measure word; "一" begins too many ordinary words.
_HAN_NUMBER = re.compile(
    r"[一二三四五六七八九两十][〇零一二两三四五六七八九十百千万萬亿億]+|[二三四五六七八九两十](?=[天日年月周週小时個个次岁歲元块倍名位人])"
)
_GROUPED = re.compile(r"\d{1,3}(?:[,'’]\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?")
_LONGEST_NUMBER = 40  # digits; longer numbers are compared as text, because int() is quadratic
_LARGEST_COMPOSED = 10.0**_LONGEST_NUMBER  # else "hundred hundred ..." becomes infinite


def canonical_number(written: str) -> str:
    """
    One spelling for a number in digits: `1,000` is `1000`, `2,50` is `2.5`, `007` is `7`.

    A single dot is a decimal point (`1.000` is `1`). A comma before exactly three digits separates thousands. Text
    that is not a decimal number (`1.2.3`) is returned unchanged.
    """
    if len(written) > _LONGEST_NUMBER:
        return written
    if written.isdigit():
        return str(int(written))
    if _GROUPED.fullmatch(written):
        comma_decimal = written.count(".") > 1
        written = re.sub(r"[.'’]" if comma_decimal else r"[,'’]", "", written)
    written = written.replace(",", ".")
    if written.count(".") > 1 or "'" in written:
        return written
    whole, _, decimals = written.partition(".")
    decimals = decimals.rstrip("0")
    return f"{int(whole)}.{decimals}" if decimals else str(int(whole))


def other_reading(number: str) -> str | None:
    """The same digits by the other convention: `1.5` may be `1.500`, which is 1500. None without another reading."""
    whole, dot, decimals = number.partition(".")
    if not dot or not (whole + decimals).isdigit() or len(whole) > 3 or len(decimals) > 3 or whole == "0":
        return None
    return whole + decimals.ljust(3, "0")


def composed(words: Sequence[str], terms: Sequence[str]) -> list[str]:
    """
    *terms* with each number of several words joined into one: `two hundred and fifty`, `2.5 million`.

    Args:
        words: The text's words.
        terms: The term of each word; that of a number is its canonical spelling.

    Returns:
        The terms; fewer if numbers were joined.
    """
    joined: list[str] = []
    place = 0
    while place < len(words):
        if not terms[place][:1].isdigit():
            joined.append(terms[place])
            place += 1
            continue
        end, value = _number_at(words, terms, place)
        joined.append(terms[place] if end == place + 1 else canonical_number(f"{value:.6f}"))
        place = end
    return joined


def _number_at(words: Sequence[str], terms: Sequence[str], start: int) -> tuple[int, float]:
    """The end and the value of the number that begins at *start*."""
    try:
        current = float(terms[start])
    except ValueError:  # a version such as 1.2.3
        return start + 1, 0.0
    if len(terms[start]) > _LONGEST_NUMBER:  # a float would lose digits
        return start + 1, 0.0
    total, end, smallest_scale = 0.0, start + 1, float("inf")
    room = _room_after(words[start])
    while end < len(words):
        word = words[end]
        scale = SCALES.get(word)
        if scale is not None and scale < smallest_scale and current < _LARGEST_COMPOSED:
            current *= scale
            if scale > 100:
                total, current, smallest_scale = total + current, 0.0, scale
            room = scale
            end += 1
            continue
        step = 2 if word == "and" and room >= 100 and end + 1 < len(words) else 1
        following = words[end + step - 1]
        value = NUMBER_WORDS.get(following)
        if not value or value >= room:
            break
        current += value
        room = _room_after(following)
        end += step
    return end, total + current


def _room_after(word: str) -> int:
    """The limit of a number that may be added to *word*: 10 after twenty, 0 after three or 3."""
    return 10 if NUMBER_WORDS.get(word, 0) >= 20 else 0


def with_han_numbers_in_digits(text: str) -> str:
    """*text* with Han numbers written in digits: `三十天` becomes `30天`."""
    return _HAN_NUMBER.sub(lambda match: str(_han_value(match[0])), text)


def _han_value(signs: str) -> int:
    if not any(sign in _HAN_SCALES for sign in signs):  # digit by digit, as in years
        return int("".join(str(_HAN_DIGITS[sign]) for sign in signs[:_LONGEST_NUMBER]))
    total = section = digit = 0
    for sign in signs:
        if sign in _HAN_DIGITS:
            digit = _HAN_DIGITS[sign]
        elif (scale := _HAN_SCALES[sign]) < 10**4:
            section += max(digit, 1) * scale
            digit = 0
        else:
            total += max(section + digit, 1) * scale
            section = digit = 0
    return total + section + digit
