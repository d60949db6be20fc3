"""Reads the quantities and dates of a text, with its clock times."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

from pytest_ragcheck.judging.offline.quantities.clock_times import CLOCK_UNITS, clock_at, clock_time, in_day
from pytest_ragcheck.judging.offline.quantities.dates import (
    BEGINNINGS,
    DAY_NUMBERS,
    DAYS_OF_A_MONTH,
    ENDINGS,
    MOST_MONTHS,
    OF,
    TO,
    date_at,
    end_of_a_month,
    ordinal_at,
)
from pytest_ragcheck.judging.offline.quantities.quantity import (
    AND,
    ARTICLES,
    DAY,
    DENOMINATORS,
    HALVES,
    NOON,
    QUARTERS,
    UNITS,
    Quantity,
    is_small,
    term_at,
    unit_at,
)
from pytest_ragcheck.judging.offline.quantities.rates import (
    BEFORE_PERIODS,
    COUNTED_BY_ARTICLE,
    LASTING,
    OR,
    PERIODS,
    REACH_OF_A_RATE,
    bound_of,
    end_of_half,
    fraction_at,
    half_at,
    period_of,
    quarters_at,
    rate_after,
    share_at,
)
from pytest_ragcheck.judging.offline.words.number_spellings import other_reading
from pytest_ragcheck.judging.offline.words.terms import END, STOP_WORDS, by_term, term_of, terms_of
from pytest_ragcheck.judging.offline.words.word_lists import FIXED_BY_WORD, MONEY, WEEKDAYS_BY_WORD, WORDS

_FIXED = by_term(FIXED_BY_WORD)
_CENT = terms_of("cent ciento cento")
_KINDS_OF_UNITS = terms_of(WORDS["kinds of units"])
_SQUARE = terms_of(WORDS["square"])
_PLAIN = re.compile(r"\d{1,15}(?:\.\d{1,9})?")
_THOUSAND = 1000.0
_ARTICLES_WITHOUT_RATE = ARTICLES - {"a", "an"}
_EVERY = terms_of(WORDS["every"])
_BEFORE_INTERVALS = _EVERY | terms_of("alle tous toutes каждые om")
_WEEKDAYS = frozenset(map(term_of, WEEKDAYS_BY_WORD))
_SECOND = terms_of("other second zweite zweiten andere tweede")
_RUSSIAN_ONCE = term_of("раз")
_NO_NOUN = OR | {END}  # between a number and a word that is not its noun: "18 or older"
_LONGEST_SYMBOL = 2  # "a m" is not a metre
_ENDS_OF_PERIODS = BEGINNINGS | ENDINGS
_WORDS_THAT_START = HALVES.union(
    DENOMINATORS, _EVERY, BEGINNINGS, ENDINGS, PERIODS, _FIXED, DAY_NUMBERS, (_RUSSIAN_ONCE,)
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
    # The quantity of words at *place*, such as half a unit; *end* is the end of the last quantity.
    term = terms[place]
    if term in _STARTS_BEFORE_UNITS and (place + 1 == len(terms) or terms[place + 1] not in UNITS):
        return None
    if term in HALVES and (half := half_at(terms, place)):
        return half
    for first_words, read in _BY_FIRST_WORD:
        if term in first_words:
            return read(terms, place)
    may_be_rate = end is not None and place - end < REACH_OF_A_RATE and term not in _ARTICLES_WITHOUT_RATE
    if may_be_rate and END not in terms[end:place]:  # "50 cents a day"
        return None
    return _interval(terms, place) or _counted_by_article(terms, place)


def _fixed_at(terms: Sequence[str], place: int) -> Quantity:
    dimension, value = _FIXED[terms[place]]
    return Quantity(start=place, end=place + 1, value=value, dimension=dimension, is_certain=dimension != "percent")


def _counted_by_article(terms: Sequence[str], place: int) -> Quantity | None:
    # The unit after the article at *place*: "a year", "once a week" in other words.
    is_quarter = term_at(terms, place + 1) in QUARTERS and quarters_at(terms, place + 1)
    dimension, factor = unit_at(terms, place + 1)
    is_counted = (
        terms[place] in ARTICLES and dimension in COUNTED_BY_ARTICLE and len(terms[place + 1]) > _LONGEST_SYMBOL
    )
    is_end = place > 1 and terms[place - 1] in OF and terms[place - 2] in _ENDS_OF_PERIODS  # "the end of a quarter"
    if not is_counted or is_quarter or is_end or end_of_half(terms, place + 2):
        return None
    found = Quantity(
        start=place, end=place + 2, value=factor, dimension=dimension, is_certain=False, factor=factor, recurs=1
    )
    if terms[place + 1] in CLOCK_UNITS and (one := in_day(clock_time(60, place, place + 2), terms)).is_certain:
        return one  # "une heure de l'après-midi"
    return _as_interval(found, terms) if dimension == "times" else found


def _interval(terms: Sequence[str], place: int) -> Quantity | None:
    # The interval that begins at *place*: "weekly", "every week", "every other day", "раз в неделю".
    term = terms[place]
    if term in PERIODS and term not in UNITS:  # "trimestral" has the term of "trimestre"
        dimension, factor = UNITS[term_of(PERIODS[term])]
        return Quantity(start=place, end=place + 1, value=factor, dimension=dimension, is_certain=False, recurs=2)
    if term == _RUSSIAN_ONCE:
        once = _as_interval(Quantity(start=place, end=place + 1, value=1.0, dimension="times"), terms)
        return once if once.dimension != "times" else None
    if term not in _EVERY:
        return None
    count = 2 if term_at(terms, place + 1) in _SECOND else 1
    dimension, factor = unit_at(terms, place + count)
    end = place + count + 1
    if term_at(terms, place + count) in _WEEKDAYS:  # every second Wednesday
        dimension, factor = "time", 7 * DAY
        end -= 1  # the weekday is compared by itself
    if dimension not in ("time", "months"):
        return None
    return Quantity(start=place, end=end, value=count * factor, dimension=dimension, is_certain=count > 1, recurs=2)


def _as_interval(found: Quantity, terms: Sequence[str]) -> Quantity:
    # *found* with its rate; a count of times becomes an interval, for twice a day is every twelve hours.
    found.per, end = rate_after(terms, found.end, is_count=found.dimension == "times")
    if found.dimension == "times" and found.per in LASTING and found.value:
        found.dimension, length = UNITS[term_of(found.per)]
        found.value, found.factor, found.per, found.end = length / found.value, length, "", end
        found.recurs = 2
    return found


def _joined(found: list[Quantity], terms: Sequence[str]) -> list[Quantity]:
    # *found* with the unit of a range at both ends, pairs such as 4/5 as dates, and sums such as 1 hour 30 minutes.
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
        if before.dimension or (between and between[0] not in TO):
            continue
        if between:
            before.bound = each.bound = 0
        if each.is_digital and is_small(terms[before.start]):  # "von 10 bis 16 Uhr"
            kept[-2] = clock_time(60 * before.value, before.start, before.end, is_digital=True)
        elif each.dimension not in ("", "date", "clock"):
            before.dimension, before.value = each.dimension, before.value * unit_at(terms, each.end - 1)[1]
        elif not between and not each.dimension and before.value in DAYS_OF_A_MONTH and each.value in DAYS_OF_A_MONTH:
            month, day = sorted((before.value, each.value))
            date = Quantity(
                start=before.start, end=each.end, value=100 * month + day, dimension="date", is_certain=False
            )
            kept[-2:] = [date] if month <= MOST_MONTHS else kept[-2:]
    return kept


def _is_range_of_times(before: Quantity, each: Quantity, terms: Sequence[str]) -> bool:
    # True for "a quarter past two to four in the afternoon".
    is_range = each.start == before.end + 1 and terms[before.end] in TO
    return is_range and before.dimension == each.dimension == "clock" and each.is_certain and not before.is_certain


def _is_rest_of(before: Quantity, each: Quantity, terms: Sequence[str]) -> bool:
    # True if *each* is the rest of *before* in a smaller unit: minutes after hours, cents after euros.
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
    term = terms[place]
    # A plain number of three digits or more, such as a year, is neither a day nor an hour.
    if (is_small(term) or not term.isdigit()) and (found := date_at(terms, place) or clock_at(terms, place)):
        return found
    value = float(term) if _PLAIN.fullmatch(term) else float("nan")
    if term_at(terms, place + 1) in QUARTERS:
        quarters = quarters_at(terms, place + 1, value)
        if quarters is not None:
            quarters.start = place
            return quarters
    if (share := share_at(terms, place, value)) is not None:
        return share
    has_kind = term_at(terms, place + 1) in _KINDS_OF_UNITS and unit_at(terms, place + 2)[0] != ""
    if has_kind:
        found = _measured((term, *terms[place + 2 : place + 5]), 0, value)
        found.start, found.end = place, place + found.end + 1
    else:
        found = (_measured if unit_at(terms, place + 1)[0] else _with_two_words)(terms, place, value)
    reading = other_reading(term)
    # No price has three decimals: "1.500 €" is not "1.5 €".
    if reading is not None and (found.dimension not in MONEY or term[-4:-3] == "."):
        found.other_value = float(reading) * found.factor
    if found.dimension:
        found = _as_interval(found, terms)
        if found.dimension in ("time", "months") and not _BEFORE_INTERVALS.isdisjoint(terms[max(0, place - 2) : place]):
            found.recurs = 1
    elif found.noun and term_at(terms, place + 2) in BEFORE_PERIODS:  # 100 requests per minute
        found.per = period_of(term_at(terms, place + 3))
    found.bound = bound_of(terms, found.start, found.end)
    return found


def _measured(terms: Sequence[str], place: int, value: float) -> Quantity:
    # The quantity with *value* at *place*, its unit, and a further part: "2 hours and a half".
    dimension, factor = unit_at(terms, place + 1)
    found = Quantity(start=place, end=place + 2, value=value * factor, dimension=dimension, factor=factor)
    following = term_at(terms, place + 2)
    if dimension == "length" and (following in _SQUARE or following == "2"):
        found.dimension, found.value, found.end = "area", value * factor * factor, place + 3
    elif dimension == "degree":  # perhaps "subzero degrees Celsius"
        while (unit := unit_at(terms, found.end)[0]) in ("degree", "fahrenheit"):
            found.dimension, found.end = unit, found.end + 1
    elif end := end_of_half(terms, place + 2):
        found.value, found.end = (value + 0.5) * factor, end
    elif dimension in MONEY and factor == 1 and not value % 1 and (cents := _rest_at(terms, place + 2, 100)):
        found.value, found.end = value + cents / 100, place + 3
    elif factor == _THOUSAND and following in AND and (rest := _rest_at(terms, place + 3, 1000)):
        found.value, found.end = value * factor + rest, place + 4
    return found


def _with_two_words(terms: Sequence[str], place: int, value: float) -> Quantity:
    # The quantity with a unit of two words, "por ciento" or "square metres"; else a number.
    found = Quantity(start=place, end=place + 1, value=value)
    first, second = (*terms[place + 1 : place + 3], END, END)[:2]
    if second in _CENT and (first in BEFORE_PERIODS or first in ("por", "pour")):
        found.dimension, found.end = "percent", place + 3
    elif first in _SQUARE and (unit := unit_at(terms, place + 2))[0] == "length":
        found.dimension, found.value, found.end = "area", value * unit[1] * unit[1], place + 3
    else:
        found.noun = first if _is_noun(first) else second if _is_noun(second) and first not in _NO_NOUN else ""
    return found


def _is_noun(term: str) -> bool:
    return term not in STOP_WORDS and term[0].isalpha()


def _rest_at(terms: Sequence[str], place: int, below: int) -> int:
    # The hundredths or thousandths of a unit at *place*, as in "two pounds fifty"; 0 without any.
    term = term_at(terms, place)
    has_unit = unit_at(terms, place + 1)[0] != ""
    return int(term) if term.isdigit() and len(term) == len(str(below)) - 1 and not has_unit else 0


_BY_FIRST_WORD: Sequence[tuple[AbstractSet[str], Callable[[Sequence[str], int], Quantity | None]]] = (
    (DENOMINATORS.keys(), fraction_at),
    (BEGINNINGS | ENDINGS, end_of_a_month),
    (_FIXED.keys(), _fixed_at),
    (DAY_NUMBERS.keys(), ordinal_at),
)
