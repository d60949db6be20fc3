"""Ctrl-C, SIGTERM and a run that had enough: what is under way is cancelled before anything is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.plugin.keys import STOPPED

if TYPE_CHECKING:
    from collections.abc import Callable


class Interruption:
    """
    Registered as a plugin, it is the first to hear that the run is interrupted.

    Args:
        config: Of the process.
        cancel: Ends what the process has under way.
    """

    def __init__(self, config: pytest.Config, cancel: Callable[[], object]) -> None:
        self._config = config
        self._cancel = cancel

    @pytest.hookimpl(tryfirst=True)
    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        self._cancel()
        shorten(excinfo, self._config)


def shorten(excinfo: pytest.ExceptionInfo[BaseException], config: pytest.Config) -> None:
    """Leaves of where the run was interrupted the last place, the only one that pytest shows, unless told to."""
    # pytest ends in a crash over a place that has no line, as between two statements.
    shown = excinfo.traceback.filter(_has_line) or excinfo.traceback
    if not config.getoption("fulltrace"):
        # pytest renders all that it does not show as well: forty places take 0.4 s of CPU, in each process.
        shown = (shown.filter(excinfo) or shown)[-1:]
    excinfo.traceback = shown


def _has_line(entry: Any) -> bool:
    try:
        return bool(entry.lineno >= 0)
    except TypeError:
        return False


def end_worker(session: pytest.Session) -> None:
    """
    Has a worker of xdist run no further item, and ends the one that runs.

    An interruption would be a crash to xdist, which starts another worker in its place.
    """
    session.shouldstop = STOPPED
    pytest.skip(STOPPED)
