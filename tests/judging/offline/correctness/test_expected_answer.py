"""Figures that an answer has in another form than is expected."""

from __future__ import annotations

import pytest

from pytest_ragcheck.judging.offline.correctness.expected_answer import (
    are_compatible,
    decades_and_centuries,
    is_coarser_date,
    lacks_figure,
    numbers_about,
    rounded_numbers,
)
from pytest_ragcheck.judging.offline.words.terms import TermDictionary, numbers_in

TERMS = TermDictionary()


def terms(text: str) -> frozenset[str]:
    return frozenset(TERMS.of(text))


def compatible(expected: str, said: str) -> bool:
    found = TERMS.of(said)
    return are_compatible(TERMS.of(expected), numbers_in(found), tuple(decades_and_centuries(found)))


@pytest.mark.parametrize(
    ("expected", "said"),
    [
        ("November 17, 2017", "2017"),
        ("November 17, 2017", "November 2017"),
        ("17 November 2017", "released in 2017"),
        ("2024-05-01", "2024"),
    ],
)
def test_a_date_is_said_less_exactly_by_its_year(expected: str, said: str) -> None:
    assert is_coarser_date(terms(expected), terms(said))


@pytest.mark.parametrize(
    ("expected", "said"),
    [
        ("November 17, 2017", "November 17"),
        ("November 17, 2017", "October 2017"),
        ("November 17, 2017", "May 2017"),
        ("November 17, 2017", "2017, 3 times"),
        ("November 17, 2017", "2018"),
        ("from 1939 to 1945", "1939"),
        ("the 2017 season", "2017"),
        ("30 days", "30"),
    ],
)
def test_another_date_and_what_is_no_date_are_not_said_less_exactly(expected: str, said: str) -> None:
    assert not is_coarser_date(terms(expected), terms(said))


@pytest.mark.parametrize(
    ("expected", "said", "lacks"),
    [
        ("30 days", "45 days", True),
        ("30 days", "days", True),
        ("18 January 1788", "1788", False),
        ("18 January 1788", "18 March 1788", True),
        ("18 January 1788", "18 1788", False),
        ("blue whale", "whale", False),
    ],
)
def test_a_missing_number_and_another_month_are_found(expected: str, said: str, *, lacks: bool) -> None:
    wanted, found = terms(expected), terms(said)
    assert lacks_figure(wanted, wanted - found, found) is lacks


@pytest.mark.parametrize(
    ("number", "said", "met"),
    [
        ("2.45 billion", "2.4 billion", True),
        ("$2.187 billion", "$2.2 billion", True),
        ("8,336,817", "8.3 million", True),
        ("3.14159", "3.14", True),
        ("3.99", "3.97", False),
        ("2.45 billion", "2 billion", False),
        ("1946", "1900", False),
        ("99", "100", False),
        ("45,000", "45,000", False),
        ("1.2.3", "1.2", False),
    ],
)
def test_a_number_is_met_when_rounded_to_two_digits_or_more(number: str, said: str, *, met: bool) -> None:
    found = frozenset(numbers_in(TERMS.of(said)))
    assert bool(rounded_numbers(terms(number), found, about=found)) is met
    assert rounded_numbers(terms(number), found, about=frozenset()) == set()


def test_an_exact_number_meets_one_that_is_about_so_much() -> None:
    assert rounded_numbers(terms("2.2 million"), ["2187000"], about={"2200000"}) == {"2200000"}
    assert rounded_numbers(terms("2.2 million"), ["2187000"], about={"2187000"}) == set()


def test_a_number_is_said_to_be_rounded_by_the_word_before_it() -> None:
    assert numbers_about(TERMS.of("Approximately $2.2 million, and more about us: 3.1 is out.")) == {"2200000"}


@pytest.mark.parametrize(
    ("expected", "said"),
    [
        ("10 to 12 years", "11"),
        ("10–12 years", "11.3 years"),
        ("more than 80", "89"),
        ("at least 3", "5"),
        ("up to 5", "4"),
        ("fewer than 100", "95"),
        ("1757", "18th century"),
        ("1926", "in the 1920s"),
    ],
)
def test_figures_that_can_both_be_true_are_compatible(expected: str, said: str) -> None:
    assert compatible(expected, said)


@pytest.mark.parametrize(
    ("expected", "said"),
    [
        ("10 to 12 years", "13 years"),
        ("10 to 12 years", "11 or 15 years"),
        ("10 to 12", "11"),
        ("more than 80", "79"),
        ("up to 5", "6"),
        ("more than 80", "many"),
        ("80", "89"),
        ("1757", "19th century"),
        ("1926", "in the 1930s"),
        ("1926", "1925s"),
        ("1757", "the 18 men"),
    ],
)
def test_contradictory_figures_are_not_compatible(expected: str, said: str) -> None:
    assert not compatible(expected, said)
