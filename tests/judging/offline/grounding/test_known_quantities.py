from __future__ import annotations

import pytest

from pytest_ragcheck.judging.offline.grounding.known_quantities import Operands
from pytest_ragcheck.judging.offline.quantities.quantity_reader import read_quantities
from pytest_ragcheck.judging.offline.words.terms import TermDictionary, numbers_in

TERMS = TermDictionary()


def operands(text: str) -> Operands:
    terms = TERMS.of(text)
    return Operands(numbers_in(terms), read_quantities(terms))


@pytest.mark.parametrize(
    ("number", "given"),
    [
        ("52", "20 weeks paid, 32 unpaid"),
        ("48.5", "£52 minus £3.50"),
        ("58", "10 tickets of 5.80 euros"),
        ("9.5", "95 euros for 10 rides"),
        ("20", "25 % of 80 euros"),
        ("0.25", "25 % of 80 euros"),
        ("5.25", "1.75 % of 300 euros"),
        ("3", "metade da capacidade de 6 litros"),
        ("1935", "in 1931, and four years later"),
    ],
)
def test_one_step_of_arithmetic_gives_the_number(number: str, given: str):
    assert operands(given).give(number)


@pytest.mark.parametrize(
    ("number", "given"),
    [("53", "20 weeks paid, 32 unpaid"), ("40", "20 weeks"), ("1.2.3", "1 and 2"), ("7", ""), ("7", "0 or 0.0")],
)
def test_other_numbers_are_not_computed(number: str, given: str):
    assert not operands(given).give(number)


@pytest.mark.parametrize(
    ("time", "given"),
    [
        ("at 19:15", "It closes at 20:00; last entry is 45 minutes before."),
        ("um 15:15 Uhr", "Die Führung beginnt um 14:00 Uhr und dauert 75 Minuten."),
        ("alle 17:00", "dalle 8:30 alle 18:00; l'ultimo ingresso è un'ora prima"),
        ("at 14:05", "It leaves at 11:40 and takes 2 hours 25 minutes."),
        ("at 0:20", "It leaves at 23:50 and takes half an hour."),
        ("9 hours and 45 minutes", "It leaves at 21:50 and arrives at 07:35."),
        ("до 17:30", "открыт с 10:00 до 18:00, касса закрывается за полчаса"),
    ],
)
def test_a_time_and_a_duration_give_another_time(time: str, given: str):
    (sought,) = read_quantities(TERMS.of(time))
    assert operands(given).give_time(sought)


@pytest.mark.parametrize(
    ("time", "given"),
    [("at 19:20", "It closes at 20:00; last entry is 45 minutes before."), ("3 hours", "from 9:00 to 11:00")],
)
def test_other_times_are_not_computed(time: str, given: str):
    (sought,) = read_quantities(TERMS.of(time))
    assert not operands(given).give_time(sought)


def test_of_very_many_numbers_the_first_are_tried():
    numbers = [str(1000 * each) for each in range(100)]
    assert Operands(["499", *numbers], ()).give("501")
    assert not Operands([*numbers, "499"], ()).give("501")
