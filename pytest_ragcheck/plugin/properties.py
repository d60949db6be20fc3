"""A question's numbers as properties of its reports: JUnit's file has them, and whoever else reads reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from sys import intern
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.report.writer import DECIMALS
from pytest_ragcheck.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_ragcheck.record import Record

PREFIX = "ragcheck."


@dataclass(slots=True)
class Attempt:
    """One execution of an item."""

    records: list[Record] = field(default_factory=list)
    properties: list[tuple[str, str | float]] = field(default_factory=list)
    """Of the records: pytest keeps the reports, and one set of these for all three of an item."""

    failed: bool = False
    """Whether its call failed."""


ATTEMPT: pytest.StashKey[Attempt] = pytest.StashKey()
"""Of an item that is running."""

KNOWN: pytest.StashKey[dict[tuple[str, str | float], tuple[str, str | float]]] = pytest.StashKey()
"""Properties that were given lately: pytest keeps the reports, so that each is to be in memory once."""

_MOST_KNOWN = 1_000


def add_properties(item: pytest.Item, report: pytest.TestReport, records: Sequence[Record]) -> None:
    """
    Gives the report the properties of all that the item has recorded so far, as pytest's `record_property` would.

    They are not kept in pytest's own list of the item, which a rerun would add to.
    """
    attempt = item.stash.setdefault(ATTEMPT, Attempt())
    if records:
        attempt.records += records
        known = item.config.stash.setdefault(KNOWN, {})
        attempt.properties = [known.setdefault(pair, pair) for pair in properties(attempt.records)]
        if len(known) > _MOST_KNOWN:  # ids and seconds are never twice the same
            known.clear()
    if report.when == "call":
        attempt.failed = report.failed
    # Where both call and teardown fail, JUnit's file has a test case for each.
    if not (attempt.failed and report.when == "teardown" and report.failed):
        report.user_properties += attempt.properties
    if report.when == "teardown":
        del item.stash[ATTEMPT]


def properties(records: Sequence[Record]) -> Iterator[tuple[str, str | float]]:
    """Names and values; where there are several questions, their names are numbered: `ragcheck.2.verdict`."""
    for number, record in enumerate(records, 1):
        prefix = f"{PREFIX}{number}." if len(records) > 1 else PREFIX
        for name, text in _texts(record):
            yield intern(prefix + name), text
        for name, value in _numbers(record):
            # A float and nothing derived from it: see `crossing.ATTRIBUTE`.
            yield intern(prefix + name), round(float(value), DECIMALS)


def _texts(record: Record) -> Iterator[tuple[str, str]]:
    yield "verdict", record.verdict.value
    if record.verdict is Verdict.ERROR:
        yield "error_kind", record.error_kind
    if record.blame:
        yield "blame", record.blame
    yield "dataset_name", record.question.dataset_name
    yield "question_id", record.question.id


def _numbers(record: Record) -> Iterator[tuple[str, float]]:
    for metric, score in record.scores.items():
        if score.value is not None:
            yield metric, score.value
    for metric, threshold in record.thresholds.items():
        yield f"{metric}.threshold", threshold
    if record.latency_seconds is not None:
        yield "latency_seconds", record.latency_seconds
