"""The process that searches by regular expressions outlives neither its time limit nor its parent by much."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_ragcheck.concurrency.search_process import SearchProcess

ENDLESS = r"(a+)+b"
TEXT = "a" * 60


def test_a_search_that_takes_too_long_is_stopped_and_the_next_one_works(search: SearchProcess) -> None:
    with pytest.raises(TimeoutError):
        search.is_found(ENDLESS, 0, TEXT, within_seconds=0.2)
    assert search.is_found("a+", 0, TEXT, within_seconds=10)
    assert not search.is_found("b", 0, TEXT, within_seconds=10)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer that ends a process")
def test_a_search_ends_after_its_parent_was_killed() -> None:
    program = (
        "import threading\n"
        "from pytest_ragcheck.concurrency.search_process import SearchProcess\n"
        "search = SearchProcess()\n"
        "search.is_found('a', 0, 'a', within_seconds=10)\n"
        "threading.Timer(0.3, print, [''], {'flush': True}).start()\n"
        f"search.is_found({ENDLESS!r}, 0, {TEXT!r}, within_seconds=2)\n"
    )
    # The child inherits the pipe of the errors, which ends with the last process that has it.
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert parent.stdout is not None
    parent.stdout.readline()
    parent.kill()
    parent.communicate(timeout=30)
