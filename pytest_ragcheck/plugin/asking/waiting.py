"""Waits for records in pytest's thread, with progress lines, until the run is stopped."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_ragcheck.engine.prefetch import PrefetchEnded
from pytest_ragcheck.engine.store.run_folder import is_stopped
from pytest_ragcheck.plugin.asking.session_loop import loop_of, seconds_between_lines, write_line
from pytest_ragcheck.plugin.workers.shared_folder import run_folder
from pytest_ragcheck.plugin.workers.transport import end_worker
from pytest_ragcheck.plugin.workers.worker_info import part_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import pytest

    from pytest_ragcheck.engine.question_progress import ProgressBoard
    from pytest_ragcheck.questions.question import Question

T = TypeVar("T")

_LOOK_SECONDS = 0.1
"""Pause of a waiting worker between two checks for a stopped run."""


class Waiting:
    """
    The waiting of an item for its record.

    Args:
        session: The session, which ends if the run is stopped.
        progress: The progress of the questions under way.
    """

    def __init__(self, session: pytest.Session, progress: ProgressBoard) -> None:
        self._session = session
        self._progress = progress
        self._loop = loop_of(session.config)
        self._is_worker = part_of(session.config).is_worker
        self._folder = run_folder(session.config)
        self._parent = os.getppid()

    def run(self, function: Callable[..., Awaitable[T]], *arguments: Any, question: Question, to_go: int) -> T:
        """
        Return the result of `function(*arguments)`, which runs in the private loop.

        Args:
            function: A coroutine function.
            arguments: The arguments of the function.
            question: The question that progress lines name during a long wait.
            to_go: The number of questions after it.
        """
        if not self._is_worker:
            every_seconds = seconds_between_lines(self._session.config)
            say = partial(self._say, question, to_go)
            return self._loop.run(function, *arguments, every_seconds=every_seconds, meanwhile=say)
        # A worker has no terminal, and after a stop xdist still lets it run all items that it was given.
        self._end_if_stopped()
        try:
            return self._loop.run(function, *arguments, every_seconds=_LOOK_SECONDS, meanwhile=self._end_if_stopped)
        except PrefetchEnded:
            # The prefetcher also checks for the stop, and may see it before this thread does.
            end_worker(self._session)

    def is_stopped(self) -> bool:
        """Return True in a worker whose controller stopped the run or was killed."""
        return self._is_worker and (is_stopped(self._folder) or os.getppid() != self._parent)

    def _end_if_stopped(self) -> None:
        if self.is_stopped():
            end_worker(self._session)

    def _say(self, question: Question, to_go: int) -> None:
        write_line(self._session.config, self._progress.line(question, to_go=to_go))
