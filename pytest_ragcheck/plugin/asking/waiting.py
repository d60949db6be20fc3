"""Waits for records in pytest's thread, with progress lines, until the run is stopped."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from pytest_ragcheck.engine.prefetch import PrefetchEnded
from pytest_ragcheck.engine.store.run_folder import stop, stop_reason
from pytest_ragcheck.plugin.asking.session_loop import loop_of, seconds_between_lines, write_line
from pytest_ragcheck.plugin.workers.transport import STOPPED, end_worker
from pytest_ragcheck.plugin.workers.worker_info import run_folder, worker_info

if TYPE_CHECKING:
    from pytest_ragcheck.engine.question_progress import ProgressBoard
    from pytest_ragcheck.questions.question import Question

T = TypeVar("T")

_LOOK_SECONDS = 0.1
"""Pause of a waiting worker between two checks for a stopped run."""


class Waiting:
    """Waits for the record of an item, and ends the session if the run is stopped."""

    def __init__(self, session: pytest.Session, progress: ProgressBoard) -> None:
        self._session = session
        self._progress = progress
        self._loop = loop_of(session.config)
        self._is_worker = worker_info(session.config).is_worker
        self._folder = run_folder(session.config)
        self._parent = os.getppid()

    def run(self, function: Callable[..., Awaitable[T]], *arguments: Any, question: Question, to_go: int) -> T:
        """
        The result of `function(*arguments)`, which runs in the private loop.

        Progress lines name *question* during a long wait, and *to_go* is the number of questions after it.
        """
        if not self._is_worker:
            config = self._session.config
            return self._loop.run(
                function,
                *arguments,
                every_seconds=seconds_between_lines(config),
                meanwhile=lambda: write_line(config, self._progress.line(question, to_go=to_go)),
            )
        # A worker has no terminal, and after a stop xdist still lets it run all items that it was given.
        self.end_if_stopped()
        try:
            return self._loop.run(function, *arguments, every_seconds=_LOOK_SECONDS, meanwhile=self.end_if_stopped)
        except PrefetchEnded:
            # The prefetcher also checks for the stop, and may find it before this thread does.
            end_worker(self._session, self._why_stopped() or STOPPED)
        except (KeyboardInterrupt, pytest.exit.Exception) as error:
            stop(self._folder, reason := f"{type(error).__name__}: {error}".rstrip(": "))
            end_worker(self._session, reason)

    def is_stopped(self) -> bool:
        """Return True in a worker if a process of the run stopped it, or if its controller was killed."""
        return bool(self._why_stopped())

    def end_if_stopped(self) -> None:
        if reason := self._why_stopped():
            end_worker(self._session, reason)

    def stop_others(self, reason: str) -> None:
        """Stop the other workers of the run, or end this process if one of them has stopped the run before."""
        if self._is_worker and not stop(self._folder, reason):
            self.end_if_stopped()

    def _why_stopped(self) -> str:
        if not self._is_worker:
            return ""
        reason = stop_reason(self._folder)
        if reason is None and os.getppid() == self._parent:
            return ""
        return reason or STOPPED
