"""SIGTERM, with which a CI system ends a job, ends a run as Ctrl-C does: files are written, documents deleted."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.plugin.sigint import is_postponed

if TYPE_CHECKING:
    from types import FrameType


def end_in_order_on_sigterm(config: pytest.Config) -> None:
    """Until the end of the run, unless somebody else has a handler for it, which then stays."""
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _end)
        config.add_cleanup(_leave)


def _end(number: int, frame: FrameType | None) -> None:
    if is_postponed(number, frame):
        return
    _leave()  # who sends another does not want to wait
    pytest.exit("ended by SIGTERM", returncode=128 + number)


def _leave() -> None:
    if signal.getsignal(signal.SIGTERM) is _end:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
