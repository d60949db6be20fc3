"""A run goes on when its store cannot be used any more: in memory, and each process for itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pytest_ragcheck.engine.store import Claim, MemoryStore
from pytest_ragcheck.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from pytest_ragcheck.engine.sqlite_store import SqliteStore
    from pytest_ragcheck.record import Record

T = TypeVar("T")


class FallbackStore:
    """
    A store on disk for as long as it works, then one in memory.

    What was written before can still be read where reading works. Others may take over what this process had
    claimed, for it could not tell them what became of it.

    Args:
        store: On disk.
        alone: Whether the run is one process; several, each with a memory of its own, would ask everything each.
        tell: Is given the one text about what happened.
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
        """How many records of an earlier run were taken."""
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
        """Ends what this process has to do with the store."""
        self._disk.close()

    def _on_disk(self, there: Callable[[], T], here: Callable[[], T]) -> T:
        if self._works:
            try:
                return there()
            except StoreError as error:
                self._works = False
                # Else the others would wait for ever for what this process can tell nobody.
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
        # It cannot be marked there.
        self._memory.finish(key, written)
        return self._memory.take(key)
