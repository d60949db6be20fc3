"""Defines the store protocol: the claims and records of questions that the processes of a run share."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from pytest_ragcheck.verdict.record import Record


class Claim(enum.Enum):
    """The state of a question without a record to take."""

    FREE = "free"
    """No process has claimed it."""

    UNDER_WAY = "under way"
    """A live process evaluates it."""

    USED = "used"
    """Its record was taken before; a record is taken once."""


class Store(Protocol):
    """
    The questions of a run by key, for all of its processes.

    The process that claims a question asks it, and the others wait for its record. The claims of a process that dies
    are free again.
    """

    @property
    def claims_ahead(self) -> bool:
        """True if questions may be claimed before they are wanted; False if other processes cannot see the claims."""
        ...

    @property
    def shared(self) -> bool:
        """True if other processes may have claims in the store too."""
        ...

    def claim(self, keys: Sequence[Hashable], most: int) -> list[Hashable]:
        """Claim the first *most* free questions for this process, and return them."""
        ...

    def finish(self, key: Hashable, record: Record) -> None:
        """Keep the record of a question that this process has claimed."""
        ...

    def release(self, keys: Iterable[Hashable]) -> None:
        """Free claims of this process that have no record."""
        ...

    def take(self, key: Hashable) -> Record | Claim:
        """Return the record, once; otherwise the reason why there is none to take."""
        ...

    def give_up(self, key: Hashable) -> None:
        """Note that this process no longer waits for the record of another process."""
        ...

    def unwanted(self) -> list[Hashable]:
        """Return this process's claims whose waiting process gave up or died; they count as taken from now on."""
        ...

    def untaken(self) -> int:
        """Return how many questions were claimed in this run whose records are not taken yet."""
        ...


class MemoryStore:
    """The store of a run with a single process, or of a process that shares no disk with the others."""

    claims_ahead = True
    shared = False

    def __init__(self) -> None:
        self._claimed: set[Hashable] = set()
        self._finished: dict[Hashable, Record] = {}
        self._used: set[Hashable] = set()

    def claim(self, keys: Sequence[Hashable], most: int) -> list[Hashable]:
        """See `Store`."""
        free = [key for key in keys if self._state(key) is Claim.FREE][:most]
        self._claimed.update(free)
        return free

    def finish(self, key: Hashable, record: Record) -> None:
        """See `Store`."""
        self._claimed.discard(key)
        self._finished[key] = record

    def release(self, keys: Iterable[Hashable]) -> None:
        """See `Store`."""
        self._claimed.difference_update(keys)

    def take(self, key: Hashable) -> Record | Claim:
        """See `Store`."""
        if key not in self._finished:
            return self._state(key)
        self._used.add(key)
        return self._finished.pop(key)

    def give_up(self, key: Hashable) -> None:
        """See `Store`; no other process waits."""

    def unwanted(self) -> list[Hashable]:
        """See `Store`; always empty."""
        return []

    def untaken(self) -> int:
        """See `Store`."""
        return len(self._claimed) + len(self._finished)

    def _state(self, key: Hashable) -> Claim:
        if key in self._claimed or key in self._finished:
            return Claim.UNDER_WAY
        return Claim.USED if key in self._used else Claim.FREE
