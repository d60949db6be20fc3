"""The verdict cache of a pytest run: in the folder of pytest's own cache, so that `--cache-clear` clears it."""

from __future__ import annotations

import secrets
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.engine.verdicts import CachingJudge, VerdictCache

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_ragcheck.engine.verdicts import Fingerprinted
    from pytest_ragcheck.settings import Settings

_FOLDER = "ragcheck"


@contextmanager
def with_cache(
    judge: Fingerprinted, settings: Settings, config: pytest.Config
) -> Iterator[Fingerprinted | CachingJudge]:
    """The judge with the verdict cache before it; the judge itself where the run has no cache folder."""
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
    cache: Any = getattr(config, "cache", None)  # there is none under -p no:cacheprovider
    if cache is None:
        return None
    try:
        folder: Path = cache.mkdir(_FOLDER)
    except OSError as error:
        _tell(
            f"the verdict cache is off: {error}. The judge is asked about every answer. "
            "Give rights there, or set rag_cache = off."
        )
        return None
    return folder


def _run_id(config: pytest.Config) -> str:
    """One for all workers of a run; xdist makes it."""
    worker: dict[str, Any] = getattr(config, "workerinput", {})
    return str(worker.get("testrunuid") or secrets.token_hex(8))


def _tell(problem: str) -> None:
    if problem:
        # As pytest itself tells of a cache that it cannot write.
        warnings.warn(pytest.PytestCacheWarning(f"ragcheck: {problem}"), stacklevel=1)
