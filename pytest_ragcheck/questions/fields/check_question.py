"""Checks a `Question` that a script or a dataset of the user made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.questions.mention import compile_mention
from pytest_ragcheck.questions.question import TIERS, GoldPassage, Question
from pytest_ragcheck.questions.question_ids import id_mistake
from pytest_ragcheck.scores.catalogue import BOUNDED, listed


def check_question(question: Question, *, known_metrics: Collection[str], given_as: str) -> None:
    """
    Check the types and values of a question of no question file.

    Raises:
        UsageError: A value cannot be used; the text begins with *given_as*, and names the field and its valid values.
    """
    place = f"{given_as}: question {question.id!r:.80}"
    for name, (is_valid, valid) in _FIELDS.items():
        value = getattr(question, name)
        if not is_valid(value):
            raise UsageError(f"{place}: {name} is {value!r:.80}; give {valid}.")
    if mistake := id_mistake(question.conversation or question.id):
        raise UsageError(f"{place} {mistake}")
    check_mentions(question.must_mention, f"{place}: must_mention")
    check_mentions(question.must_not_mention, f"{place}: must_not_mention")
    check_thresholds(question.thresholds, known_metrics, f"{place}: thresholds")


def is_top_k(value: Any) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 1)


def check_mentions(mentions: Collection[str], given_as: str) -> None:
    """Raise a `UsageError` if Python's `re` does not compile a regular expression among the mentions."""
    try:
        for mention in mentions:
            compile_mention(mention)
    except ValueError as error:
        raise UsageError(f"{given_as}: {error}") from None


def check_thresholds(by_metric: Mapping[str, Any], known_metrics: Collection[str], given_as: str) -> None:
    """Raise a `UsageError` if a metric is unknown, or a number is out of its range."""
    for metric, value in by_metric.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if metric in BOUNDED:
            if not (is_number and 0 < value < float("inf")):
                raise UsageError(f"{given_as}: {metric} is {value!r}; give a number above 0.")
        elif metric not in known_metrics:
            known = listed((*known_metrics, *BOUNDED))
            raise UsageError(f"{given_as}: there is no metric {metric!r}; the metrics are {known}.")
        elif not (is_number and 0 <= value <= 1):
            raise UsageError(f"{given_as}: {metric} is {value!r}; give a number from 0 to 1.")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _are(values: Any, is_valid: Callable[[Any], bool]) -> bool:
    return isinstance(values, list | tuple) and all(map(is_valid, values))


_TEXT = (_is_text, "a text")
_TEXT_OR_NONE = (lambda value: isinstance(value, str | None), "a text or None")
_TEXTS = (lambda values: _are(values, _is_text), "a tuple of texts")
_PASSAGES = (
    lambda values: _are(values, lambda value: isinstance(value, GoldPassage)),
    "a tuple of GoldPassage objects",
)
_MAPPING = (lambda value: isinstance(value, Mapping), "a mapping")

_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "dataset_name": _TEXT,
    "id": _TEXT,
    "question": _TEXT,
    "expected_answer": _TEXT_OR_NONE,
    # An acceptable answer of a standard dataset may be blank.
    "all_acceptable_answers": (lambda values: all(isinstance(value, str) for value in values), "a tuple of texts"),
    "must_mention": _TEXTS,
    "must_not_mention": _TEXTS,
    "must_cite": _TEXTS,
    "must_not_retrieve": _TEXTS,
    "gold_passages": _PASSAGES,
    "distractors": _PASSAGES,
    "answerable": (lambda value: isinstance(value, bool), "True or False"),
    "thresholds": _MAPPING,
    "top_k": (is_top_k, "a whole number from 1"),
    "tags": _TEXTS,
    "skip": _TEXT_OR_NONE,
    "xfail": _TEXT_OR_NONE,
    "quarantine": _TEXT_OR_NONE,
    "tier": (lambda value: value in TIERS, f"one of {', '.join(TIERS)}"),
    "metadata": _MAPPING,
}
