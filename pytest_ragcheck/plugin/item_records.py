"""Passes the records of an item from the fixture that made them to the item's next report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.frozen import frozen

if TYPE_CHECKING:
    from pytest_ragcheck.verdict.record import Record


@frozen
class Evaluated:
    record: Record
    on_demand: str = ""
    """Why the question was not prefetched; empty if it was."""

    resumed: bool = False
    """True if the record is one of an earlier run."""


_RECORDS: pytest.StashKey[dict[pytest.Item, list[Evaluated]]] = pytest.StashKey()
"""The new records of the items that are running; pytest keeps the stash of each item until the end of the run."""


def keep_record(item: pytest.Item, evaluated: Evaluated) -> None:
    item.config.stash.setdefault(_RECORDS, {}).setdefault(item, []).append(evaluated)


def has_records(item: pytest.Item) -> bool:
    return item in item.config.stash.get(_RECORDS, {})


def take_records(item: pytest.Item) -> list[Evaluated]:
    """Return the records that no report has taken yet, and forget them."""
    kept = item.config.stash.get(_RECORDS, {}).get(item, [])
    taken = kept.copy()
    kept.clear()
    return taken


def forget_records(item: pytest.Item) -> None:
    item.config.stash.get(_RECORDS, {}).pop(item, None)
