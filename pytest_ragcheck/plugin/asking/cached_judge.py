"""Puts the verdict cache in the folder of pytest's own cache, so that `--cache-clear` clears it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.engine.store.verdict_cache import CachingJudge, Fingerprinted, VerdictCache
from pytest_ragcheck.plugin.run_state import run_of
from pytest_ragcheck.plugin.workers.worker_info import worker_info

if TYPE_CHECKING:
    import pytest

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
    cache = VerdictCache(folder, run=worker_info(config).run_id, redactor=settings.redactor)
    run = run_of(config)
    if cache.problem:
        run.queue_note(cache.problem)
    yield CachingJudge(judge, cache)
    if cache.problem:
        run.queue_note(cache.problem)


def _folder(config: pytest.Config) -> Path | None:
    cache: Any = getattr(config, "cache", None)  # None with -p no:cacheprovider
    if cache is None:
        return None
    folder: Path | None = None
    try:
        folder = cache.mkdir(_FOLDER)
    except OSError as error:
        run_of(config).queue_note(
            f"the verdict cache is off: {error}. The judge is asked about every answer. "
            "Allow writing there, or set rag_disable = cache."
        )
    return folder
