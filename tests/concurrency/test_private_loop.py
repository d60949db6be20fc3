from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.concurrency import private_loop
from pytest_ragcheck.concurrency.private_loop import PrivateLoop
from pytest_ragcheck.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
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
            await asyncio.Event().wait()
        except BaseException as error:
            ended.append(type(error).__name__)
            raise

    raised: list[str] = []

    def wait() -> None:
        try:
            loop.run(endless)
        except UsageError as error:
            raised.append(str(error))

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    assert started.wait(30)
    loop.close()
    waiting.join(30)
    assert ended == ["CancelledError"]
    closed = (
        "the client was closed while a call of another thread waited for its reply. Close it after the last call, or "
        "give each thread its own client."
    )
    assert raised == [closed]


def interrupted_at(moment: int, run: Callable[[], object]) -> bool:
    """Run with a Ctrl-C at that start or end of a call that private_loop.py makes; return False if there are fewer."""
    left = moment

    def interrupt(frame: FrameType, event: str, _: object) -> None:
        nonlocal left
        caller = frame if event.startswith("c_") else frame.f_back
        if caller is not None and caller.f_code.co_filename == private_loop.__file__ and event != "c_call":
            left -= 1
            if not left:
                raise KeyboardInterrupt

    sys.setprofile(interrupt)
    try:
        run()
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(None)
    return False


def test_ctrl_c_at_any_moment_ends_what_was_waited_for(loop: PrivateLoop) -> None:
    async def lasting() -> None:
        lasting_tasks.append(asyncio.current_task())
        await asyncio.sleep(0.1)

    async def left() -> int:
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return sum(1 for task in lasting_tasks if task is not None and not task.done())

    for moment in range(1, 100):
        lasting_tasks: list[asyncio.Task[None] | None] = []
        if not interrupted_at(moment, lambda: loop.run(lasting)):
            assert moment > 10
            return
        assert loop.run(left) == 0, moment
    raise AssertionError("`run` makes more calls than the test")


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
            await asyncio.sleep(0.01)
        return "done"

    def tell() -> None:
        told.append(threading.current_thread())
        if len(told) == 2:
            enough.set()

    assert loop.run(slow, every_seconds=0.01, meanwhile=tell) == "done"
    assert set(told) == {threading.current_thread()}
    assert len(told) >= 2


def test_closing_beside_callers_leaves_none_of_them_waiting(loop: PrivateLoop) -> None:
    enough = threading.Event()

    def call() -> None:
        while not enough.is_set():
            with suppress(UsageError):
                loop.run(where, "a")

    callers = [threading.Thread(target=call, daemon=True) for _ in range(3)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for caller in callers:
            caller.start()
        for _ in range(1_000):
            loop.close()
            enough.wait(0.001)
        enough.set()
        for caller in callers:
            caller.join(30)
    finally:
        sys.setswitchinterval(before)
    assert not any(caller.is_alive() for caller in callers)


def test_a_coroutine_that_stops_the_loop_stops_no_other(loop: PrivateLoop) -> None:
    async def stopping() -> str:
        asyncio.get_running_loop().stop()
        await asyncio.sleep(0.01)
        return "went on"

    assert loop.run(stopping) == "went on"
    assert loop.run(where, "still")[0] == "still"


def test_a_task_of_a_users_own_that_exits_ends_no_loop(loop: PrivateLoop) -> None:
    async def exiting() -> None:
        raise SystemExit(3)

    async def starting() -> str:
        task = asyncio.ensure_future(exiting())
        await asyncio.wait({task})
        task.exception()
        return "went on"

    assert loop.run(starting) == "went on"


def test_tasks_that_ignore_their_cancellation_do_not_keep_a_loop_from_closing(loop: PrivateLoop) -> None:
    closed, started = threading.Event(), threading.Event()

    async def stubborn() -> None:
        started.set()
        while not closed.is_set():
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(3600)

    def wait() -> None:
        with suppress(UsageError):
            loop.run(stubborn)

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    assert started.wait(30)
    loop.close()
    waiting.join(30)
    closed.set()
    assert not waiting.is_alive()


def test_a_blocked_loop_is_reported_and_can_be_left_for_a_new_one() -> None:
    told: list[int] = []
    started, enough = threading.Event(), threading.Event()

    def tell(thread_id: int) -> bool:
        told.append(thread_id)
        return True

    async def blocking() -> int:
        started.set()
        enough.wait()
        return threading.get_ident()

    private = PrivateLoop(tell)
    ended: list[int] = []
    waiting = threading.Thread(target=lambda: ended.append(private.run(blocking)), daemon=True)
    waiting.start()
    assert started.wait(30)
    while not told:
        assert not enough.wait(0.01)
    assert not private.answers()
    private.abandon()
    assert private.run(where, "anew")[0] == "anew"
    assert private.answers()
    enough.set()
    waiting.join(30)
    assert ended == told
    private.close()


NO_DESCRIPTOR_LEFT = """
import asyncio, os, resource
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.concurrency.private_loop import PrivateLoop

async def nothing(): pass

resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/dev/fd")) - 1,) * 2)
try:
    PrivateLoop().run(nothing)
except UsageError as error:
    print(error)
"""

NO_SOCKETS = """
import gc, os, socket, sys
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.concurrency.private_loop import PrivateLoop

async def nothing(): print("asked")

def guard(*args, **options): raise RuntimeError("no network in unit tests.")

sys.unraisablehook = print
loop = PrivateLoop()
loop.start()
socket.socket = guard
loop.run(nothing)
opened = len(os.listdir("/dev/fd"))
try:
    PrivateLoop().run(nothing)
except UsageError as error:
    print(error)
gc.collect()
print(len(os.listdir("/dev/fd")) - opened)
"""

FORKED = """
import os
from pytest_ragcheck.concurrency.private_loop import PrivateLoop

async def where(): return os.getpid()

loop = PrivateLoop()
assert loop.run(where) == os.getpid()
child = os.fork()
if not child:
    print(loop.run(where) == os.getpid(), flush=True)
    loop.close()
    os._exit(0)
os.waitpid(child, 0)
print(loop.run(where) == os.getpid())
"""


def output_of(code: str) -> str:
    command = [sys.executable, "-W", "ignore", "-c", code]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=60, check=True).stdout


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit to lower")
def test_a_loop_that_cannot_start_says_why() -> None:
    assert output_of(NO_DESCRIPTOR_LEFT) == (
        "the event loop that asks questions cannot start: [Errno 24] Too many open files. Close files and threads of "
        "this process, or raise its limits (ulimit -n, ulimit -u).\n"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="there is no folder of the open files")
def test_a_loop_starts_before_sockets_are_forbidden_or_names_their_guard() -> None:
    assert output_of(NO_SOCKETS) == (
        "asked\n"
        "the event loop that asks questions cannot start: socket.socket raised RuntimeError: no network in unit tests. "
        "It needs a socket pair, but no network. Forbid sockets in a fixture of function scope.\n"
        "0\n"
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked")
def test_a_forked_child_has_a_loop_of_its_own() -> None:
    assert output_of(FORKED) == "True\nTrue\n"
