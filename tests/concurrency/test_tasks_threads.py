from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.concurrency.tasks import Batches, in_thread

if TYPE_CHECKING:
    from collections.abc import Sequence


HANGING = """
import asyncio, threading
from pytest_ragcheck.concurrency.tasks import in_thread

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


class Squares:
    """Squares numbers, the first batch only when it is let go; a number below 0 is an error."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.threads: set[threading.Thread] = set()
        self.begun = threading.Event()
        self.go_on = threading.Event()

    def __call__(self, numbers: Sequence[int]) -> list[int | Exception]:
        self.batches.append([*numbers])
        self.begun.set()
        self.threads.add(threading.current_thread())
        assert self.go_on.wait(60)
        return [ValueError(f"{number} is below 0") if number < 0 else number**2 for number in numbers]


def test_what_arrives_during_a_batch_is_the_next_batch() -> None:
    squares = Squares()

    async def scenario() -> list[int]:
        batches = Batches(squares)
        tasks = [asyncio.ensure_future(batches.result(0))]
        await asyncio.to_thread(squares.begun.wait, 60)
        tasks += [asyncio.ensure_future(batches.result(number)) for number in range(1, 1000)]
        await asyncio.sleep(0)
        squares.go_on.set()
        return await asyncio.gather(*tasks)

    assert asyncio.run(scenario()) == [number**2 for number in range(1000)]
    assert squares.batches == [[0], [*range(1, 1000)]]
    assert threading.main_thread() not in squares.threads
    assert len(squares.threads) == 2


def test_an_error_is_that_of_its_item() -> None:
    squares = Squares()
    squares.go_on.set()

    async def scenario() -> list[int | BaseException]:
        batches = Batches(squares)
        return await asyncio.gather(*map(batches.result, (2, -1, 3)), return_exceptions=True)

    found = asyncio.run(scenario())
    assert (found[0], found[2]) == (4, 9)
    assert str(found[1]) == "-1 is below 0"


def test_an_error_of_the_batch_is_that_of_every_item_and_the_next_batch_is_computed() -> None:
    fails = True

    def halves(numbers: Sequence[int]) -> list[int | Exception]:
        if fails:
            raise ZeroDivisionError("the batch failed")
        return [number // 2 for number in numbers]

    async def scenario() -> list[int | BaseException]:
        nonlocal fails
        batches = Batches(halves)
        found = await asyncio.gather(*map(batches.result, (2, 4)), return_exceptions=True)
        fails = False
        return [*found, await batches.result(6)]

    *failed, last = asyncio.run(scenario())
    assert [str(error) for error in failed] == ["the batch failed"] * 2
    assert last == 3


@pytest.mark.parametrize("cancelled", [0, 1, 2])
def test_a_cancelled_task_takes_no_result_from_the_others(cancelled: int) -> None:
    squares = Squares()

    async def scenario() -> list[int | BaseException]:
        batches = Batches(squares)
        tasks = [asyncio.ensure_future(batches.result(1))]
        await asyncio.to_thread(squares.begun.wait, 60)
        tasks += [asyncio.ensure_future(batches.result(number)) for number in (2, 3)]
        await asyncio.sleep(0)
        tasks[cancelled].cancel()
        await asyncio.sleep(0)
        squares.go_on.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    found = asyncio.run(scenario())
    assert isinstance(found.pop(cancelled), asyncio.CancelledError)
    assert found == [number**2 for number in (1, 2, 3) if number != cancelled + 1]
