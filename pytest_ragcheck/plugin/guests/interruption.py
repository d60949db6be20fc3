from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

ENDED = "ragcheck-ended"


def end_cleanly_on_sigterm(config: pytest.Config) -> None:
    """End the run at SIGTERM as at Ctrl-C, unless another handler is installed; a third SIGTERM ends the process."""

    def end() -> None:
        config.pluginmanager.register(_EndAfterItem(), ENDED)
        _end()

    # `timeout 600 pytest` signals the process and then its group, so the second one comes at once.
    _handle(config, signal.SIGTERM, signal.SIG_DFL, end, _ignore)


def end_if_signalled(config: pytest.Config) -> None:
    """End the run at an exception that interrupted code raised in place of the signal's."""
    if config.pluginmanager.has_plugin(ENDED):
        _end()


class _EndAfterItem:
    """Ends the run once more, because an `except Exception` or a weakref callback can drop the signal's exception."""

    def pytest_runtest_logfinish(self) -> None:
        _end()


def ignore_second_ctrl_c(config: pytest.Config) -> None:
    """Ignore one further Ctrl-C until the end of the run, unless another handler is installed."""
    _handle(config, signal.SIGINT, signal.default_int_handler, _ignore)


def _ignore() -> None:
    """Leave the signal without an effect."""


def _end() -> None:
    pytest.exit("ended by SIGTERM", returncode=128 + signal.SIGTERM)


def _handle(config: pytest.Config, number: signal.Signals, usual: Any, *acts: Callable[[], None]) -> None:
    left = list(acts)

    def leave() -> None:
        if signal.getsignal(number) is handle:
            signal.signal(number, usual)

    def handle(_number: int, _frame: FrameType | None) -> None:
        act = left.pop(0)
        if not left:
            leave()
        act()

    if threading.current_thread() is threading.main_thread() and signal.getsignal(number) == usual:
        signal.signal(number, handle)
        config.add_cleanup(leave)


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
