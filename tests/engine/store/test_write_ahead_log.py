"""Files that several open at the same moment, as the workers of a run do."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.engine.store.sqlite_store import SqliteStore
from pytest_ragcheck.engine.store.verdict_cache import VerdictCache
from pytest_ragcheck.errors import StoreError
from pytest_ragcheck.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WORKERS, FILES = 4, 60


def open_store(folder: Path) -> str:
    try:
        SqliteStore(folder, Redactor()).close()
    except StoreError as error:
        return str(error)
    return ""


def open_cache(folder: Path) -> str:
    cache = VerdictCache(folder, run="r", redactor=Redactor())
    cache.close()
    return cache.problem


@pytest.mark.parametrize("opened", [open_store, open_cache])
def test_whoever_opens_a_new_file_at_the_same_moment_can_use_it(tmp_path: Path, opened: Callable[[Path], str]) -> None:
    together = Barrier(WORKERS)
    folders = [tmp_path / str(number) for number in range(FILES)]
    for folder in folders:
        folder.mkdir()

    def work(_: int) -> set[str]:
        return {opened(folder) for folder in folders if together.wait() >= 0}

    with ThreadPoolExecutor(WORKERS) as workers:
        problems = set().union(*workers.map(work, range(WORKERS)))
    assert problems == {""}
