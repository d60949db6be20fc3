"""Attaches the questions of an item to the report of Allure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.plugin.guests.junit_properties import PREFIX, properties

if TYPE_CHECKING:
    import pytest

    from pytest_ragcheck.verdict.record import Record

_LISTENER = "allure_listener"
"""The plugin that allure-pytest registers if `--alluredir` is given."""


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
