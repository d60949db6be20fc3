from __future__ import annotations

import pytest

from pytest_ragcheck.judging.offline.quantities.computed_numbers import is_computed


@pytest.mark.parametrize(
    ("number", "operands"),
    [
        ("52", ["20", "32"]),
        ("48.5", ["52", "3.5"]),
        ("58", ["10", "5.8"]),
        ("9.5", ["95", "10"]),
        ("20", ["25", "80"]),  # percent
        ("0.25", ["25", "80"]),
        ("5.25", ["1.75", "300"]),
        ("19:15", ["20:00", "45"]),
        ("0:30", ["23:30", "60"]),
        ("11:30", ["9:30", "2"]),  # hours
        ("90", ["9:30", "8:00"]),
        ("1.5", ["9:30", "8:00"]),
    ],
)
def test_one_step_of_arithmetic_gives_the_number(number: str, operands: list[str]):
    assert is_computed(number, operands)


@pytest.mark.parametrize(
    ("number", "operands"),
    [
        ("53", ["20", "32"]),
        ("40", ["20"]),  # one operand counts once
        ("19:20", ["20:00", "45"]),
        ("19:15", ["1.2.3", "abc"]),
        ("1.2.3", ["1", "2"]),
        ("7", []),
        ("7", ["0", "0.0"]),
    ],
)
def test_other_numbers_are_not_computed(number: str, operands: list[str]):
    assert not is_computed(number, operands)


def test_of_very_many_operands_the_first_are_tried():
    numbers = [str(1000 * each) for each in range(100)]
    assert is_computed("501", ["499", *numbers])
    assert not is_computed("501", [*numbers, "499"])
