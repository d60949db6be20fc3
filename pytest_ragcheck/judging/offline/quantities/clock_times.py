"""Reads the clock times of a text, in digits and in words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pytest_ragcheck.judging.offline.quantities.quantity import (
    AND,
    ARTICLES,
    BEFORE_NUMBER,
    HALVES,
    NOON,
    QUARTERS,
    UNITS,
    Quantity,
    is_small,
    term_at,
    unit_at,
)
from pytest_ragcheck.judging.offline.words.rewording import WITHOUT
from pytest_ragcheck.judging.offline.words.terms import first_content, is_number, term_of, terms_of
from pytest_ragcheck.judging.offline.words.word_lists import WORDS

_CLOCK = re.compile(r"([01]?\d|2[0-4])[:.]([0-5]\d?)")
_HALF_HOUR = re.compile(r"(\d|1[01])\.5")
_HOURS_OF_A_CLOCK, _HOURS_OF_A_DAY = 12, 24
_PAST = terms_of("past after over nach na")
_PAST_OR_BEFORE = _PAST | terms_of("to before voor vor")
_AT = terms_of("um om at a as las alle в tot bis ab vanaf")
_AT_A_TIME = terms_of("um alle")  # not "at 2.5": a number follows "at" in other senses, too
_AT_AN_HOUR = terms_of("um om as las alle в")
_BEFORE_HOURS = terms_of("las la as le alle dalle")
CLOCK_UNITS = terms_of(WORDS["hours"])
_MORNING = terms_of(WORDS["morning"])
_EVENING = terms_of(WORDS["evening"])
_AFTER_NOON = [term_of("apres"), term_of("midi")]
PARTS_OF_A_DAY = _MORNING | _EVENING
"""Terms of "in the morning", "in the evening" and the like."""

_PARTS_WITHOUT_HOUR = PARTS_OF_A_DAY - terms_of("дня")
_MINUS = terms_of("menos moins meno")
_PLUS_OR_MINUS = AND | _MINUS
_BEFORE_MINUTES = BEFORE_NUMBER | ARTICLES
_MINUTE = UNITS[term_of("minute")]
_PORTUGUESE_TO = term_of("para")
_MINUTES_OF_HOUR, _RUSSIAN_QUARTER = term_of("минут"), term_of("четверть")
_BESIDE_HOURS = PARTS_OF_A_DAY.union(
    HALVES, QUARTERS, CLOCK_UNITS, _PAST_OR_BEFORE, _BEFORE_HOURS, _AT_A_TIME, ("am", "pm", "a", "p", _MINUTES_OF_HOUR)
)
"""A small number is a clock time only with one of these near it, from one term before to three after."""


def clock_at(terms: Sequence[str], place: int) -> Quantity | None:
    """The clock time at *place*: "16:15", "6 pm", "18 uhr", "quarter past four", "las seis y veinte de la tarde"."""
    if is_small(terms[place]) and _BESIDE_HOURS.isdisjoint(terms[max(0, place - 1) : place + 4]):
        return None
    found = _spoken_time(terms, place) or _digital_time(terms, place)
    if (
        found is None and _HALF_HOUR.fullmatch(terms[place]) and not unit_at(terms, place + 1)[0]
    ):  # "a ocho y media de la tarde"
        half = in_day(clock_time(60 * float(terms[place]), place, place + 1), terms, is_after=True)
        return half if half.is_certain else None
    if found is None and is_small(terms[place]) and 0 < int(terms[place]) <= _HOURS_OF_A_CLOCK:
        if term_at(terms, place + 1) in CLOCK_UNITS:  # "neuf heures du matin"
            hour = in_day(clock_time(60 * int(terms[place]), place, place + 2), terms, is_after=True)
            return hour if hour.is_certain else None
        following = first_content(terms[place + 1 : place + 4])
        if following in _PARTS_WITHOUT_HOUR:  # "в 7 вечера", "at three in the afternoon"
            return in_day(clock_time(60 * int(terms[place]), place, place + 1), terms)
    return None if found is None else in_day(found, terms)


def in_day(found: Quantity, terms: Sequence[str], *, is_after: bool = False) -> Quantity:
    """*found* after noon if "in the evening" or similar is next to it; with *is_after*, only if it follows."""
    if found.is_certain or found.value > NOON:
        return found
    part = ""
    for place in range(found.end, min(found.end + 4, len(terms))):
        if is_number(terms[place]) or terms[place] in AND:
            break
        if terms[place] in PARTS_OF_A_DAY or terms[place - 1 : place + 1] == _AFTER_NOON:
            part, found.end = terms[place], place + 1
            break
    if not part and not is_after:
        part = next((term for term in terms[max(0, found.start - 3) : found.start] if term in PARTS_OF_A_DAY), "")
    if part:
        found.value = found.value % NOON + NOON * (part not in _MORNING)
        found.is_certain, found.is_digital = True, False
    return found


def _digital_time(terms: Sequence[str], place: int) -> Quantity | None:
    term, following = terms[place], terms[place + 1 : place + 3]
    is_whole_hour = is_small(term) and int(term) <= _HOURS_OF_A_DAY
    written = None if is_whole_hour else _CLOCK.fullmatch(term)
    if not (is_whole_hour or written):
        return None
    is_hour = bool(following) and (following[0] in CLOCK_UNITS)
    half_of_day = "".join(following) if following[:1] in (["a"], ["p"]) else term_at(terms, place + 1)
    noon = {"am": 0, "pm": 12}.get(half_of_day)
    is_after_at = term_at(terms, place - 1) in _AT
    if is_hour and not is_after_at and _is_minute(following[1:]) and unit_at(terms, place + 3) == _MINUTE:
        return None  # a duration, "2 hours 25 minutes"
    is_timed = (is_hour and (len(term.partition(".")[2]) > 1 or following[0] == "uhr" or is_after_at)) or (
        is_after_at and terms[place - 1] in _AT_A_TIME and not unit_at(terms, place + 1)[0]
    )
    if written and (":" in term or is_timed or noon is not None):
        hour, minute = int(written[1]), int(written[2].ljust(2, "0"))
    elif is_whole_hour and (
        noon is not None
        or following[:1] == ["uhr"]
        or (is_hour and (_is_minute(following[1:]) or (is_after_at and terms[place - 1] in _AT_AN_HOUR)))  # "21 h 40"
    ):
        hour, minute = int(term), 0
    else:
        return None
    end = place + 1
    if noon is not None:
        hour = hour % 12 + noon
        end += 1 if len(following[0]) > 1 else 2
    elif is_hour:
        end += 1
        if _is_minute(following[1:]) and minute == 0:
            minute, end = int(following[1]), end + 1
            end += unit_at(terms, end) == _MINUTE
    return clock_time(60 * hour + minute, place, end, is_certain=noon is not None, is_digital=noon is None)


def clock_time(minutes: float, start: int, end: int, *, is_certain: bool = False, is_digital: bool = False) -> Quantity:
    return Quantity(
        start=start, end=end, value=minutes % 1440, dimension="clock", is_certain=is_certain, is_digital=is_digital
    )


def _spoken_time(terms: Sequence[str], place: int) -> Quantity | None:
    # The time with minutes in words at *place*: "half past two", "halb drei", "sept heures et quart".
    term = terms[place]
    if not is_small(term) or not 0 < int(term) <= _HOURS_OF_A_CLOCK:
        return None
    hour = 60 * int(term)
    end = place + 2 if term_at(terms, place + 1) in CLOCK_UNITS else place + 1
    if (found := _minutes_after(terms, place, end)) is not None:
        return clock_time(hour + found[0], place, found[1])
    if (end > place + 1 or not unit_at(terms, end)[0]) and (found := _minutes_before(terms, place)) is not None:
        return clock_time(hour + found[0], found[1], end)
    return None


def _minutes_after(terms: Sequence[str], place: int, end: int) -> tuple[int, int] | None:
    # The minutes of "y veinte" or "moins le quart" after the hour at *place*, and the place after them.
    is_hour = end > place + 1 or (term_at(terms, place - 1) in _BEFORE_HOURS)
    if not is_hour or term_at(terms, end) not in _PLUS_OR_MINUS:
        return None
    sign = -1 if terms[end] in _MINUS else 1
    at = end + 1
    while term_at(terms, at) in _BEFORE_MINUTES:
        at += 1
    minutes = _minutes_at(terms, at)
    is_duration = unit_at(terms, at + 1) == _MINUTE and term_at(terms, place - 1) not in _AT
    return None if minutes is None or is_duration else (sign * minutes, at + 1)


def _minutes_at(terms: Sequence[str], at: int) -> int | None:
    # The minutes of the term at *at* in a time: a quarter, half or a multiple of five; None for others.
    term = term_at(terms, at)
    if term in QUARTERS:
        return 15
    if term in HALVES:
        return 30
    unit = unit_at(terms, at + 1)
    is_count = is_small(term) and int(term) < 60 and (unit == _MINUTE or (int(term) % 5 == 0 and not unit[0]))
    return int(term) if is_count else None


def _is_minute(terms: Sequence[str]) -> bool:
    return bool(terms) and is_small(terms[0]) and int(terms[0]) < 60


def _minutes_before(terms: Sequence[str], place: int) -> tuple[int, int] | None:
    # The minutes of "quarter past" or "half" before the hour at *place*, and the place where they begin.
    before = term_at(terms, place - 1)
    if before in HALVES:
        return -30, place - 1
    if (  # двадцать минут седьмого, but not "2 часа 10 минут, 1 антракт"
        before == _MINUTES_OF_HOUR
        and place > 1
        and _is_minute(terms[place - 2 :])
        and (place < 3 or terms[place - 3] not in CLOCK_UNITS)
    ):
        return int(terms[place - 2]) - 60, place - 2
    if before in QUARTERS:
        is_until = place > 1 and terms[place - 2] == WITHOUT  # без четверти семь
        return (-15, place - 2) if is_until else (-45, place - 1) if before == _RUSSIAN_QUARTER else None
    is_portuguese = before in _BEFORE_HOURS and terms[place - 2 : place - 1] == [_PORTUGUESE_TO]
    at = place - 3 if is_portuguese or unit_at(terms, place - 2) == _MINUTE else place - 2
    minutes = _minutes_at(terms, at)
    if minutes is None or (before == "to" and is_number(terms[at]) and not _is_time_of_day(terms, at, place)):
        return None
    if is_portuguese:  # um quarto para as oito
        return -minutes, at
    return (minutes if before in _PAST else -minutes, at) if before in _PAST_OR_BEFORE else None


def _is_time_of_day(terms: Sequence[str], start: int, hour: int) -> bool:
    # True for "at 5 to 8" and "5 to 8 in the morning", but not for "5 to 8 guests".
    return terms[max(0, start - 1) : start] == ["at"] or not PARTS_OF_A_DAY.isdisjoint(terms[hour + 1 : hour + 4])
