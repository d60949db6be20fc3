"""The gate holds a limit, finds a smaller one of the other side's, and repeats what may succeed."""

from __future__ import annotations

import asyncio
import math
import selectors
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel
import pytest

from pytest_ragcheck.engine.gate import Gate
from pytest_ragcheck.engine.turn import Turn
from pytest_ragcheck.errors import (
    EndpointReplyError,
    EndpointStatusError,
    EndpointTimeout,
    EndpointUnreachable,
    JudgeReplyError,
    JudgeUnavailable,
    MeasurementError,
)
from pytest_ragcheck.transient import is_transient

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path


class Busy:
    """A system that takes so many requests at once and refuses the rest, as the endpoint's client would say it."""

    def __init__(
        self, limit: int, *, status: int = 429, seconds: float = 0.002, retry_after: float | None = 0.005
    ) -> None:
        self.limit = limit
        self.status = status
        self.seconds = seconds
        self.retry_after = retry_after
        self.running = self.most = self.requests = self.refused = 0

    async def __call__(self) -> str:
        self.requests += 1
        if self.running >= self.limit:
            self.refused += 1
            raise EndpointStatusError("busy", url="", status=self.status, retry_after_seconds=self.retry_after)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await anyio.sleep(self.seconds)
        finally:
            self.running -= 1
        return "done"


