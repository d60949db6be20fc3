"""What takes long and will be needed is begun while there is something else to do."""

from __future__ import annotations

import contextlib
import gc
import importlib
import sys
import threading
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.sigint import interrupt_between_imports
from pytest_ragcheck.plugin.usable import covered

if TYPE_CHECKING:
    import pytest

    from pytest_ragcheck.plugin.run import Run
    from pytest_ragcheck.settings import Settings

_OF_THE_FIRST_REQUEST = "openai.resources.chat.completions"


def begin_imports(config: pytest.Config, run: Run) -> None:
    """
    Has a thread import the SDK of the openai judge, where that judge will be asked.

    It costs as much CPU as pytest's own start. Begun here, it is over by about the time that the first answers are
    there; begun at the first of them, 200 questions at 16 at once took 0.3 s longer.
    """
    settings = settings_of(config)
    if not _asks_openai(config, run, settings) or _OF_THE_FIRST_REQUEST in sys.modules:
        return
    # Two threads that come into the circular imports of one package from different ends can be given half a
    # module: so what both of them need is imported first.
    importlib.import_module("pytest_ragcheck.judging.openai")
    importlib.import_module("pytest_ragcheck.rag.connections").http_library()
    interrupt_between_imports(config)
    # No daemon: to be ended in the middle of an import is more than some extension modules can bear.
    threading.Thread(target=_import, name="ragcheck import").start()


def _asks_openai(config: pytest.Config, run: Run, settings: Settings) -> bool:
    if config.getoption("collectonly") or settings.judge != "openai" or not settings.needs_judge:
        return False
    if settings.replay is not None:
        return False
    paths = {questions.path for questions in run.sets.values()}
    if all(covered(config, "rag_judge", path) for path in paths):
        return False
    if settings.url is None and not any(covered(config, "rag_client", path) for path in paths):
        return False
    # Verdicts that are in the cache need no SDK, and then the run is shorter than its import.
    cache: Any = getattr(config, "cache", None)
    if not settings.cache or cache is None:
        return True
    from pytest_ragcheck.plugin.cached import is_filled  # noqa: PLC0415 - only for a judge that costs something

    return not is_filled(cache)


def _import() -> None:
    with contextlib.suppress(Exception):  # whoever needs it will meet the same, and say so
        importlib.import_module(_OF_THE_FIRST_REQUEST)
        # Its classes last as long as the process. Left out of every later collection, pytest's own at its end and
        # the interpreter's, they save 0.2 s of each run.
        gc.freeze()
