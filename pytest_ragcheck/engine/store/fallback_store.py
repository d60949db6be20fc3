"""Lets a run continue in memory, each process for itself, when its store on disk fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pytest_ragcheck.engine.store.record_store import Claim, MemoryStore
from pytest_ragcheck.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from pytest_ragcheck.engine.store.sqlite_store import SqliteStore
    from pytest_ragcheck.verdict.record import Record

T = TypeVar("T")


class FallbackStore:
    """
    A store on disk until it fails, then a store in memory.

    Records already on disk are still read, if reading works. Other processes may take over the claims of this process,
    because it can no longer store their records.

    Args:
        store: The store on disk.
        alone: True if the run has a single process. Each of several would prefetch every question.
        tell: Called once with the error of the store.
    """

    def __init__(self, store: SqliteStore, *, alone: bool, tell: Callable[[StoreError], None]) -> None:
        self._disk = store
        self._memory = MemoryStore()
        self._alone = alone
        self._tell = tell
        self._works = True

    @property
    def claims_ahead(self) -> bool:
        """See `Store`."""
        return self._works or self._alone

    @property
    def shared(self) -> bool:
        """See `Store`."""
        return not self._alone

    @property
    def resumed(self) -> int:
        """The number of records taken from an earlier run."""
        return self._disk.resumed

    def claim(self, keys: Sequence[Hashable], most: int) -> list[Hashable]:
        """See `Store`."""
        return self._on_disk(lambda: self._disk.claim(keys, most), lambda: self._memory.claim(keys, most))

    def finish(self, key: Hashable, record: Record) -> None:
        """See `Store`."""
        self._on_disk(lambda: self._disk.finish(key, record), lambda: self._memory.finish(key, record))

    def keep(self, key: Hashable, record: Record) -> None:
        """See `SqliteStore`."""
        self._on_disk(lambda: self._disk.keep(key, record), lambda: None)

    def release(self, keys: Iterable[Hashable]) -> None:
        """See `Store`."""
        given = list(keys)
        self._on_disk(lambda: self._disk.release(given), lambda: self._memory.release(given))

    def take(self, key: Hashable) -> Record | Claim:
        """See `Store`."""
        return self._on_disk(lambda: self._disk.take(key), lambda: self._take_in_memory(key))

    def give_up(self, key: Hashable) -> None:
        """See `Store`."""
        self._on_disk(lambda: self._disk.give_up(key), lambda: self._memory.give_up(key))

    def unwanted(self) -> list[Hashable]:
        """See `Store`."""
        return self._on_disk(self._disk.unwanted, self._memory.unwanted)

    def take_resumed(self, key: Hashable) -> Record | None:
        """See `SqliteStore`."""
        return self._on_disk(lambda: self._disk.take_resumed(key), lambda: None)

    def untaken(self) -> int:
        """See `Store`."""
        return self._on_disk(self._disk.untaken, self._memory.untaken)

    def close(self) -> None:
        """Close the store, and free the claims of this process."""
        self._disk.close()

    def _on_disk(self, there: Callable[[], T], here: Callable[[], T]) -> T:
        if self._works:
            try:
                return there()
            except StoreError as error:
                self._works = False
                # Other processes would wait forever for records that this process can no longer store.
                self._disk.leave()
                self._tell(error)
        return here()

    def _take_in_memory(self, key: Hashable) -> Record | Claim:
        found = self._memory.take(key)
        if found is not Claim.FREE:
            return found
        try:
            written = self._disk.look(key)
        except StoreError:
            return Claim.FREE
        if isinstance(written, Claim):
            return written
        # The record cannot be marked as taken on disk.
        self._memory.finish(key, written)
        return self._memory.take(key)
