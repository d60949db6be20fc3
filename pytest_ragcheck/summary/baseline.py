"""The predictions file of an earlier run -> `Baseline`, which a run is compared with."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

SCHEMA_VERSION = "1"
"""Of the predictions files that can be a baseline."""

GIVE = "Give --rag-baseline the {agent}_predictions.json of a full run."
_AS_WRITTEN = "Take the file as the run wrote it."
_OTHER_FILES = {"overall_metrics": "a summary", "questions": "a questions file"}
"""By a key that each has and a predictions file has not, the result files that could be meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineRow:
    """What the baseline says of one question; its identity is `dataset_name` and `id`."""

    dataset_name: str
    id: str
    question: str
    """The text that was asked."""

    verdict: Verdict
    metrics: Mapping[str, float] = field(default_factory=dict)
    """The measured scores by metric; of an ERROR none are known."""

    thresholds: Mapping[str, float] = field(default_factory=dict)
    """The minimum of every metric that was asserted, 0..1."""

    prompt_version: str | None = None
    """Version of the judge's prompt or rules; None without a judge or where it has none."""

    error_kind: str = ""
    """On ERROR which kind, such as `endpoint_timeout`; else empty."""

    @property
    def key(self) -> tuple[str, str]:
        """The identity."""
        return self.dataset_name, self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What a full run came to, by question."""

    name: str
    """The file, as it is shown."""

    rows: Mapping[tuple[str, str], BaselineRow]
    """By identity, those with a PASS or a FAIL first, each in the order of the file."""


def read_baseline(path: Path, *, name: str, advice: str = GIVE) -> Baseline:
    """
    The baseline in a predictions file.

    Args:
        path: The file.
        name: How texts call it.
        advice: What a text says to give instead of another file.

    Raises:
        UsageError: It is not the predictions file of a full run; the text says what it is and what to do.
    """
    try:
        return Baseline(name=name, rows=_by_identity(_predictions_of_a_full_run(_json(path))))
    except _Unusable as error:
        raise UsageError(f"{name}: {str(error).replace(GIVE, advice)}") from None


class _Unusable(Exception):
    """What is wrong with the file and what to do; which file it is, the reader says."""


def _json(path: Path) -> Any:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise _Unusable(f"there is no such file. {GIVE}") from None
    except OSError as error:
        raise _Unusable(f"it cannot be read: {error.strerror or error}. {GIVE}") from None
    except UnicodeDecodeError as error:
        raise _Unusable(f"it is not UTF-8 (byte {error.start}). {_AS_WRITTEN}") from None
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise _Unusable(f"line {error.lineno} is not JSON: {error.msg}. {_AS_WRITTEN}") from None
    except (ValueError, RecursionError):  # a whole number of thousands of digits, or brackets nested as deep
        raise _Unusable(f"it is no JSON that can be read. {_AS_WRITTEN}") from None


def _predictions_of_a_full_run(document: Any) -> dict[str, Any]:
    if not isinstance(document, dict) or not isinstance(document.get("predictions"), list):
        keys = document if isinstance(document, dict) else ()
        what = next((what for key, what in _OTHER_FILES.items() if key in keys), "not a predictions file")
        raise _Unusable(f"it is {what}. {GIVE}")
    version, complete = document.get("schema_version"), document.get("complete")
    if version is None:
        raise _Unusable(f'it has no "schema_version", so it is not known what its rows mean. {GIVE}')
    if version != SCHEMA_VERSION:
        raise _Unusable(
            f'it has "schema_version" {_shown(version)}, and this pytest-ragcheck reads {_shown(SCHEMA_VERSION)}. '
            f"Make a new baseline by a full run."
        )
    if complete is not True:
        raise _Unusable(
            f'"complete" is {_shown(complete)}: it is of a partial run, which cannot tell what is missing. {GIVE}'
        )
    return document


def _by_identity(document: Mapping[str, Any]) -> dict[tuple[str, str], BaselineRow]:
    rows: dict[tuple[str, str], BaselineRow] = {}
    for place, row in _rows(document):
        if rows.setdefault(row.key, row) is not row:
            raise _Unusable(f"{place} is a second row of question {row.id!r} of {row.dataset_name!r}. {_AS_WRITTEN}")
    if not rows:
        raise _Unusable(f"it holds no questions, so nothing can be compared with it. {GIVE}")
    return rows


def _rows(document: Mapping[str, Any]) -> Iterator[tuple[str, BaselineRow]]:
    """Each row with its place in the file."""
    for part in ("predictions", "errors"):
        rows = document.get(part)
        if not isinstance(rows, list):
            raise _Unusable(f'it has no list under "{part}". {_AS_WRITTEN}')
        for number, row in enumerate(rows):
            place = f"{part}[{number}]"
            if not isinstance(row, dict):
                raise _Unusable(f"{place} is {_shown(row)} and no row. {_AS_WRITTEN}")
            yield place, _Fields(row, place).prediction() if part == "predictions" else _Fields(row, place).error()


class _Fields:
    """The fields of one row, each checked as it is read."""

    def __init__(self, row: Mapping[str, Any], place: str) -> None:
        self._row = row
        self._place = place

    def prediction(self) -> BaselineRow:
        verdict = self._text("verdict")
        if verdict not in {"PASS", "FAIL"}:
            raise self._mistake("verdict")
        return BaselineRow(
            dataset_name=self._text("dataset_name"),
            id=self._text("question_id"),
            question=self._text("question"),
            verdict=Verdict(verdict),
            metrics=self._numbers("metrics"),
            thresholds=self._numbers("thresholds"),
            prompt_version=None if self._row.get("prompt_version") is None else self._text("prompt_version"),
        )

    def error(self) -> BaselineRow:
        return BaselineRow(
            dataset_name=self._text("dataset_name"),
            id=self._text("question_id"),
            question=self._text("question"),
            verdict=Verdict.ERROR,
            error_kind=self._text("kind"),
        )

    def _text(self, key: str) -> str:
        value = self._row.get(key)
        if not isinstance(value, str):
            raise self._mistake(key)
        return value

    def _numbers(self, key: str) -> dict[str, float]:
        value = self._row.get(key)
        if not isinstance(value, dict) or not all(map(_is_number, value.values())):
            raise self._mistake(key)
        return value

    def _mistake(self, key: str) -> _Unusable:
        found = _shown(self._row[key]) if key in self._row else "nothing"
        return _Unusable(f'{self._place} has {found} under "{key}". {_AS_WRITTEN}')


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _shown(value: Any) -> str:
    """The value as ASCII JSON, of a long one the beginning."""
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]} ..."
