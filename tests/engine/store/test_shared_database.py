"""Database files that several processes open at the same moment, as the workers of a run do."""

from __future__ import annotations

import asyncio
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.engine.store.record_file import FILE, lay_out
from pytest_ragcheck.engine.store.shared_database import opened
from pytest_ragcheck.engine.store.verdict_cache import VerdictCache
from pytest_ragcheck.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WORKERS, FILES = 4, 60


def open_store(folder: Path) -> str:
    # Several threads can open one database, but not the locks of one run.
    try:
        opened(folder / FILE, lay_out=lay_out, within_seconds=30).close()
    except sqlite3.Error as error:
        return str(error)
    return ""


def open_cache(folder: Path) -> str:
    cache = VerdictCache(folder, run="r", redactor=Redactor())
    asyncio.run(cache.aclose())
    return cache.problem


@pytest.mark.parametrize("open_file", [open_store, open_cache])
def test_several_that_create_a_file_at_the_same_moment_can_use_it(
    tmp_path: Path, open_file: Callable[[Path], str]
) -> None:
    together = Barrier(WORKERS)
    folders = [tmp_path / str(number) for number in range(FILES)]
    for folder in folders:
        folder.mkdir()

    def work(_: int) -> set[str]:
        return {open_file(folder) for folder in folders if together.wait() >= 0}

    with ThreadPoolExecutor(WORKERS) as workers:
        problems = set().union(*workers.map(work, range(WORKERS)))
    assert problems == {""}
