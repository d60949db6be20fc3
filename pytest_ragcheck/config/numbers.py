"""Parses the numbers among users' options; the text of a ValueError continues the option's text."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import inf, nan


def number_in(text: str) -> float:
    """NaN, which is in no range, for a text that is not a number."""
    try:
        return float(text)
    except ValueError:
        return nan


def _number(fits: Callable[[float], bool], expected: str) -> Callable[[str], float]:
    def read(text: str) -> float:
        number = number_in(text)
        if not fits(number):
            raise ValueError(f"is not {expected}" + "; METRIC=VALUE is for --rag-min and --rag-max" * ("=" in text))
        return number

    return read


read_fraction = _number(lambda number: 0 <= number <= 1, "a number from 0 to 1; write one such as 0.7")
read_chance = _number(lambda number: 0 < number < 1, "a number between 0 and 1; write one such as 0.01")
read_seconds = _number(lambda number: 0 < number < inf, "a number of seconds above 0; write one such as 60")
read_delay = _number(lambda number: 0 <= number < inf, "a number of seconds from 0; write one such as 0.1")
read_usd = _number(lambda number: 0 < number < inf, "an amount of US dollars above 0; write one such as 0.50")


def read_price(text: str) -> tuple[float, float]:
    try:
        read, written = map(float, text.split())
    except ValueError:
        read = written = nan
    if not (0 <= read < inf and 0 <= written < inf):
        raise ValueError("is not two amounts of US dollars from 0; write, for example, 0.25 2.00")
    return read, written


def read_count(text: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise ValueError("is not a whole number from 1; write one such as 5")
    return int(text)


def read_number(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise ValueError("is not a whole number from 0; write one such as 2")
    return int(text)


def read_shard(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([1-9][0-9]{0,3})/([1-9][0-9]{0,3})", text)
    if match is None or int(match[1]) > int(match[2]):
        raise ValueError("is not part I of N; write, for example, 1/4, 2/4, 3/4, 4/4")
    return int(match[1]), int(match[2])
