"""Searches texts by regular expressions in a child process, which a time limit can kill."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import weakref

# The timer ends a search whose parent was killed; not on Windows.
_PROGRAM = """
import json, re, signal, sys
timer = getattr(signal, "setitimer", lambda *_: None)
for line in sys.stdin.buffer:
    pattern, flags, text, seconds = json.loads(line)
    timer(0, seconds)  # ITIMER_REAL
    found = re.search(pattern, text, flags) is not None
    timer(0, 0)
    print(int(found), flush=True)
"""


class SearchProcess:
    """
    Runs the regular expressions of users, since Python's `re` cannot be interrupted within a process.

    The child starts with the first search and ends with `close`, or with this process; a search that runs then ends at
    its time limit.
    """

    def __init__(self) -> None:
        self.stopped: set[str] = set()
        """Expressions that took too long on an answer."""

        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._pid = 0

    def is_found(self, pattern: str, flags: int, text: str, *, within_seconds: float) -> bool:
        """
        True if the pattern, valid for Python's `re`, matches anywhere in the text.

        A `TimeoutError` if the search takes longer than the limit, which is above 0.
        """
        with self._lock:
            child = self._running()
            timer = threading.Timer(within_seconds, child.kill)
            timer.start()
            try:
                reply = _ask(child, json.dumps([pattern, flags, text, within_seconds + 1]))
            finally:
                timer.cancel()
            if reply not in {b"0", b"1"}:
                self._end()
                raise TimeoutError
            return reply == b"1"

    def close(self) -> None:
        """End the child and its search; a later search starts another child."""
        if (child := self._child) is not None:
            child.kill()  # before the lock, which a search may hold
        with self._lock:
            self._end()

    def _running(self) -> subprocess.Popen[bytes]:
        # A forked process must not share the pipes of its parent.
        if self._child is None or self._pid != os.getpid():
            self._pid = os.getpid()
            self._child = child = subprocess.Popen(  # noqa: S603 - a fixed program
                [sys.executable, "-I", "-S", "-c", _PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            self._kill = weakref.finalize(self, _kill, child, self._pid)
        return self._child

    def _end(self) -> None:
        if self._child is not None:
            self._child = None
            self._kill()


def _ask(child: subprocess.Popen[bytes], question: str) -> bytes:
    # The child's reply; empty if it was killed.
    if child.stdin is None or child.stdout is None:
        return b""
    try:
        child.stdin.write(question.encode("ascii") + b"\n")
        child.stdin.flush()
    except OSError:  # on Windows no BrokenPipeError
        return b""
    return child.stdout.readline().strip()


def _kill(child: subprocess.Popen[bytes], pid: int) -> None:
    if os.getpid() == pid:
        child.kill()
        child.communicate()
