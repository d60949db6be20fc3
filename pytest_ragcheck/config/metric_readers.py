"""Parses the texts of users' options about metrics, as `readers` does."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from pytest_ragcheck.config.numbers import number_in, read_fraction
from pytest_ragcheck.scores.catalogue import ASSERTABLE, BOUNDED, DEFAULT_GROUPS, GROUPS, METRICS, OVERALL, listed


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
    if not 0 < (maximum := number_in(value)) < float("inf"):
        raise ValueError(f"has no maximum above 0{example}")
    return metric, maximum


def read_weight(text: str, own: Collection[str] = ()) -> tuple[str, float]:
    """`METRIC=WEIGHT`, for any metric except `overall_score`, or one of the users' *own*."""
    known = tuple(name for name in (*METRICS, *own) if name != OVERALL)
    metric, value = _metric_and_value(
        text, "METRIC=WEIGHT; write, for example, f1=2", known, "that can have a weight", _OR_OWN
    )
    if not 0 < (weight := number_in(value)) < float("inf"):
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
    """The parts of `MODEL@LAYER`."""
    name, at, layer = model.rpartition("@")
    return (name, int(layer)) if at else (model, None)


def chosen_groups(words: Iterable[str]) -> tuple[str, ...]:
    """The groups without `+`, or the default groups if there are none, then those with `+`."""
    words = tuple(words)
    named = tuple(word for word in words if not word.startswith("+")) or DEFAULT_GROUPS
    return tuple(dict.fromkeys((*named, *(word.removeprefix("+") for word in words))))
