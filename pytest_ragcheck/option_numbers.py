"""From the text that a user gives for an option to a number; a ValueError goes on from the text."""

from __future__ import annotations

import re


def number_in(text: str) -> float:
    """The number that the text is; NaN, which is in no range, where it is none."""
    try:
        return float(text)
    except ValueError:
        return float("nan")


def read_fraction(text: str) -> float:
    """A number from 0 to 1."""
    number = number_in(text)
    if not 0 <= number <= 1:
        raise ValueError("is not a number from 0 to 1; write one such as 0.7")
    return number


def read_seconds(text: str) -> float:
    """A number of seconds above 0."""
    number = number_in(text)
    if not 0 < number < float("inf"):
        raise ValueError("is not a number of seconds above 0; write one such as 60")
    return number


def read_delay(text: str) -> float:
    """A number of seconds from 0."""
    number = number_in(text)
    if not 0 <= number < float("inf"):
        raise ValueError("is not a number of seconds from 0; write one such as 0.1")
    return number


def read_usd(text: str) -> float:
    """An amount of US dollars above 0."""
    number = number_in(text)
    if not 0 < number < float("inf"):
        raise ValueError("is not an amount of US dollars above 0; write one such as 0.50")
    return number


def read_price(text: str) -> tuple[float, float]:
    """Two amounts of US dollars from 0."""
    try:
        read, written = map(float, text.split())
    except ValueError:
        read = written = float("nan")
    if not (0 <= read < float("inf") and 0 <= written < float("inf")):
        raise ValueError("is not two amounts of US dollars from 0; write them such as 0.25 2.00")
    return read, written


def read_count(text: str) -> int:
    """A whole number from 1."""
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise ValueError("is not a whole number from 1; write one such as 5")
    return int(text)


def read_number(text: str) -> int:
    """A whole number from 0."""
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise ValueError("is not a whole number from 0; write one such as 2")
    return int(text)


def read_shard(text: str) -> tuple[int, int]:
    """`I/N`: part I of N, I from 1."""
    match = re.fullmatch(r"([1-9][0-9]{0,3})/([1-9][0-9]{0,3})", text)
    if match is None or int(match[1]) > int(match[2]):
        raise ValueError("is not part I of N; write it such as 1/4, 2/4, 3/4, 4/4")
    return int(match[1]), int(match[2])
