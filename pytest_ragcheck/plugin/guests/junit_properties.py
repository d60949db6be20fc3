"""Adds the scores of a question to its reports, for JUnit files, pytest-html, Allure and other plugins."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import import_module
from sys import intern
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.report.files.json_writer import DECIMALS
from pytest_ragcheck.verdict.verdict import Verdict

if TYPE_CHECKING:
    from pytest_ragcheck.verdict.record import Record

PREFIX = "ragcheck."

_LISTENER = "allure_listener"
"""The plugin that allure-pytest registers if `--alluredir` is given."""


@dataclass(slots=True)
class Attempt:
    records: list[Record] = field(default_factory=list)
    properties: list[tuple[str, str | float]] = field(default_factory=list)
    """The properties of the records; the three reports of an item share them, to save memory."""

    failed: bool = False


ATTEMPTS: pytest.StashKey[dict[pytest.Item, Attempt]] = pytest.StashKey()

KNOWN: pytest.StashKey[dict[tuple[str, str | float], tuple[str, str | float]]] = pytest.StashKey()
"""Recent properties; equal ones are shared, because pytest keeps all reports in memory."""

_MOST_KNOWN = 1_000


def add_properties(item: pytest.Item, report: pytest.TestReport, records: Sequence[Record]) -> Sequence[Record]:
    """
    Add the properties of the item's records to the report, and return the records of all its phases so far.

    The list of the `record_property` fixture is not used, because a rerun of the item would add to it.
    """
    attempts = item.config.stash.setdefault(ATTEMPTS, {})
    attempt = attempts.setdefault(item, Attempt())
    if records:
        attempt.records += records
        known = item.config.stash.setdefault(KNOWN, {})
        attempt.properties = [known.setdefault(pair, pair) for pair in properties(attempt.records)]
        if len(known) > _MOST_KNOWN:  # ids and seconds rarely repeat
            known.clear()
    if report.when == "call":
        attempt.failed = report.failed
    # If call and teardown fail, the JUnit file has a test case for each.
    # pytest keeps all reports in memory, and other reports follow a passed setup.
    if not (report.when == "setup" and report.passed) and not (
        attempt.failed and report.when == "teardown" and report.failed
    ):
        report.user_properties += attempt.properties
    if report.when == "teardown":
        del attempts[item]
    return attempt.records


def properties(records: Sequence[Record]) -> Iterator[tuple[str, str | float]]:
    """Yield names and values; several questions are numbered, as in `ragcheck.2.verdict`."""
    for number, record in enumerate(records, 1):
        prefix = f"{PREFIX}{number}." if len(records) > 1 else PREFIX
        for name, value in _values(record):
            # xdist serializes builtin types only, not numpy's floats.
            yield intern(prefix + name), value if isinstance(value, str) else round(float(value), DECIMALS)


def _values(record: Record) -> Iterator[tuple[str, str | float]]:
    yield "verdict", record.verdict.value
    if record.verdict is Verdict.ERROR:
        yield "error_kind", record.error_kind
    if record.blame:
        yield "blame", record.blame
    yield "dataset_name", record.question.dataset_name
    yield "question_id", record.question.id
    for metric, score in record.scores.items():
        if score.value is not None:
            yield metric, score.value
    for metric, threshold in record.thresholds.items():
        yield f"{metric}.threshold", threshold
    for metric, maximum in record.maximums.items():
        yield f"{metric}.maximum", maximum
    for name in ("latency_seconds", "first_token_seconds"):
        if (seconds := getattr(record, name)) is not None:
            yield name, seconds


def complete_row(node_id: str, properties: Iterable[tuple[object, Any]], cells: list[Any]) -> None:
    """
    Add the asserted scores to the row of a question, and escape its node id, which pytest-html does not.

    They go into the last cell: the report sorts by the others, and runs without questions would have a new column, too.
    """
    words = _scores({str(name): value for name, value in properties})
    for index, cell in enumerate(cells):
        if isinstance(cell, str) and 'class="col-testId"' in cell:
            cells[index] = cell.replace(node_id, escape(node_id))
        elif isinstance(cell, str) and 'class="col-links"' in cell and words:
            cells[index] = f"{cell.removesuffix('</td>')}<small>{escape(words)}</small></td>"


def _scores(properties: Mapping[str, Any]) -> str:
    return " ".join(
        f"{name.removeprefix(PREFIX)}={value:.2f}"
        for name, value in properties.items()
        if name.startswith(PREFIX) and f"{name}.threshold" in properties
    )


def attach(config: pytest.Config, records: Sequence[Record]) -> None:
    if not records or not config.pluginmanager.has_plugin(_LISTENER):
        return
    allure: Any = import_module("allure")
    for name, value in properties(records):
        # Allure identifies a test across runs by its other parameters.
        allure.dynamic.parameter(name, value, excluded=True)
    for number, record in enumerate(records, 1):
        for name, kind, text in _parts(record):
            title = f"{name} {number}" if len(records) > 1 else name
            allure.attach(text, name=title, attachment_type=allure.attachment_type[kind])


def _parts(record: Record) -> Iterator[tuple[str, str, str]]:
    yield "question", "TEXT", record.question.question
    if record.answer is not None:
        yield "answer", "TEXT", record.answer
    if record.contexts:
        yield "contexts", "TEXT", "\n\n".join(f"[{number}] {text}" for number, text in enumerate(record.contexts, 1))
    scores = {name.removeprefix(PREFIX): value for name, value in properties([record])}
    yield "scores", "JSON", json.dumps(scores, indent=2)
