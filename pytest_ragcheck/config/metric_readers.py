"""Parses the numbers, and the texts about metrics, among users' options, as `readers` does."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from math import inf, nan

from pytest_ragcheck.scores import ASSERTABLE, BOUNDED, DEFAULT_GROUPS, GROUPS, METRICS, OVERALL, listed


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


def read_minimum(text: str, own: Collection[str] = ()) -> tuple[str, float]:
    """`METRIC=VALUE`, for a metric that can be asserted or one of the users' *own*."""
    known = (*ASSERTABLE, *own)
    metric, value = _metric_and_value(
        text, "METRIC=VALUE; write, for example, f1=0.5", known, "that can be asserted", _OR_OWN
    )
    return metric, read_fraction(value)


def read_maximum(text: str) -> tuple[str, float]:
    """`METRIC=VALUE`, for a measurement that may have a maximum."""
    example = "; write, for example, latency_seconds=2"
    metric, value = _metric_and_value(text, f"METRIC=VALUE{example}", BOUNDED, "with a maximum")
    if not 0 < (maximum := number_in(value)) < inf:
        raise ValueError(f"has no maximum above 0{example}")
    return metric, maximum


def read_weight(text: str, own: Collection[str] = ()) -> tuple[str, float]:
    """`METRIC=WEIGHT`, for any metric except `overall_score`, or one of the users' *own*."""
    known = tuple(name for name in (*METRICS, *own) if name != OVERALL)
    metric, value = _metric_and_value(
        text, "METRIC=WEIGHT; write, for example, f1=2", known, "that can have a weight", _OR_OWN
    )
    if not 0 < (weight := number_in(value)) < inf:
        raise ValueError("has no weight above 0; write, for example, f1=2")
    return metric, weight


_OR_OWN = ", or one of your own from the hook pytest_ragcheck_metrics or Settings.of(own_metrics=[...])"


def _metric_and_value(text: str, form: str, known: Collection[str], what: str, others: str = "") -> tuple[str, str]:
    metric, equals, value = map(str.strip, text.partition("="))
    if not equals:
        raise ValueError(f"is not of the form {form}")
    if metric not in known:
        raise ValueError(f"names no metric {what}; {nearest(metric, known, others)}")
    return metric, value


def read_group(text: str) -> str:
    """The name of a group of metrics, with or without a leading `+`; `bertscore` is followed by its model."""
    name, equals, model = text.removeprefix("+").partition("=")
    if name not in GROUPS or (equals and name != "bertscore"):
        raise ValueError(f"is not a group of metrics; {nearest(name, tuple(GROUPS))}")
    if name == "bertscore" and not re.fullmatch(r"[^@]*[^@\s](@[1-9][0-9]{0,3})?", model.strip()):
        raise ValueError(
            "does not name a model and a layer; write a folder or a name on the hub, and a layer if not the last, "
            "such as +bertscore=roberta-large@17"
        )
    return text


def nearest(name: str, known: Collection[str], others: str = "") -> str:
    """The end of an error text about an unknown name."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"choose one of {listed(known)}{others}"


def model_and_layer(model: str) -> tuple[str, int | None]:
    name, at, layer = model.rpartition("@")
    return (name, int(layer)) if at else (model, None)


def chosen_groups(words: Iterable[str]) -> tuple[str, ...]:
    """The groups without `+`, or the default groups if there are none, then those with `+`."""
    words = tuple(words)
    named = tuple(word for word in words if not word.startswith("+")) or DEFAULT_GROUPS
    return tuple(dict.fromkeys((*named, *(word.removeprefix("+") for word in words))))
