"""SIGTERM, which CI systems send, ends a run as Ctrl-C does: with its files written and its documents deleted."""

from __future__ import annotations

import signal
import threading
from types import FrameType

import pytest


def end_in_order_on_sigterm(config: pytest.Config) -> None:
    """Handle SIGTERM until the end of the run, unless another handler is installed."""
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _end)
        config.add_cleanup(_leave)


def _end(number: int, _: FrameType | None) -> None:
    _leave()  # a second SIGTERM ends the process at once
    pytest.exit("ended by SIGTERM", returncode=128 + number)


def _leave() -> None:
    if signal.getsignal(signal.SIGTERM) is _end:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
