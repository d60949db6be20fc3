"""Reads the quantities and dates of a text, with its clock times."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_ragcheck.judging.offline.quantities.clock_times import CLOCK_UNITS, clock_at, clock_time, in_day
from pytest_ragcheck.judging.offline.quantities.quantity import (
    AND,
    ARTICLES,
    BEFORE_NUMBER,
    DAY,
    DENOMINATORS,
    HALVES,
    MONTH_NUMBERS,
    NOON,
    QUARTERS,
    UNITS,
    Quantity,
    is_small,
    unit_at,
)
from pytest_ragcheck.judging.offline.words.measure_words import (
    DAYS_BY_WORD,
    FIXED_BY_WORD,
    LOWER_BOUNDS,
    MONEY,
    PER,
    PERIODS_BY_WORD,
    UPPER_BOUNDS,
    WEEKDAYS_BY_WORD,
)
from pytest_ragcheck.judging.offline.words.number_spellings import other_reading
from pytest_ragcheck.judging.offline.words.polarity_words import NEGATIVE
from pytest_ragcheck.judging.offline.words.terms import (
    END,
    STOP_WORDS,
    by_term,
    is_number,
    term_of,
    terms_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from collections.abc import Set as AbstractSet


_PERIODS = by_term(PERIODS_BY_WORD)
_FIXED = by_term(FIXED_BY_WORD)
_DAY_NUMBERS = by_term(DAYS_BY_WORD)
_PER = frozenset(map(term_of, PER))
_LOWER, _UPPER = frozenset(map(term_of, LOWER_BOUNDS)), frozenset(map(term_of, UPPER_BOUNDS))
BOUNDS = _LOWER | _UPPER
"""Terms of bounds: "at least", "up to"."""
# Words between a day and its month, a number and its unit.
_BETWEEN_DATE = terms_of("of the de di del st nd rd th er o a ten")
_BEFORE_PERIOD = _BETWEEN_DATE | ARTICLES
_ORDINALS = frozenset(("3", "5", "10"))  # English "third", "fifth" and "tenth"
_AMONG = terms_of("in sur su von из op")
_OUT_OF = frozenset({("out", "of"), ("de", "cada"), ("em", "cada"), ("op", "de")})
_BEFORE_SHARES = _AMONG.union(DENOMINATORS, _ORDINALS, ("out", "de", "em"))
_PART, _LASTS = term_of("parte"), frozenset(("time", "months"))
_OF = terms_of("of der des de du del dei degli delle della dell' do da dos das van")
_TO = terms_of("to and or bis und oder a et ou y o e i tot en of до и или al")
_CENT = terms_of("cent ciento cento")
_KINDS_OF_DAYS = terms_of(
    "working business calendar full whole unused consecutive additional extra paid unpaid remaining ganze ganzen volle "
    "vollen zusatzliche zusatzlichen aufeinanderfolgende aufeinanderfolgenden bezahlte bezahlten рабочих календарных "
    "полных"
)
_SQUARE = terms_of("square carre carres cuadrados cuadrado quadrati quadrato quadrados quadrado vierkante")

_PLAIN = re.compile(r"\d{1,15}(?:\.\d{1,9})?")
_THOUSAND = 1000.0
_REACH_OF_A_RATE = 4
_DAYS, _MOST_MONTHS = frozenset(range(1, 32)), 12
_LONGEST_DAYS = 8  # terms of a list of days
# Dimensions that an article may count: "a year" for "12 months".
_COUNTED_BY_ARTICLE = frozenset(("time", "months", "times", "volume", "mass", "length", "area", "spoon", "teaspoon"))
_ARTICLES_WITHOUT_RATE = ARTICLES - {"a", "an"}
_EVERY = terms_of("every each jede jeden jedes jeder chaque cada ogni elke iedere каждыи каждую")
_BEFORE_INTERVALS = _EVERY | terms_of("alle tous toutes каждые om")
_WEEKDAYS = frozenset(map(term_of, WEEKDAYS_BY_WORD))
_SECOND = terms_of("other second zweite zweiten andere tweede")
_RUSSIAN_ONCE = term_of("раз")
_QUARTERED = frozenset(("time", "volume", "mass"))
_LONGEST_SYMBOL = 2  # "a m" is no metre
_BEGINNINGS = terms_of("start beginning anfang debut principios inizio inicio begin начало начала")
_ENDINGS = terms_of("end ende fin finales fine fim finais eind einde конец конца")
_ENDS_OF_PERIODS = _BEGINNINGS | _ENDINGS
_SHORT_MONTHS = frozenset((4, 6, 9, 11))
_WORDS_THAT_START = HALVES.union(
    DENOMINATORS, _EVERY, _BEGINNINGS, _ENDINGS, _PERIODS, _FIXED, _DAY_NUMBERS, (_RUSSIAN_ONCE,)
)
_STARTS, _STARTS_BEFORE_UNITS = _WORDS_THAT_START | ARTICLES, ARTICLES - _WORDS_THAT_START


def read_quantities(terms: Sequence[str]) -> list[Quantity]:
    """The quantities, dates and clock times of *terms*, in order; a bare number counts, too."""
    found: list[Quantity] = []
    end = 0
    # `term < ":"` is `is_number` without the time of a call.
    for place in [place for place, term in enumerate(terms) if term < ":" or term in _STARTS]:
        if place < end:
            continue
        each = _read(terms, place) if terms[place] < ":" else _without_number(terms, place, end if found else None)
        if each is not None:
            if found and each.start < end:  # the minutes of "20 minutes past seven"
                found.pop()
            found.append(each)
            end = each.end
    return _joined(found, terms)


def _without_number(terms: Sequence[str], place: int, end: int | None) -> Quantity | None:
    """The quantity of words that begins at *place*, such as half a unit; *end* is that of the last quantity."""
    term = terms[place]
    if term in _STARTS_BEFORE_UNITS and (place + 1 == len(terms) or terms[place + 1] not in UNITS):
        return None
    if term in HALVES and (half := _half_at(terms, place)):
        return half
    for first_words, read in _BY_FIRST_WORD:
        if term in first_words:
            return read(terms, place)
    may_be_rate = end is not None and place - end < _REACH_OF_A_RATE and term not in _ARTICLES_WITHOUT_RATE
    if may_be_rate and END not in terms[end:place]:  # "50 cents a day"
        return None
    return _interval(terms, place) or _counted_by_article(terms, place)


def _fixed_at(terms: Sequence[str], place: int) -> Quantity:
    """The quantity, or time of the day, that the word at *place* states by itself."""
    dimension, value = _FIXED[terms[place]]
    return Quantity(start=place, end=place + 1, value=value, dimension=dimension, is_certain=dimension != "percent")


def _ordinal_at(terms: Sequence[str], place: int) -> Quantity | None:
    """The date with the ordinal number at *place*, or the "first year"."""
    day = _DAY_NUMBERS[terms[place]]
    if day == 1 and (first := _first_unit(terms, place)):
        return first
    at = next((at for at in range(place + 1, len(terms)) if terms[at] not in _BETWEEN_DATE), len(terms))
    is_day = at < len(terms) and terms[at] in MONTH_NUMBERS
    return _date(MONTH_NUMBERS[terms[at]], day, place, at + 1) if is_day else None


def _first_unit(terms: Sequence[str], place: int) -> Quantity | None:
    """The unit after the "first" at *place*: "the first year" is the first 12 months."""
    dimension, factor = unit_at(terms, place + 1)
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
    is_quarter = terms[place + 1 : place + 2] and terms[place + 1] in QUARTERS and _quarters_at(terms, place + 1)
    dimension, factor = unit_at(terms, place + 1)
    is_counted = (
        terms[place] in ARTICLES and dimension in _COUNTED_BY_ARTICLE and len(terms[place + 1]) > _LONGEST_SYMBOL
    )
    is_end = place > 1 and terms[place - 1] in _OF and terms[place - 2] in _ENDS_OF_PERIODS  # "the end of a quarter"
    if not is_counted or is_quarter or is_end or _end_of_half(terms, place + 2):
        return None
    found = Quantity(
        start=place, end=place + 2, value=factor, dimension=dimension, is_certain=False, factor=factor, recurs=1
    )
    if terms[place + 1] in CLOCK_UNITS and (one := in_day(clock_time(60, place, place + 2), terms)).is_certain:
        return one  # "une heure de l'après-midi"
    return _as_interval(found, terms) if dimension == "times" else found


def _interval(terms: Sequence[str], place: int) -> Quantity | None:
    """The interval that begins at *place*: "weekly", "every week", "every other day", "раз в неделю"."""
    term = terms[place]
    if term in _PERIODS and term not in UNITS:  # "trimestral" has the term of "trimestre"
        dimension, factor = UNITS[term_of(_PERIODS[term])]
        return Quantity(start=place, end=place + 1, value=factor, dimension=dimension, is_certain=False, recurs=2)
    if term == _RUSSIAN_ONCE:
        once = _as_interval(Quantity(start=place, end=place + 1, value=1.0, dimension="times"), terms)
        return once if once.dimension != "times" else None
    if term not in _EVERY:
        return None
    count = 2 if terms[place + 1 : place + 2] and terms[place + 1] in _SECOND else 1
    dimension, factor = unit_at(terms, place + count)
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
        found.dimension, length = UNITS[term_of(found.per)]
        found.value, found.factor, found.per, found.end = length / found.value, length, "", end
        found.recurs = 2
    return found


def _joined(found: list[Quantity], terms: Sequence[str]) -> list[Quantity]:
    """*found* with the unit of a range at both ends, pairs such as 4/5 as dates, and sums such as 1 hour 30 minutes."""
    kept: list[Quantity] = []
    for each in found:
        if not kept or each.start - kept[-1].end > 1:
            kept.append(each)
            continue
        before = kept[-1]
        if _is_rest_of(before, each, terms):
            before.value, before.end = before.value + each.value, each.end
            continue
        kept.append(each)
        if _is_range_of_times(before, each, terms):
            before.value += NOON * (before.value < NOON <= each.value)
            before.is_certain = True
        between = terms[before.end : each.start]
        if before.dimension or (between and between[0] not in _TO):
            continue
        if between:
            before.bound = each.bound = 0
        if each.dimension not in ("", "date", "clock"):
            before.dimension, before.value = each.dimension, before.value * unit_at(terms, each.end - 1)[1]
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
    if each.start > before.end and terms[before.end] not in AND:
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
    # A plain number of three digits or more, such as a year, is neither a day nor an hour.
    if (is_small(term) or not term.isdigit()) and (found := _date_at(terms, place) or clock_at(terms, place)):
        return found
    value = float(term) if _PLAIN.fullmatch(term) else float("nan")
    if place + 1 < len(terms) and terms[place + 1] in QUARTERS:
        quarters = _quarters_at(terms, place + 1, value)
        if quarters is not None:
            quarters.start = place
            return quarters
    if (share := _share_at(terms, place, value)) is not None:
        return share
    has_kind = place + 1 < len(terms) and terms[place + 1] in _KINDS_OF_DAYS and unit_at(terms, place + 2)[0] != ""
    if has_kind:
        found = _measured((*terms[:place], terms[place], *terms[place + 2 : place + 5]), place, value)
        found.end += 1
    else:
        found = (_measured if unit_at(terms, place + 1)[0] else _with_two_words)(terms, place, value)
    reading = other_reading(term)
    if reading is not None:
        found.other_value = float(reading) * found.factor
    if found.dimension:
        found = _as_interval(found, terms)
        if found.dimension in ("time", "months") and not _BEFORE_INTERVALS.isdisjoint(terms[max(0, place - 2) : place]):
            found.recurs = 1
    elif found.noun and terms[place + 2 : place + 3] and terms[place + 2] in _PER:  # 100 requests per minute
        found.per = _period(terms[place + 3]) if place + 3 < len(terms) else ""
    found.bound = _bound_of(terms, found.start, found.end)
    return found


def _measured(terms: Sequence[str], place: int, value: float) -> Quantity:
    """The quantity with *value* at *place*, a unit after it, and the rest of both: "2 hours and a half"."""
    dimension, factor = unit_at(terms, place + 1)
    found = Quantity(start=place, end=place + 2, value=value * factor, dimension=dimension, factor=factor)
    following = terms[place + 2] if place + 2 < len(terms) else END
    if dimension == "length" and (following in _SQUARE or following == "2"):
        found.dimension, found.value, found.end = "area", value * factor * factor, place + 3
    elif dimension == "degree" and unit_at(terms, place + 2)[0] in ("degree", "fahrenheit"):
        found.dimension, found.end = unit_at(terms, place + 2)[0], place + 3
    elif end := _end_of_half(terms, place + 2):
        found.value, found.end = (value + 0.5) * factor, end
    elif dimension in MONEY and factor == 1 and (cents := _rest_at(terms, place + 2, 100)):
        found.value, found.end = value + cents / 100, place + 3
    elif factor == _THOUSAND and following in AND and (rest := _rest_at(terms, place + 3, 1000)):
        found.value, found.end = value * factor + rest, place + 4
    return found


def _with_two_words(terms: Sequence[str], place: int, value: float) -> Quantity:
    """The quantity with *value* at *place* and a unit of two words, "por ciento" or "square metres"; else a number."""
    found = Quantity(start=place, end=place + 1, value=value)
    first, second = (*terms[place + 1 : place + 3], END, END)[:2]
    if second in _CENT and (first in _PER or first in ("por", "pour")):
        found.dimension, found.end = "percent", place + 3
    elif first in _SQUARE and (unit := unit_at(terms, place + 2))[0] == "length":
        found.dimension, found.value, found.end = "area", value * unit[1] * unit[1], place + 3
    else:
        found.noun = first if _is_noun(first) else second if _is_noun(second) else ""
    return found


def _is_noun(term: str) -> bool:
    return term not in STOP_WORDS and term[0].isalpha()


def _rest_at(terms: Sequence[str], place: int, below: int) -> int:
    """The hundredths or thousandths of a unit at *place*, as in "two pounds fifty"; 0 without any."""
    term = terms[place] if place < len(terms) else ""
    has_unit = unit_at(terms, place + 1)[0] != ""
    return int(term) if term.isdigit() and len(term) == len(str(below)) - 1 and not has_unit else 0


def _end_of_half(terms: Sequence[str], place: int) -> int:
    """The place after "and a half", which begins at *place*; 0 without it."""
    if terms[place : place + 1] and terms[place] in AND:
        at = place + 2 if terms[place + 1 : place + 2] and terms[place + 1] in ARTICLES else place + 1
        if at < len(terms) and terms[at] in HALVES:
            return at + 1
    return 0


def _quarters_at(terms: Sequence[str], place: int, count: float = 1) -> Quantity | None:
    """*count* quarters of an hour or a year, with the word for quarter at *place*: "a quarter of an hour"."""
    at = place + 1
    while at < len(terms) and at < place + 3 and terms[at] in _BEFORE_PERIOD:
        at += 1
    dimension, factor = unit_at(terms, at)
    if not dimension and 0 < count < 4 and terms[place + 1 : place + 2] and terms[place + 1] in _OF:
        return Quantity(start=place, end=place + 1, value=25 * count, dimension="percent", is_certain=False)
    if at == place + 1 and dimension not in _QUARTERED:  # of a year only in "a quarter of a year"
        return None
    if dimension not in _COUNTED_BY_ARTICLE:
        return None
    return Quantity(start=place, end=at + 1, value=count * factor / 4, dimension=dimension)


def _share_at(terms: Sequence[str], place: int, count: float) -> Quantity | None:
    """The share of *count* parts at *place*: "two thirds", "one fifth of", "one in five"; or "a third of" there."""
    first, second, third = (*terms[place + 1 : place + 4], END, END, END)[:3]
    if first not in _BEFORE_SHARES and terms[place] not in _ORDINALS:
        return None
    start, end = place, place + 2
    is_part = first not in UNITS and (count > 1 or second in _OF)  # no "Viertelstunde"
    parts = DENOMINATORS.get(first, 0) if is_part else 0
    if count == 1 and first in _ORDINALS and second in _OF:
        parts = int(first)
    elif first in _AMONG and is_small(second):
        parts, end = int(second), place + 3
    elif (first, second) in _OUT_OF and is_small(third):
        parts, end = int(third), place + 4
    elif terms[place] in _ORDINALS and place and terms[place - 1] in ARTICLES and first in _OF:
        parts, count, start, end = int(terms[place]), 1, place - 1, place + 1
    return _share(count, parts, start, end) if 0 < count < parts and unit_at(terms, end)[0] not in _LASTS else None


def _fraction_at(terms: Sequence[str], place: int) -> Quantity | None:
    """One part of an amount with the word for it at *place*: "ein Drittel der Stimmen"."""
    if terms[place] in QUARTERS and (quarter := _quarters_at(terms, place)) is not None:
        return quarter
    following = [term for term in terms[place + 1 : place + 3] if term != _PART]  # una quinta parte del precio
    is_share = place > 0 and terms[place - 1] in ARTICLES and bool(following) and following[0] in _OF
    return _share(1, DENOMINATORS[terms[place]], place - 1, place + 1) if is_share else None


def _share(count: float, parts: int, start: int, end: int) -> Quantity:
    return Quantity(start=start, end=end, value=100 * count / parts, dimension="percent", is_certain=count > 1)


def _half_at(terms: Sequence[str], place: int) -> Quantity | None:
    """Half a unit ("half an hour"), a unit and a half without a number ("an hour and a half"), or "half of"."""
    for at in (place + 1, place + 2):
        dimension, factor = ("", 1.0) if terms[at : at + 1] == ["an"] else unit_at(terms, at)
        if dimension not in ("", "clock"):
            return Quantity(start=place, end=at + 1, value=factor / 2, dimension=dimension)
    for at in (place - 2, place - 3):
        if at >= 0 and terms[at + 1] in AND and (at == 0 or not is_number(terms[at - 1])):
            dimension, factor = unit_at(terms, at)
            if dimension:
                return Quantity(start=at, end=place + 1, value=1.5 * factor, dimension=dimension)
    if terms[place] == "half" and terms[place + 1 : place + 2] and terms[place + 1] in ("of", "the"):
        return Quantity(start=place, end=place + 1, value=50, dimension="percent", is_certain=False)
    return None


def _date_at(terms: Sequence[str], place: int) -> Quantity | None:
    """The date with its day at *place*, beside a month."""
    if not is_small(terms[place]) or int(terms[place]) not in _DAYS:
        return None
    at = _after_days(terms, place)
    end = min(at + 3, len(terms))
    while at < end and terms[at] in _BETWEEN_DATE:
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


def _after_days(terms: Sequence[str], place: int) -> int:
    """The place after the days that follow the one at *place*: "18 to 20 October", "24, 25 and 31 December"."""
    at = place + 1
    while at < min(len(terms), place + _LONGEST_DAYS):
        following = at + (terms[at] in _TO)
        if following == len(terms) or not is_small(terms[following]):
            break
        at = following + 1
    return at


def _date(month: int, day: int, start: int, end: int) -> Quantity:
    return Quantity(start=start, end=end, value=100 * month + day, dimension="date")


_BY_FIRST_WORD: Sequence[tuple[AbstractSet[str], Callable[[Sequence[str], int], Quantity | None]]] = (
    (DENOMINATORS.keys(), _fraction_at),
    (_BEGINNINGS | _ENDINGS, _end_of_a_month),
    (_FIXED.keys(), _fixed_at),
    (_DAY_NUMBERS.keys(), _ordinal_at),
)


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
    UNITS[term_of(word)]: word for word in ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
}
_LASTING = frozenset(_NAMES_OF_PERIODS.values())
_NAMES_OF_PERIODS |= {UNITS[term_of(word)]: word for word in ("kilogram", "liter", "meter", "kilometer", "gram")}


def _bound_of(terms: Sequence[str], start: int, end: int) -> int:
    """1 for a lower bound, -1 for an upper bound, 0 without one."""
    at = start - 1
    while at >= 0 and at >= start - 2 and terms[at] in BEFORE_NUMBER:
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
_SUPERLATIVE = terms_of("al lo pelo ao au du")
# "not more than 5" is an upper bound; "no máximo 5" has no negation.
_COMPARATIVES = terms_of(
    "more less fewer over under above below mehr weniger plus moins mas menos piu meno mais более больше менее "
    "меньше meer minder"
)
_AFTERTHOUGHTS = terms_of("maximum maximo massimo minimum minimo максимум минимум")
