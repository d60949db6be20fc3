"""Puts the verdict cache in the folder of pytest's own cache, so that `--cache-clear` clears it."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.engine.store.caching_judge import CachingJudge, Fingerprinted
from pytest_ragcheck.engine.store.verdict_cache import VerdictCache

if TYPE_CHECKING:
    from pytest_ragcheck.config.settings import Settings

_FOLDER = "ragcheck"


@contextmanager
def with_cache(
    judge: Fingerprinted, settings: Settings, config: pytest.Config
) -> Iterator[Fingerprinted | CachingJudge]:
    """Yield the judge behind the verdict cache, or the judge itself if the run has no cache folder."""
    folder = _folder(config)
    if folder is None:
        yield judge
        return
    cache = VerdictCache(folder, run=_run_id(config), redactor=settings.redactor)
    _tell(said := cache.problem)
    yield CachingJudge(judge, cache)
    if cache.problem != said:
        _tell(cache.problem)


def _folder(config: pytest.Config) -> Path | None:
    cache: Any = getattr(config, "cache", None)  # None with -p no:cacheprovider
    if cache is None:
        return None
    try:
        folder: Path = cache.mkdir(_FOLDER)
    except OSError as error:
        _tell(
            f"the verdict cache is off: {error}. The judge is asked about every answer. "
            "Allow writing there, or set rag_disable = cache."
        )
        return None
    return folder


def _run_id(config: pytest.Config) -> str:
    """Return xdist's id of the run, which all workers share, or a new one."""
    worker: dict[str, Any] = getattr(config, "workerinput", {})
    return str(worker.get("testrunuid") or secrets.token_hex(8))


def _tell(problem: str) -> None:
    if problem:
        # pytest warns in the same way about a cache that it cannot write.
        warnings.warn(pytest.PytestCacheWarning(f"ragcheck: {problem}"), stacklevel=1)
