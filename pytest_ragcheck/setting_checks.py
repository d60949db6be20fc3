"""What settings have to be, however they were made: the readers of the options hold their values, too."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.metrics.catalogue import OVERALL, group_of
from pytest_ragcheck.option_numbers import read_count, read_fraction
from pytest_ragcheck.option_values import (
    URL_READERS,
    read_base_url,
    read_embedding_model,
    read_gate,
    read_group,
    read_judge,
    read_keep,
    read_minimum,
    read_model,
    read_request,
    read_response,
    read_shape,
    read_tier,
    read_url,
    read_weight,
)
from pytest_ragcheck.redaction import shown_url

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_ragcheck.settings import Settings

# A threshold that is no number would be one that nothing is below.
_ALWAYS: Mapping[str, Callable[[str], Any]] = {
    "threshold": read_fraction,
    "gate": read_gate,
    "tolerance": read_fraction,
    "false_alarms": read_fraction,
    "spread_limit": read_fraction,
    "judge_repeats": read_count,
    "repeats": read_count,
    "tier": read_tier,
    "keep_documents": read_keep,
}
_WHERE_GIVEN: Mapping[str, Callable[[str], Any]] = {
    "embedding_model": read_embedding_model,
    "bertscore_model": read_model,
    "url": read_url,
    "base_url": read_base_url,
    "judge_url": read_base_url,
    "embedding_url": read_base_url,
    "shape": read_shape,
    "request": read_request,
    "response": read_response,
    "judge": read_judge,
}


def check_settings(settings: Settings) -> None:
    """
    Returns where a run can have these settings.

    Raises:
        UsageError: A number is not in its range, or a URL, a judge or a metric is none.
    """
    for name, read in _ALWAYS.items():
        _check(name, getattr(settings, name), read)
    for name, read in _WHERE_GIVEN.items():
        if getattr(settings, name) is not None:
            _check(name, getattr(settings, name), read)
    _check_metrics(settings)


def _check_metrics(settings: Settings) -> None:
    for group in settings.metrics:
        _check("metrics", group, read_group)
    if "bertscore" in settings.metrics and settings.bertscore_model is None:
        raise UsageError(
            "rag_metrics: the group bertscore needs a model; "
            "set rag_bertscore_model to a folder or a name on the hub, such as roberta-large@17"
        )
    for metric, weight in settings.weights.items():
        _check("weights", f"{metric}={weight}", partial(read_weight, own=settings.own_metrics))
    for metric, minimum in settings.minimums.items():
        _check("minimums", f"{metric}={minimum}", partial(read_minimum, own=settings.own_metrics))
        _check_measured(metric, settings)


def _check_measured(metric: str, settings: Settings) -> None:
    """Raises where no group measures what is to be asserted: it would be of no question, and nobody would know."""
    groups = [group_of(name) for name in (settings.weights if metric == OVERALL else (metric,))]
    if not any(group is None or group in settings.metrics for group in groups):
        raise UsageError(
            f"rag_min: {metric} is measured by the group {groups[0]!r}, which rag_metrics leaves out; "
            f"write rag_metrics = +{groups[0]}, or leave the minimum out"
        )


def _check(name: str, value: Any, read: Callable[[str], Any]) -> None:
    try:
        read(str(value))
    except ValueError as error:
        shown = shown_url(str(value)) if read in URL_READERS else str(value)
        raise UsageError(f"Settings: {name}: {shown!r} {error}") from None
