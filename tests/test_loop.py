from __future__ import annotations

import asyncio
import signal
import sys
import threading
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from pytest_ragcheck.loop import PrivateLoop

if TYPE_CHECKING:
    from types import FrameType


@pytest.fixture
def loop() -> Any:
    private = PrivateLoop()
    yield private
    private.close()


async def where(value: str) -> tuple[str, asyncio.AbstractEventLoop, threading.Thread]:
    return value, asyncio.get_running_loop(), threading.current_thread()


def test_everything_runs_in_one_loop_in_a_thread_of_its_own(loop: PrivateLoop) -> None:
    first, second = loop.run(where, "a"), loop.run(where, "b")
    assert (first[0], second[0]) == ("a", "b")
    assert first[1:] == second[1:]
    assert first[2] is not threading.current_thread()


def test_a_loop_of_the_users_around_it_is_not_touched(loop: PrivateLoop) -> None:
    async def users() -> bool:
        return loop.run(where, "a")[1] is not asyncio.get_running_loop()

    assert asyncio.run(users())


def test_what_is_raised_inside_is_raised_outside(loop: PrivateLoop) -> None:
    async def broken() -> None:
        raise ZeroDivisionError("by nothing")

    with pytest.raises(ZeroDivisionError, match="by nothing"):
        loop.run(broken)
    assert loop.run(where, "still")[0] == "still"


def test_what_would_end_a_loop_ends_this_one_not(loop: PrivateLoop) -> None:
    async def leaving() -> None:
        raise SystemExit(3)

    with pytest.raises(SystemExit, match="3"):
        loop.run(leaving)
    assert loop.run(where, "still")[0] == "still"


def test_closing_ends_what_still_runs(loop: PrivateLoop) -> None:
    started, ended = threading.Event(), []

    async def endless() -> None:
        try:
            started.set()
            await anyio.sleep_forever()
        except BaseException as error:
            ended.append(type(error).__name__)
            raise

    def wait() -> None:
        with pytest.raises(CancelledError):
            loop.run(endless)

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    assert started.wait(30)
    loop.close()
    waiting.join(30)
    assert ended == ["CancelledError"]


def called_by(frame: FrameType | None) -> list[str]:
    """The names of the functions that a thread is in, the innermost first."""
    return [] if frame is None else [frame.f_code.co_name, *called_by(frame.f_back)]


def test_an_interrupted_waiting_ends_what_it_waited_for(loop: PrivateLoop) -> None:
    ended = threading.Event()
    main = threading.main_thread().ident
    assert main is not None

    async def interrupting() -> None:
        while called_by(sys._current_frames()[main])[:3] != ["wait", "result", "run"]:  # noqa: ASYNC110 - who waits sets no event
            await anyio.sleep(0.01)
        signal.pthread_kill(main, signal.SIGINT)
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    with pytest.raises(KeyboardInterrupt):
        loop.run(interrupting)
    assert ended.wait(30)
    assert loop.run(where, "still")[0] == "still"


def test_a_loop_can_be_closed_twice_or_unused_and_used_again(loop: PrivateLoop) -> None:
    loop.close()
    assert loop.run(where, "a")[0] == "a"
    loop.close()
    loop.close()
    assert loop.run(where, "b")[0] == "b"


def test_who_waits_has_something_to_do_meanwhile(loop: PrivateLoop) -> None:
    told, enough = [], threading.Event()

    async def slow() -> str:
        while not enough.is_set():  # noqa: ASYNC110 - the other thread sets no event of this loop
            await anyio.sleep(0.01)
        return "done"

    def tell() -> None:
        told.append(threading.current_thread())
        if len(told) == 2:
            enough.set()

    assert loop.run(slow, every_seconds=0.01, meanwhile=tell) == "done"
    assert set(told) == {threading.current_thread()}
    assert len(told) >= 2
