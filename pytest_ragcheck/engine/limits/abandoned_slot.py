"""Holds the slot of a cancelled request until its calls have ended."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from pytest_ragcheck.concurrency.threads import AbandonedCall
from pytest_ragcheck.engine.limits.slots import Slots

_LOOK_SECONDS = 0.5
"""Pause between two checks for a closed loop, which sends the thread no event."""


class AbandonedSlot:
    """
    A slot of the running loop whose request was cancelled while the request's calls still run.

    A thread watches it, because under xdist a worker's loop may close long before a plain function ends, while other
    workers wait for the slot.

    Args:
        hangs_after_seconds: Time until a call counts as hung and the slot is marked for all processes.
        leave: Gives the slot back; called in the loop.
        hung: Called in the loop after the slot was marked.
    """

    def __init__(
        self,
        slots: Slots,
        calls: Sequence[AbandonedCall],
        hangs_after_seconds: float,
        *,
        leave: Callable[[], object],
        hung: Callable[[], object],
    ) -> None:
        self._slots = slots
        self._calls = calls
        self._hangs_at = time.monotonic() + hangs_after_seconds
        self._leave = leave
        self._hung = hung
        self._loop = asyncio.get_running_loop()
        self._changed = threading.Event()
        for call in calls:
            call.add_done_callback(lambda _: self._changed.set())
        threading.Thread(target=self._watch, name="ragcheck slot", daemon=True).start()

    def _watch(self) -> None:
        mark: int | None = None
        while any(map(self._runs, self._calls)):
            left = self._hangs_at - time.monotonic()
            if mark is None and left <= 0:
                mark = self._slots.mark_hung()
                self._call(self._hung)
            self._changed.wait(_LOOK_SECONDS if mark is not None else min(_LOOK_SECONDS, max(0.0, left)))
            self._changed.clear()
        if mark is not None:
            self._slots.unmark_hung(mark)
        if not self._call(self._leave):
            self._slots.free()

    def _runs(self, call: AbandonedCall) -> bool:
        return not call.done() and not (isinstance(call, asyncio.Task) and self._loop.is_closed())

    def _call(self, function: Callable[[], Any]) -> bool:
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function)
            return True
        return False
