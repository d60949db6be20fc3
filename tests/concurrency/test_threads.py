from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from contextvars import ContextVar

import pytest

from pytest_ragcheck.concurrency.threads import in_thread

HANGING = """
import asyncio, threading
from pytest_ragcheck.concurrency.threads import in_thread

async def main():
    hanging = asyncio.ensure_future(in_thread(threading.Event().wait))
    await asyncio.sleep(0)
    hanging.cancel()

asyncio.run(main())
print("ended")
"""


def test_the_call_runs_in_a_thread_of_its_own_with_the_callers_context() -> None:
    word = ContextVar("word", default="unset")

    def call(last: str) -> tuple[str, threading.Thread]:
        return f"{word.get()} {last}", threading.current_thread()

    async def scenario() -> tuple[str, threading.Thread]:
        word.set("set")
        return await in_thread(call, "outside")

    said, thread = asyncio.run(scenario())
    assert said == "set outside"
    assert thread is not threading.current_thread()


@pytest.mark.parametrize(
    ("raised", "heard"), [(KeyError("x"), KeyError), (StopIteration(), RuntimeError), (GeneratorExit(), GeneratorExit)]
)
def test_what_the_call_raises_is_raised(raised: BaseException, heard: type[BaseException]) -> None:
    def call() -> None:
        raise raised

    with pytest.raises(heard):
        asyncio.run(in_thread(call))


def test_a_call_that_hangs_keeps_no_process_from_ending() -> None:
    ended = subprocess.run([sys.executable, "-c", HANGING], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout == "ended\n"
