"""
Ctrl-C is heard between the steps of an import, not in the middle of one.

An exception that a signal raises where the interpreter takes its import lock leaves the lock taken: every other thread
that imports something then waits for ever, and whoever waits for that thread does too.
"""

from __future__ import annotations

import signal
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

    import pytest

_IMPORTING = ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")
_AGAIN_SECONDS = 0.02


def interrupt_between_imports(config: pytest.Config) -> None:
    """Until `interrupt_anywhere` or the end of the run, unless somebody else has a handler for it, which then stays."""
    if _is_main() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
        config.add_cleanup(interrupt_anywhere)


def interrupt_anywhere() -> None:
    """Takes back `interrupt_between_imports`: some event loops have a better handler, and look for the usual one."""
    if _is_main() and signal.getsignal(signal.SIGINT) is _interrupt:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def is_postponed(number: int, frame: FrameType | None) -> bool:
    """Whether the signal has come in the middle of a step of an import; then it is sent once more a little later."""
    if frame is None or frame.f_code.co_filename not in _IMPORTING:
        return False
    again = threading.Timer(_AGAIN_SECONDS, _send, [number])
    again.daemon = True
    again.start()
    return True


def _interrupt(number: int, frame: FrameType | None) -> None:
    if not is_postponed(number, frame):
        signal.default_int_handler(number, frame)


def _send(number: int) -> None:
    main = threading.main_thread().ident
    if sys.platform == "win32" or main is None:
        signal.raise_signal(number)
    else:
        # To the very thread, which may wait for something that only a signal of its own wakes it from.
        signal.pthread_kill(main, number)


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()
