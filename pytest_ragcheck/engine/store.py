"""Who asks which question, and what became of it: the seam to what the processes of a run share."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from pytest_ragcheck.record import Record


class Claim(enum.Enum):
    """What a question is that has no record to take."""

    FREE = "free"
    """Nobody has it."""

    UNDER_WAY = "under way"
    """Somebody who is alive asks it."""

    USED = "used"
    """Its record was taken before: a record is used once."""


class Store(Protocol):
    """
    The questions of a run by key, for all of its processes.

    Whoever has claimed a question asks it; everybody else waits for its record. What a process has claimed is free
    again when the process dies.
    """

    @property
    def claims_ahead(self) -> bool:
        """Whether questions may be claimed before they are wanted; not where nobody else would hear of it."""
        ...

    @property
    def shared(self) -> bool:
        """Whether other processes may have claims in it too."""
        ...

    def claim(self, keys: Sequence[Hashable], most: int) -> list[Hashable]:
        """The first *most* of these that were free; they are this process's now."""
        ...

    def finish(self, key: Hashable, record: Record) -> None:
        """Keeps the record of a question that this process had claimed."""
        ...

    def release(self, keys: Iterable[Hashable]) -> None:
        """Gives back what this process had claimed and has no record of."""
        ...

    def take(self, key: Hashable) -> Record | Claim:
        """The record, for whoever takes it first; otherwise why there is none to take."""
        ...

    def give_up(self, key: Hashable) -> None:
        """Says that this process, which waits for another's record, will not take it any more."""
        ...

    def unwanted(self) -> list[Hashable]:
        """Those that this process has claimed for another that gave them up or died; they count as taken now."""
        ...

    def untaken(self) -> int:
        """How many questions were claimed in this run whose records were not yet taken."""
        ...


class MemoryStore:
    """The store of a run that is one process, or shares nothing with others."""

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
        """See `Store`; here nobody waits for another."""

    def unwanted(self) -> list[Hashable]:
        """See `Store`; none."""
        return []

    def untaken(self) -> int:
        """See `Store`."""
        return len(self._claimed) + len(self._finished)

    def _state(self, key: Hashable) -> Claim:
        if key in self._claimed or key in self._finished:
            return Claim.UNDER_WAY
        return Claim.USED if key in self._used else Claim.FREE
