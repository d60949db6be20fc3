"""Reads the quantities, dates and clock times of a text."""

from __future__ import annotations

import re
from itertools import repeat
from typing import TYPE_CHECKING

from pytest_ragcheck.judging.offline.measure_words import (
    DAYS_BY_WORD,
    FIXED_BY_WORD,
    LOWER_BOUNDS,
    MONEY,
    PER,
    PERIODS_BY_WORD,
    UPPER_BOUNDS,
    WEEKDAYS_BY_WORD,
)
from pytest_ragcheck.judging.offline.negation import NEGATIVE, WITHOUT
from pytest_ragcheck.judging.offline.normalized_text import listed
from pytest_ragcheck.judging.offline.number_spellings import other_reading
from pytest_ragcheck.judging.offline.quantities import DAY, MONTH_NUMBERS, NOON, UNITS, Quantity
from pytest_ragcheck.judging.offline.terms import (
    END,
    STOP_WORDS,
    TermDictionary,
    by_term,
    is_number,
    terms_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_TERMS = TermDictionary()

_PERIODS = by_term(PERIODS_BY_WORD)
_FIXED = by_term(FIXED_BY_WORD)
_DAY_NUMBERS = by_term(DAYS_BY_WORD)
_PER = terms_of(PER)
_LOWER, _UPPER = terms_of(LOWER_BOUNDS), terms_of(UPPER_BOUNDS)
BOUNDS = _LOWER | _UPPER
"""Terms of bounds: "at least", "up to"."""
# Words between a bound and its number, a day and its month, a number and its unit.
_BEFORE_NUMBER = terms_of(listed("than de als di que dan of chem чем a zu the la las le los il i el que o os to на 's"))
_BETWEEN_DATE = terms_of(listed("of the de di del st nd rd th er o a ten"))
_OF = terms_of(listed("of der des de del della dell' do da van"))
_TO = terms_of(listed("to and or bis und oder a et ou y o e i tot en of до и или al"))
HALVES = terms_of(
    listed(
        "half halb halbe halber halben halbes halve demi demie media medio mezza mezzo mezz meia meio "
        "половинои половине"
    )
)
_AND = terms_of(listed("and y e et en und с"))
_QUARTERS = terms_of(listed("quarter kwart viertel quart cuarto cuartos quarto quartos quarti четверть четверти"))
_PAST, _BEFORE = terms_of(listed("past after over nach na")), terms_of(listed("to before voor vor"))
_CENT = terms_of(listed("cent ciento cento"))
_SQUARE = terms_of(listed("square carre carres cuadrados cuadrado quadrati quadrato quadrados quadrado vierkante"))

_CLOCK = re.compile(r"([01]?\d|2[0-4])[:.]([0-5]\d?)")
_HALF_HOUR = re.compile(r"(\d|1[01])\.5")
_PLAIN = re.compile(r"\d{1,15}(?:\.\d{1,9})?")
_HOURS_OF_A_CLOCK, _DIGITS_OF_A_DAY = 12, 2
_THOUSAND = 1000.0
_REACH_OF_A_RATE = 4
_DAYS, _MOST_MONTHS = frozenset(range(1, 32)), 12
# Dimensions that an article may count: "a year" for "12 months".
_COUNTED_BY_ARTICLE = frozenset(("time", "months", "times", "volume", "mass", "length", "area", "spoon", "teaspoon"))
ARTICLES = terms_of(listed("a an one un une una um uma ein eine einen einem einer een uno"))
_ARTICLES_WITHOUT_RATE = ARTICLES - {"a", "an"}
_EVERY = terms_of(listed("every each jede jeden jedes jeder chaque cada ogni elke iedere каждыи каждую"))
_BEFORE_INTERVALS = _EVERY | terms_of(listed("alle tous toutes каждые om"))
_WEEKDAYS = terms_of(WEEKDAYS_BY_WORD)
_SECOND = terms_of(listed("other second zweite zweiten andere tweede"))
_RUSSIAN_ONCE = _TERMS["раз"]
_QUARTERED = frozenset(("time", "volume", "mass"))
_LONGEST_SYMBOL = 2  # "a m" is no metre
_BEGINNINGS = terms_of(listed("start beginning anfang debut principios inizio inicio begin начало начала"))
_ENDINGS = terms_of(listed("end ende fin finales fine fim finais eind einde конец конца"))
_SHORT_MONTHS = frozenset((4, 6, 9, 11))
_STARTS = (
    HALVES
    | _QUARTERS
    | ARTICLES
    | _EVERY
    | _BEGINNINGS
    | _ENDINGS
    | frozenset((*_PERIODS, *_FIXED, *_DAY_NUMBERS, _RUSSIAN_ONCE))
)


def read_quantities(terms: Sequence[str]) -> list[Quantity]:
    """The quantities, dates and clock times of *terms*, in order; a bare number counts, too."""
    found: list[Quantity] = []
    end = 0
    starts = map(_STARTS.__contains__, terms) if not _STARTS.isdisjoint(terms) else repeat(False)
    for place, (term, may_start) in enumerate(zip(terms, starts, strict=False)):
        if place < end or not (term < ":" or may_start):  # as `is_number`, for the time of a call
            continue
        each = _read(terms, place) if term < ":" else _without_number(terms, place, end if found else None)
        if each is not None:
            if found and each.start < end:  # the minutes of "20 minutes past seven"
                found.pop()
            found.append(each)
            end = each.end
    return _joined(found, terms)


def _without_number(terms: Sequence[str], place: int, end: int | None) -> Quantity | None:
    """Half a unit, an interval, or a unit that an article counts, at *place*; *end* is that of the last quantity."""
    term = terms[place]
    if term in HALVES and (half := _half_of_a_unit(terms, place)):
        return half
    if term == "half" and terms[place + 1 : place + 2] == ["of"]:
        return Quantity(start=place, end=place + 1, value=50, dimension="percent", is_certain=False)
    if term in _QUARTERS:
        return _quarters_at(terms, place, 1)
    if term in _BEGINNINGS or term in _ENDINGS:
        return _end_of_a_month(terms, place)
    if term in _FIXED:
        dimension, value = _FIXED[term]
        is_certain = dimension != "percent"
        return Quantity(start=place, end=place + 1, value=value, dimension=dimension, is_certain=is_certain)
    if term in _DAY_NUMBERS:
        at = next((at for at in range(place + 1, len(terms)) if terms[at] not in _BETWEEN_DATE), len(terms))
        if _DAY_NUMBERS[term] == 1 and (first := _first_unit(terms, place)):
            return first
        is_day = at < len(terms) and terms[at] in MONTH_NUMBERS
        return _date(MONTH_NUMBERS[terms[at]], _DAY_NUMBERS[term], place, at + 1) if is_day else None
    may_be_rate = end is not None and place - end < _REACH_OF_A_RATE and term not in _ARTICLES_WITHOUT_RATE
    if may_be_rate and END not in terms[end:place]:  # "50 cents a day"
        return None
    return _interval(terms, place) or _counted_by_article(terms, place)


def _first_unit(terms: Sequence[str], place: int) -> Quantity | None:
    """The unit after the "first" at *place*: "the first year" is the first 12 months."""
    dimension, factor = _unit_at(terms, place + 1)
    if dimension not in ("time", "months"):
        return None
    return Quantity(
        start=place, end=place + 2, value=factor, dimension=dimension, is_certain=False, factor=factor, recurs=1
    )


def _end_of_a_month(terms: Sequence[str], place: int) -> Quantity | None:
    """The first or the last day of the month after the "beginning" or "end" at *place*."""
    at = place + 2 if terms[place + 1 : place + 2] and terms[place + 1] in _OF else place + 1
    if at >= len(terms) or terms[at] not in MONTH_NUMBERS:
        return None
    month = MONTH_NUMBERS[terms[at]]
    day = 1 if terms[place] in _BEGINNINGS else 28 if month == 2 else 30 if month in _SHORT_MONTHS else 31
    found = _date(month, day, place, at + 1)
    found.is_certain = False
    return found


def _counted_by_article(terms: Sequence[str], place: int) -> Quantity | None:
    """The unit after the article at *place*: "a year", "once a week" in other words."""
    is_quarter = terms[place + 1 : place + 2] and terms[place + 1] in _QUARTERS and _quarters_at(terms, place + 1, 1)
    dimension, factor = _unit_at(terms, place + 1)
    is_counted = (
        terms[place] in ARTICLES and dimension in _COUNTED_BY_ARTICLE and len(terms[place + 1]) > _LONGEST_SYMBOL
    )
    if not is_counted or is_quarter or _end_of_half(terms, place + 2):
        return None
    found = Quantity(
        start=place, end=place + 2, value=factor, dimension=dimension, is_certain=False, factor=factor, recurs=1
    )
    if terms[place + 1] in _CLOCK_UNITS and (one := _in_day(_clock(60, place, place + 2), terms)).is_certain:
        return one  # "une heure de l'après-midi"
    return _as_interval(found, terms) if dimension == "times" else found


def _interval(terms: Sequence[str], place: int) -> Quantity | None:
    """The interval that begins at *place*: "weekly", "every week", "every other day", "раз в неделю"."""
    term = terms[place]
    if term in _PERIODS and term not in UNITS:  # "trimestral" has the term of "trimestre"
        dimension, factor = UNITS[_TERMS[_PERIODS[term]]]
        return Quantity(start=place, end=place + 1, value=factor, dimension=dimension, is_certain=False, recurs=2)
    if term == _RUSSIAN_ONCE:
        once = _as_interval(Quantity(start=place, end=place + 1, value=1.0, dimension="times"), terms)
        return once if once.dimension != "times" else None
    if term not in _EVERY:
        return None
    count = 2 if terms[place + 1 : place + 2] and terms[place + 1] in _SECOND else 1
    dimension, factor = _unit_at(terms, place + count)
    if terms[place + count : place + count + 1] and terms[place + count] in _WEEKDAYS:  # every second Wednesday
        dimension, factor = "time", 7 * DAY
    if dimension not in ("time", "months"):
        return None
    return Quantity(
        start=place, end=place + count + 1, value=count * factor, dimension=dimension, is_certain=count > 1, recurs=2
    )


def _as_interval(found: Quantity, terms: Sequence[str]) -> Quantity:
    """*found* with its rate; a count of times becomes an interval, for twice a day is every twelve hours."""
    found.per, end = _rate_after(terms, found.end, is_count=found.dimension == "times")
    if found.dimension == "times" and found.per in _LASTING and found.value:
        found.dimension, length = UNITS[_TERMS[found.per]]
        found.value, found.factor, found.per, found.end = length / found.value, length, "", end
        found.recurs = 2
    return found


def _joined(found: list[Quantity], terms: Sequence[str]) -> list[Quantity]:
    """*found* with the unit of a range at both ends, pairs such as 4/5 as dates, and sums such as 1 hour 30 minutes."""
    kept: list[Quantity] = []
    for each in found:
        before = kept[-1] if kept else None
        if before is not None and _is_rest_of(before, each, terms):
            before.value, before.end = before.value + each.value, each.end
            continue
        kept.append(each)
        if before is not None and _is_range_of_times(before, each, terms):
            before.value += NOON * (before.value < NOON <= each.value)
            before.is_certain = True
        if before is None or before.dimension or each.start - before.end > 1:
            continue
        between = terms[before.end : each.start]
        if between and between[0] not in _TO:
            continue
        if between:
            before.bound = each.bound = 0
        if each.dimension not in ("", "date", "clock"):
            before.dimension, before.value = each.dimension, before.value * _unit_at(terms, each.end - 1)[1]
        elif not between and not each.dimension and before.value in _DAYS and each.value in _DAYS:
            month, day = sorted((before.value, each.value))
            if month <= _MOST_MONTHS:
                joined = Quantity(start=before.start, end=each.end, value=100 * month + day, dimension="date")
                joined.is_certain = False
                kept[-2:] = [joined]
    return kept


def _is_range_of_times(before: Quantity, each: Quantity, terms: Sequence[str]) -> bool:
    """True for "a quarter past two to four in the afternoon"."""
    is_range = each.start == before.end + 1 and terms[before.end] in _TO
    return is_range and before.dimension == each.dimension == "clock" and each.is_certain and not before.is_certain


def _is_rest_of(before: Quantity, each: Quantity, terms: Sequence[str]) -> bool:
    """True if *each* is the rest of *before* in a smaller unit: the minutes after hours, the cents after euros."""
    between = terms[before.end : each.start]
    if between and (len(between) > 1 or between[0] not in _AND):
        return False
    if before.dimension in MONEY:
        return each.dimension == "money" and each.value < 1
    return (
        before.dimension == each.dimension
        and before.dimension in ("time", "months", "length", "mass")
        and each.value < before.factor
        and each.factor < before.factor
        and not before.per
    )


def _read(terms: Sequence[str], place: int) -> Quantity:
    """The quantity with the number at *place*."""
    term = terms[place]
    found = _date_at(terms, place) or _clock_at(terms, place)
    if found is not None:
        return found
    value = float(term) if _PLAIN.fullmatch(term) else float("nan")
    if place + 1 < len(terms) and terms[place + 1] in _QUARTERS:
        quarters = _quarters_at(terms, place + 1, value)
        if quarters is not None:
            quarters.start = place
            return quarters
    found = (_measured if _unit_at(terms, place + 1)[0] else _with_two_words)(terms, place, value)
    reading = other_reading(term)
    if reading is not None:
        found.other_value = float(reading) * found.factor
    if found.dimension:
        found = _as_interval(found, terms)
        if found.dimension in ("time", "months") and not _BEFORE_INTERVALS.isdisjoint(terms[max(0, place - 2) : place]):
            found.recurs = 1
    found.bound = _bound_of(terms, found.start, found.end)
    return found


def _measured(terms: Sequence[str], place: int, value: float) -> Quantity:
    """The quantity with *value* at *place*, a unit after it, and the rest of both: "2 hours and a half"."""
    dimension, factor = _unit_at(terms, place + 1)
    found = Quantity(start=place, end=place + 2, value=value * factor, dimension=dimension, factor=factor)
    following = terms[place + 2] if place + 2 < len(terms) else END
    if dimension == "length" and (following in _SQUARE or following == "2"):
        found.dimension, found.value, found.end = "area", value * factor * factor, place + 3
    elif dimension == "degree" and _unit_at(terms, place + 2)[0] in ("degree", "fahrenheit"):
        found.dimension, found.end = _unit_at(terms, place + 2)[0], place + 3
    elif end := _end_of_half(terms, place + 2):
        found.value, found.end = (value + 0.5) * factor, end
    elif dimension in MONEY and factor == 1 and (cents := _rest_at(terms, place + 2, 100)):
        found.value, found.end = value + cents / 100, place + 3
    elif factor == _THOUSAND and following in _AND and (rest := _rest_at(terms, place + 3, 1000)):
        found.value, found.end = value * factor + rest, place + 4
    return found


def _with_two_words(terms: Sequence[str], place: int, value: float) -> Quantity:
    """The quantity with *value* at *place* and a unit of two words, "por ciento" or "square metres"; else a number."""
    found = Quantity(start=place, end=place + 1, value=value)
    first, second = (*terms[place + 1 : place + 3], END, END)[:2]
    dimension, factor = _unit_at(terms, place + 2)
    if second in _CENT and (first in _PER or first in ("por", "pour")):
        found.dimension, found.end = "percent", place + 3
    elif first in _SQUARE and dimension == "length":
        found.dimension, found.value, found.end = "area", value * factor * factor, place + 3
    else:
        found.noun = next((each for each in (first, second) if each not in STOP_WORDS and each[0].isalnum()), "")
    return found


def _rest_at(terms: Sequence[str], place: int, below: int) -> int:
    """The hundredths or thousandths of a unit at *place*, as in "two pounds fifty"; 0 without any."""
    term = terms[place] if place < len(terms) else ""
    has_unit = _unit_at(terms, place + 1)[0] != ""
    return int(term) if term.isdigit() and len(term) == len(str(below)) - 1 and not has_unit else 0


def _unit_at(terms: Sequence[str], place: int) -> tuple[str, float]:
    """The dimension and factor of the unit at *place*; an empty dimension without one."""
    return UNITS.get(terms[place], ("", 1.0)) if 0 <= place < len(terms) else ("", 1.0)


def _end_of_half(terms: Sequence[str], place: int) -> int:
    """The place after "and a half", which begins at *place*; 0 without it."""
    if terms[place : place + 1] and terms[place] in _AND:
        at = place + 2 if terms[place + 1 : place + 2] and terms[place + 1] in ARTICLES else place + 1
        if at < len(terms) and terms[at] in HALVES:
            return at + 1
    return 0


def _quarters_at(terms: Sequence[str], place: int, count: float) -> Quantity | None:
    """*count* quarters of an hour or a year, with the word for quarter at *place*: "a quarter of an hour"."""
    at = place + 1
    while at < len(terms) and at < place + 3 and terms[at] in _BETWEEN_DATE | ARTICLES:
        at += 1
    dimension, factor = _unit_at(terms, at)
    if not dimension and 0 < count < 4 and terms[place + 1 : place + 2] and terms[place + 1] in _OF:
        return Quantity(start=place, end=place + 1, value=25 * count, dimension="percent", is_certain=False)
    if at == place + 1 and dimension not in _QUARTERED:  # of a year only in "a quarter of a year"
        return None
    if dimension not in _COUNTED_BY_ARTICLE:
        return None
    return Quantity(start=place, end=at + 1, value=count * factor / 4, dimension=dimension)


def _half_of_a_unit(terms: Sequence[str], place: int) -> Quantity | None:
    """Half a unit ("half an hour", "media hora"), or a unit and a half without a number ("an hour and a half")."""
    for at in (place + 1, place + 2):
        dimension, factor = ("", 1.0) if terms[at : at + 1] == ["an"] else _unit_at(terms, at)
        if dimension not in ("", "clock"):
            return Quantity(start=place, end=at + 1, value=factor / 2, dimension=dimension)
    for at in (place - 2, place - 3):
        if at >= 0 and terms[at + 1] in _AND and (at == 0 or not is_number(terms[at - 1])):
            dimension, factor = _unit_at(terms, at)
            if dimension:
                return Quantity(start=at, end=place + 1, value=1.5 * factor, dimension=dimension)
    return None


def _date_at(terms: Sequence[str], place: int) -> Quantity | None:
    """The date with its day at *place*, beside a month."""
    if not _is_small(terms[place]) or int(terms[place]) not in _DAYS:
        return None
    at = place + 1
    if at + 1 < len(terms) and terms[at] in _TO and is_number(terms[at + 1]):  # 18 to 20 October
        at += 2
    while at < len(terms) and at < place + 4 and terms[at] in _BETWEEN_DATE:
        at += 1
    if at < len(terms) and terms[at] in MONTH_NUMBERS:
        is_range = any(map(is_number, terms[place + 1 : at]))
        return _date(MONTH_NUMBERS[terms[at]], int(terms[place]), place, place + 1 if is_range else at + 1)
    for back in (1, 2, 3):  # October 18 to 20
        if place >= back and terms[place - back] in MONTH_NUMBERS:
            return _date(MONTH_NUMBERS[terms[place - back]], int(terms[place]), place - (back == 1), place + 1)
        if place < back or not (terms[place - back] in _TO or is_number(terms[place - back])):
            return None
    return None


def _is_small(term: str) -> bool:
    return term.isdigit() and len(term) <= _DIGITS_OF_A_DAY


def _date(month: int, day: int, start: int, end: int) -> Quantity:
    return Quantity(start=start, end=end, value=100 * month + day, dimension="date")


def _clock_at(terms: Sequence[str], place: int) -> Quantity | None:
    """The clock time at *place*: "16:15", "6 pm", "18 uhr", "quarter past four", "las seis y veinte de la tarde"."""
    found = _spoken_time(terms, place) or _digital_time(terms, place)
    if (
        found is None and _HALF_HOUR.fullmatch(terms[place]) and not _unit_at(terms, place + 1)[0]
    ):  # "a ocho y media de la tarde"
        half = _in_day(_clock(60 * float(terms[place]), place, place + 1), terms, is_after=True)
        return half if half.is_certain else None
    if found is None and _is_small(terms[place]) and 0 < int(terms[place]) <= _HOURS_OF_A_CLOCK:
        if terms[place + 1 : place + 2] and terms[place + 1] in _CLOCK_UNITS:  # "neuf heures du matin"
            hour = _in_day(_clock(60 * int(terms[place]), place, place + 2), terms, is_after=True)
            return hour if hour.is_certain else None
        following = next((term for term in terms[place + 1 : place + 4] if term not in STOP_WORDS), END)
        if following in _PARTS_WITHOUT_HOUR:  # "в 7 вечера", "at three in the afternoon"
            return _in_day(_clock(60 * int(terms[place]), place, place + 1), terms)
    return None if found is None else _in_day(found, terms)


def _in_day(found: Quantity, terms: Sequence[str], *, is_after: bool = False) -> Quantity:
    """*found* after noon if "in the evening" or similar stands beside it; *is_after*, if it follows."""
    if found.is_certain or found.value > NOON:
        return found
    part = ""
    for place in range(found.end, min(found.end + 4, len(terms))):
        if is_number(terms[place]):
            break
        if terms[place] in _PARTS_OF_A_DAY or terms[place - 1 : place + 1] == _AFTER_NOON:
            part, found.end = terms[place], place + 1
            break
    if not part and not is_after:
        part = next((term for term in terms[max(0, found.start - 3) : found.start] if term in _PARTS_OF_A_DAY), "")
    if part:
        found.value = found.value % NOON + NOON * (part not in _MORNING)
        found.is_certain, found.is_digital = True, False
    return found


def _digital_time(terms: Sequence[str], place: int) -> Quantity | None:
    term, following = terms[place], terms[place + 1 : place + 3]
    written = _CLOCK.fullmatch(term)
    is_hour = bool(following) and (following[0] in _CLOCK_UNITS)
    noon = (
        12
        if following[:1] == ["pm"] or following == ["p", "m"]
        else 0
        if following[:1] == ["am"] or following == ["a", "m"]
        else None
    )
    is_after_at = place > 0 and terms[place - 1] in _AT
    is_timed = (is_hour and (len(term.partition(".")[2]) > 1 or following[0] == "uhr" or is_after_at)) or (
        is_after_at and terms[place - 1] in _AT_A_TIME and not _unit_at(terms, place + 1)[0]
    )
    if written and (":" in term or is_timed or noon is not None):
        hour, minute = int(written[1]), int(written[2].ljust(2, "0"))
    elif _is_small(term) and int(term) <= 24 and (noon is not None or following[:1] == ["uhr"]):
        hour, minute = int(term), 0
    elif _is_small(term) and int(term) <= 24 and is_hour and _is_minute(following[1:]):
        hour, minute = int(term), 0  # "21 h 40"
    elif _is_small(term) and int(term) <= 24 and is_hour and is_after_at and terms[place - 1] in _AT_AN_HOUR:
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
            end += _unit_at(terms, end) == UNITS[_TERMS["minute"]]
    return _clock(60 * hour + minute, place, end, is_certain=noon is not None, is_digital=noon is None)


def _clock(minutes: float, start: int, end: int, *, is_certain: bool = False, is_digital: bool = False) -> Quantity:
    return Quantity(
        start=start, end=end, value=minutes % 1440, dimension="clock", is_certain=is_certain, is_digital=is_digital
    )


def _spoken_time(terms: Sequence[str], place: int) -> Quantity | None:
    """The time of the hour at *place* with minutes in words: "half past two", "halb drei", "sept heures et quart"."""
    term = terms[place]
    if not _is_small(term) or not 0 < int(term) <= _HOURS_OF_A_CLOCK:
        return None
    hour = 60 * int(term)
    end = place + 2 if terms[place + 1 : place + 2] and terms[place + 1] in _CLOCK_UNITS else place + 1
    if (said := _minutes_after(terms, place, end)) is not None:
        return _clock(hour + said[0], place, said[1])
    if (end > place + 1 or not _unit_at(terms, end)[0]) and (said := _minutes_before(terms, place)) is not None:
        return _clock(hour + said[0], said[1], end)
    return None


_AT = terms_of(listed("um om at a as las alle в tot bis ab vanaf"))
_AT_A_TIME = terms_of(listed("um alle"))  # not "at 2.5": a number follows "at" in other senses, too
_AT_AN_HOUR = terms_of(listed("um om as las alle в"))
_BEFORE_HOURS = terms_of(listed("las la as le alle dalle"))
_CLOCK_UNITS = terms_of(listed("uhr uur h heure heures hora horas ore ч час часа часов"))
_MORNING = terms_of(listed("am morning matin morgens vormittags manana mattina mattino manha утра утром ochtends"))
_EVENING = terms_of(
    listed(
        "pm evening afternoon soir abend abends nachmittag nachmittags tarde noche sera pomeriggio noite вечера "
        "вечером дня avonds middags"
    )
)
_AFTER_NOON = [_TERMS["apres"], _TERMS["midi"]]
_PARTS_OF_A_DAY = _MORNING | _EVENING
_PARTS_WITHOUT_HOUR = _PARTS_OF_A_DAY - terms_of(["дня"])
_MINUS = terms_of(listed("menos moins meno"))


def _minutes_after(terms: Sequence[str], place: int, end: int) -> tuple[int, int] | None:
    """The minutes that "y veinte" or "moins le quart" after the hour at *place* adds, and the place after them."""
    is_hour = end > place + 1 or (place > 0 and terms[place - 1] in _BEFORE_HOURS)
    if not is_hour or end >= len(terms) or terms[end] not in _AND | _MINUS:
        return None
    sign = -1 if terms[end] in _MINUS else 1
    at = end + 1
    while at < len(terms) and terms[at] in _BEFORE_NUMBER | ARTICLES:
        at += 1
    minutes = _minutes_at(terms, at)
    return None if minutes is None else (sign * minutes, at + 1)


def _minutes_at(terms: Sequence[str], at: int) -> int | None:
    """The minutes that the term at *at* counts in a time: a quarter, half or a multiple of five; None for others."""
    term = terms[at] if 0 <= at < len(terms) else ""
    if term in _QUARTERS:
        return 15
    if term in HALVES:
        return 30
    unit = _unit_at(terms, at + 1)
    is_count = _is_small(term) and int(term) < 60 and (unit == _MINUTE or (int(term) % 5 == 0 and not unit[0]))
    return int(term) if is_count else None


def _is_minute(terms: Sequence[str]) -> bool:
    """True if *terms* begin with the minutes of a clock time."""
    return bool(terms) and _is_small(terms[0]) and int(terms[0]) < 60


def _minutes_before(terms: Sequence[str], place: int) -> tuple[int, int] | None:
    """The minutes that "quarter past" or "half" before the hour at *place* add, and the place where they begin."""
    before = terms[place - 1] if place else ""
    if before in HALVES:
        return -30, place - 1
    if before == _MINUTES_OF_HOUR and place > 1 and _is_minute(terms[place - 2 :]):  # двадцать минут седьмого
        return int(terms[place - 2]) - 60, place - 2
    if before in _QUARTERS:
        is_until = place > 1 and terms[place - 2] == WITHOUT  # без четверти семь
        return (-15, place - 2) if is_until else (-45, place - 1) if before == _RUSSIAN_QUARTER else None
    is_portuguese = before in _BEFORE_HOURS and terms[place - 2 : place - 1] == [_PORTUGUESE_TO]
    at = place - 3 if is_portuguese or _unit_at(terms, place - 2) == _MINUTE else place - 2
    minutes = _minutes_at(terms, at)
    if minutes is None:
        return None
    if before == "to" and is_number(terms[at]):  # "5 to 8 guests", but "at 5 to 8"
        is_time = terms[max(0, at - 1) : at] == ["at"] or not _PARTS_OF_A_DAY.isdisjoint(terms[place + 1 : place + 4])
        return (-minutes, at) if is_time else None
    if is_portuguese:  # um quarto para as oito
        return -minutes, at
    return (minutes if before in _PAST else -minutes, at) if before in _PAST | _BEFORE else None


_MINUTE = UNITS[_TERMS["minute"]]
_PORTUGUESE_TO = _TERMS["para"]
_MINUTES_OF_HOUR, _RUSSIAN_QUARTER = _TERMS["минут"], _TERMS["четверть"]


def periods_in(terms: Iterable[str]) -> set[str]:
    """The periods that *terms* mention: "month" for "mes" and "mensual"."""
    return {period for term in terms if (period := _PERIODS.get(term) or _period(term))}


def _rate_after(terms: Sequence[str], end: int, *, is_count: bool) -> tuple[str, int]:
    """The unit of a rate within a few terms after *end*, and the place after it; empty without one."""
    if end < len(terms) and len(terms[end]) <= 3 and terms[end] in _RATE_SIGNS:  # km/h
        return _period(terms[end]), end + 1
    for at in range(end, min(end + _REACH_OF_A_RATE, len(terms))):
        term = terms[at]
        if term == END or is_number(term):
            break
        if term in _PERIODS:
            return _PERIODS[term], at + 1
        if term in _PER and at + 1 < len(terms) and (period := _period(terms[at + 1])):
            return period, at + 2
        if term in _IN and at + 2 < len(terms) and is_count and (period := _period(terms[at + 2])):
            return period, at + 3
    return "", end


_IN = frozenset(("in", "within", "dans", "entro", "binnen"))  # "three times in an hour"
_RATE_SIGNS = frozenset(("h", "min", "s", "second", "minute", "hour"))


def _period(term: str) -> str:
    return _NAMES_OF_PERIODS.get(UNITS.get(term, ("", 0.0)), "")


_NAMES_OF_PERIODS = {
    UNITS[_TERMS[word]]: word for word in ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
}
_LASTING = frozenset(_NAMES_OF_PERIODS.values())
_NAMES_OF_PERIODS |= {UNITS[_TERMS[word]]: word for word in ("kilogram", "liter", "meter", "kilometer", "gram")}


def _bound_of(terms: Sequence[str], start: int, end: int) -> int:
    """1 for a lower bound, -1 for an upper bound, 0 without one."""
    at = start - 1
    while at >= 0 and at >= start - 2 and terms[at] in _BEFORE_NUMBER:
        at -= 1
    if at >= 0 and (bound := (terms[at] in _LOWER) - (terms[at] in _UPPER)):
        is_denied = terms[at] in _COMPARATIVES and not NEGATIVE.isdisjoint(terms[max(0, at - 2) : at])
        is_superlative = terms[at] in _COMPARATIVES and at > 0 and terms[at - 1] in _SUPERLATIVE
        return -bound if is_denied or is_superlative else bound
    for term in terms[end : end + 3]:
        if term == END or is_number(term):
            break
        if term in _AFTERTHOUGHTS:
            return (term in _LOWER) - (term in _UPPER)
    return 0


# Words that make "less" a lower bound: "al menos", "pelo menos", "au moins".
_SUPERLATIVE = terms_of(listed("al lo pelo ao au du"))
# "not more than 5" is an upper bound; "no máximo 5" has no negation.
_COMPARATIVES = terms_of(
    listed(
        "more less fewer over under above below mehr weniger plus moins mas menos piu meno mais более больше менее "
        "меньше meer minder"
    )
)
_AFTERTHOUGHTS = terms_of(listed("maximum maximo massimo minimum minimo максимум минимум"))
