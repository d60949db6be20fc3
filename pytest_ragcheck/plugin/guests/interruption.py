"""Ctrl-C: the traceback of an interrupted run, and a second Ctrl-C while its results are written."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest


def ignore_second_ctrl_c(config: pytest.Config) -> None:
    """Ignore one further Ctrl-C until the end of the run, unless another handler is installed."""
    in_main_thread = threading.current_thread() is threading.main_thread()
    if in_main_thread and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _ignore_once)
        config.add_cleanup(_leave)


def _ignore_once(*_: int | FrameType | None) -> None:
    _leave()  # the next Ctrl-C ends a teardown that hangs


def _leave() -> None:
    if signal.getsignal(signal.SIGINT) is _ignore_once:
        signal.signal(signal.SIGINT, signal.default_int_handler)


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