class EachMinute(Busy):
    """A system that takes so many requests in each minute, and refuses the rest of them."""

    def __init__(self, quota: int, *, retry_after: float | None) -> None:
        super().__init__(limit=0, seconds=0.2, retry_after=retry_after)
        self.quota = quota
        self.taken: Counter[int] = Counter()

    async def __call__(self) -> str:
        minute = int(anyio.current_time() // 60)
        self.limit = 1000 if self.taken[minute] < self.quota else 0
        self.taken[minute] += self.limit > 0
        return await super().__call__()


class Leaping(selectors.DefaultSelector):
    """Has its loop's clock leap to the next timer, so that no load makes anything late."""

    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.now += timeout or 0.0
        return super().select(timeout and 0.0)


class LeapingLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._leaping = Leaping()
        super().__init__(self._leaping)

    def time(self) -> float:
        return self._leaping.now


LEAPING = {"loop_factory": LeapingLoop}


def run_all(gate: Gate, operations: list[Callable[[], Awaitable[str]]], **how: Any) -> list[str | MeasurementError]:
    found: list[str | MeasurementError] = [""] * len(operations)

    async def one(place: int) -> None:
        try:
            found[place] = await gate.run(operations[place])
        except MeasurementError as error:
            found[place] = error

    async def everything() -> None:
        async with anyio.create_task_group() as group:
            for place in range(len(operations)):
                group.start_soon(one, place)

    anyio.run(everything, **how)
    return found


def failing(*errors: MeasurementError) -> Callable[[], Awaitable[str]]:
    """An operation that fails so often, and then succeeds."""
    left = list(errors)

    async def operation() -> str:
        if left:
            raise left.pop(0)
        return "done"

    return operation


@pytest.mark.parametrize("limit", [1, 3, 8])
def test_no_more_run_at_once_than_the_limit_and_no_fewer_where_there_are_enough(limit: int) -> None:
    system = Busy(1000)
    assert run_all(Gate(limit), [system] * 40) == ["done"] * 40
    assert system.most == limit


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(("limit", "most_refused"), [(15, 6), (8, 14), (4, 22), (1, 46)])
def test_a_system_with_a_smaller_limit_is_served_at_that_limit_without_hammering(
    status: int, limit: int, most_refused: int
) -> None:
    system = Busy(limit, status=status, seconds=0.2)
    gate = Gate(16)
    ended: list[float] = []

    async def one() -> str:
        try:
            return await gate.run(system)
        finally:
            ended.append(anyio.current_time())

    async def everything() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(500):
                group.start_soon(one)

    anyio.run(everything, backend_options=LEAPING)
    assert system.most == limit
    # Those beyond the limit are refused in rounds that each take half away, until it is found; the rest is probing,
    # ever more seldom.
    assert system.refused <= most_refused
    assert max(ended) <= 1.05 * math.ceil(500 / limit) * 0.2


@pytest.mark.parametrize("retry_after", [None, 1.0])
@pytest.mark.parametrize("share", [1, 4])
def test_a_limit_of_requests_a_minute_is_waited_for(share: int, retry_after: float | None) -> None:
    system = EachMinute(50, retry_after=retry_after)
    gates = [Gate(4, share=share) for _ in range(share)]
    done: list[str] = []

    async def one(gate: Gate) -> None:
        done.append(await gate.run(system))

    async def everything() -> None:
        async with anyio.create_task_group() as group:
            for gate in gates * (200 // share):
                group.start_soon(one, gate)

    anyio.run(everything, backend_options=LEAPING)
    assert done == ["done"] * 200
    # In three minutes with nothing left each process asks with one request at a time: every 8 s, where it is the
    # only one, every 2 s, where others would be quicker, or as it is told.
    every_seconds = retry_after or (8.0 if share == 1 else 2.0)
    assert system.refused <= share * (3 * 60 / every_seconds + 3 * 16)


def test_a_system_that_is_overloaded_for_a_while_is_left_alone_and_then_served_fully_again() -> None:
    system = Busy(1000, seconds=0.1, retry_after=None)
    gate = Gate(16)

    async def trouble() -> None:
        await anyio.sleep(1)
        system.limit = 0
        await anyio.sleep(2)
        system.limit, system.most = 1000, 0

    async def everything() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(trouble)
            for _ in range(800):
                group.start_soon(gate.run, system)

    anyio.run(everything, backend_options=LEAPING)
    # 16, then halves of them, then one after another with pauses.
    assert 16 <= system.refused <= 40
    assert system.most == 16


def test_a_system_that_is_down_is_asked_no_more_than_after_other_failures() -> None:
    system = Busy(0, status=503, retry_after=0.001)
    (error,) = run_all(Gate(1, retries=2), [system])
    assert isinstance(error, EndpointStatusError)
    assert system.requests == 3


def test_a_judge_whose_account_has_no_quota_left_is_asked_once() -> None:
    (error,) = run_all(Gate(1, retries=2), [failing(JudgeUnavailable("no quota", status=429, transient=False))])
    assert str(error) == "no quota"


def test_processes_that_share_a_system_leave_room_to_each_other_and_give_up_none() -> None:
    """Four gates as four processes have them: each finds its only request refused, for the others have the room."""
    system = Busy(2)
    gates = [Gate(4, share=4) for _ in range(4)]
    done: list[str] = []

    async def one(gate: Gate) -> None:
        done.append(await gate.run(system))

    async def everything() -> None:
        async with anyio.create_task_group() as group:
            for gate in gates * 40:
                group.start_soon(one, gate)

    anyio.run(everything, backend_options=LEAPING)
    assert done == ["done"] * 160


@pytest.mark.parametrize("share", [2, 4])
@pytest.mark.parametrize(
    ("limited", "questions"),
    [
        pytest.param(lambda: Busy(1, seconds=0.3, retry_after=None), 800, id="one at once"),
        pytest.param(lambda: EachMinute(10, retry_after=None), 80, id="ten a minute"),
        pytest.param(lambda: EachMinute(10, retry_after=5.0), 80, id="ten a minute, and says when"),
    ],
)
def test_a_system_with_less_room_than_processes_serves_each_of_them(
    limited: Callable[[], Busy], questions: int, share: int, tmp_path: Path
) -> None:
    """Whoever is always refused gets the turn, for which the others wait."""
    system = limited()
    gates = [Gate(4, share=share, turn=Turn(tmp_path / "turn")) for _ in range(share)]
    ends: dict[Gate, list[float]] = {gate: [] for gate in gates}

    async def one(gate: Gate) -> None:
        await gate.run(system)
        ends[gate].append(anyio.current_time())

    async def everything() -> None:
        async with anyio.create_task_group() as group:
            for gate in gates * (questions // share):
                group.start_soon(one, gate)

    anyio.run(everything, backend_options=LEAPING)
    # Nobody is left out for longer than two minutes of a limit a minute.
    assert max(later - sooner for each in ends.values() for sooner, later in pairwise([0.0, *each])) <= 130


@pytest.mark.parametrize(("status", "share", "seconds"), [(429, 1, 65), (429, 3, 65), (503, 3, 30)])
def test_it_is_found_out_once_that_a_system_refuses_all(status: int, share: int, seconds: int) -> None:
    system = Busy(0, status=status, retry_after=1)
    requests: list[int] = []

    async def one_after_another() -> None:
        gate = Gate(1, retries=2, share=share)
        for _ in range(3):
            with pytest.raises(EndpointStatusError):
                await gate.run(system)
            requests.append(system.requests)

    anyio.run(one_after_another, backend_options=LEAPING)
    # Each second and a bit for as long as a limit, or others, may leave no room; then three are enough.
    assert seconds / 1.25 <= requests[0] <= seconds + 4
    assert requests[1:] == [requests[0] + 3, requests[0] + 6]


def test_a_system_that_refuses_all_requests_ends_in_an_error_for_each() -> None:
    system = Busy(0, status=503, retry_after=0.001)
    errors = run_all(Gate(8, retries=2), [system] * 20)
    assert all(isinstance(error, EndpointStatusError) for error in errors)
    # Three for each, and those that were made while the gate still let several through.
    assert 60 <= system.requests <= 140


def test_a_longer_wait_than_patience_is_not_waited_for() -> None:
    (error,) = run_all(Gate(1, patience_seconds=10), [Busy(0, retry_after=60)])
    assert isinstance(error, EndpointStatusError)


@pytest.mark.parametrize(
    ("error", "transient"),
    [
        (EndpointStatusError("", url="", status=408), True),
        (EndpointStatusError("", url="", status=409), True),
        (EndpointStatusError("", url="", status=429), True),
        (EndpointStatusError("", url="", status=502), True),
        (EndpointStatusError("", url="", status=503), True),
        (EndpointStatusError("", url="", status=504), True),
        (EndpointStatusError("", url="", status=500), False),
        (EndpointStatusError("", url="", status=404), False),
        (EndpointUnreachable("", url=""), True),
        (EndpointUnreachable("", url="", transient=False), False),
        (EndpointTimeout("", url=""), False),
        (EndpointReplyError("", url="", status=200), False),
        (JudgeUnavailable("", status=429), True),
        (JudgeUnavailable("", status=401), False),
        (JudgeUnavailable("", transient=True), True),
        (JudgeUnavailable("", status=429, transient=False), False),
        (JudgeUnavailable(""), False),
        (JudgeReplyError(""), False),
    ],
)
def test_repeated_is_what_may_succeed_and_nothing_else(error: MeasurementError, transient: bool) -> None:
    assert is_transient(error) is transient
    if getattr(error, "retry_after_seconds", None) is None:
        (result,) = run_all(Gate(1, retries=1), [failing(error)])
        assert (result == "done") is transient


def test_a_failure_in_passing_is_repeated_so_often_and_no_more() -> None:
    gone = [EndpointUnreachable(str(number), url="") for number in range(3)]
    assert run_all(Gate(1, retries=3), [failing(*gone)]) == ["done"]
    (error,) = run_all(Gate(1, retries=1), [failing(*gone)])
    assert str(error) == "1"
    (error,) = run_all(Gate(1, retries=0), [failing(*gone)])
    assert str(error) == "0"


def test_a_bug_passes_through_and_leaves_the_room_to_others() -> None:
    async def broken() -> str:
        raise ZeroDivisionError

    async def both() -> None:
        gate = Gate(1)
        with pytest.raises(ZeroDivisionError):
            await gate.run(broken)
        assert await gate.run(failing()) == "done"

    anyio.run(both)


def test_who_is_cancelled_while_waiting_leaves_the_room_to_others() -> None:
    async def scenario() -> None:
        gate = Gate(1)
        slow = Busy(9, seconds=0.05)
        async with anyio.create_task_group() as group:
            group.start_soon(gate.run, slow)
            await anyio.lowlevel.checkpoint()
            with anyio.move_on_after(0.005):
                await gate.run(slow)
            assert await gate.run(slow) == "done"
        assert slow.requests == 2

    anyio.run(scenario)


def test_a_delay_lies_between_the_starts_of_two_requests() -> None:
    starts: list[float] = []

    async def operation() -> str:
        starts.append(anyio.current_time())
        return "done"

    run_all(Gate(4, delay_seconds=0.02), [operation] * 4, backend_options=LEAPING)
    assert starts == pytest.approx([0.0, 0.02, 0.04, 0.06])


def test_who_is_cancelled_in_the_delay_leaves_the_room_to_others() -> None:
    async def scenario() -> None:
        gate = Gate(1, delay_seconds=0.05)
        assert await gate.run(failing()) == "done"
        with anyio.move_on_after(0.005):
            await gate.run(failing())
        assert await gate.run(failing()) == "done"

    anyio.run(scenario)
