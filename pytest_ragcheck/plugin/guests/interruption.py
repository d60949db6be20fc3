"""The traceback of an interrupted run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest


def shorten(excinfo: pytest.ExceptionInfo[BaseException], config: pytest.Config) -> None:
    """Shorten the interrupt traceback to its last frame, as pytest does, unless --full-trace is set."""
    # pytest crashes over a frame without a line number, as between two statements.
    shown = excinfo.traceback.filter(_has_line) or excinfo.traceback
    if not config.getoption("fulltrace"):
        # pytest also renders the frames that it hides: forty take 0.4 s of CPU in each process.
        shown = (shown.filter(excinfo) or shown)[-1:]
    excinfo.traceback = shown


def _has_line(entry: Any) -> bool:
    try:
        return bool(entry.lineno >= 0)
    except TypeError:
        return False
