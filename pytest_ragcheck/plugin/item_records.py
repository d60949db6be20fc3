"""Passes the records of an item from the fixture that made them to the item's next report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_ragcheck.verdict.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """A record, and how the run came by it."""

    record: Record
    on_demand: str = ""
    """Why the question was not prefetched; empty if it was."""

    resumed: bool = False
    """True if the record is one of an earlier run."""


_RECORDS: pytest.StashKey[list[Evaluated]] = pytest.StashKey()


def keep_record(item: pytest.Item, evaluated: Evaluated) -> None:
    """Keep the record for the next report of the item."""
    item.stash.setdefault(_RECORDS, []).append(evaluated)


def has_records(item: pytest.Item) -> bool:
    """Return True if any question was evaluated for the item."""
    return _RECORDS in item.stash


def taken_records(item: pytest.Item) -> list[Evaluated]:
    """Return the records that no report has taken yet, and forget them."""
    kept = item.stash.get(_RECORDS, [])
    taken = kept.copy()
    kept.clear()
    return taken
