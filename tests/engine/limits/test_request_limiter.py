"""The limiter keeps its limit, finds a smaller limit of the server, and retries requests that may succeed."""

from __future__ import annotations

import asyncio
import contextlib
import math
import random
import selectors
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.engine.limits.request_limiter import RequestLimiter
from pytest_ragcheck.engine.limits.slots import PrivateTable, Slots
from pytest_ragcheck.errors import (
    EndpointReplyError,
    EndpointStatusError,
    EndpointTimeout,
    EndpointUnreachable,
    JudgeReplyError,
    JudgeUnavailable,
    MeasurementError,
)
from pytest_ragcheck.rag.http.retry import is_transient

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine


class Busy:
    """A system that takes a number of requests at once, and refuses the rest with the client's error."""

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
            await asyncio.sleep(self.seconds)
        finally:
            self.running -= 1
        return "done"


class EachMinute(Busy):
    """A system that takes a number of requests in each minute, and refuses the rest."""

    def __init__(self, quota: int, *, retry_after: float | None) -> None:
        super().__init__(limit=0, seconds=0.2, retry_after=retry_after)
        self.quota = quota
        self.taken: Counter[int] = Counter()

    async def __call__(self) -> str:
        minute = int(now() // 60)
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


def leap(scenario: Coroutine[Any, Any, Any]) -> None:
    loop = LeapingLoop()
    try:
        loop.run_until_complete(scenario)
    finally:
        loop.close()


def now() -> float:
    return asyncio.get_running_loop().time()


class Locks(PrivateTable):
    """The table of several processes, which are views in this one."""

    def __init__(self, holders: dict[int, Locks], numbers: bytearray) -> None:
        super().__init__()
        self._holders = holders
        self._memory = numbers

    def take(self, index: int) -> bool:
        return self._holders.setdefault(index, self) is self

    def free(self, index: int) -> None:
        del self._holders[index]


def slots_of_processes(number: int, processes: int) -> list[Slots]:
    """The slots of a run as each of several processes sees them."""
    holders: dict[int, Locks] = {}
    tables = [Locks(holders, numbers) for numbers in [bytearray(512)] * processes]
    return [Slots(number, processes=processes, table=table) for table in tables]


def limiters_of_processes(number: int, processes: int, **how: Any) -> list[RequestLimiter]:
    """The limiters of a run in several processes, which share the slots."""
    return [RequestLimiter(slots, **how) for slots in slots_of_processes(number, processes)]


def run_all(limiter: RequestLimiter, operations: list[Callable[[], Awaitable[str]]]) -> list[str | MeasurementError]:
    found: list[str | MeasurementError] = [""] * len(operations)

    async def one(place: int) -> None:
        try:
            found[place] = await limiter.run(operations[place])
        except MeasurementError as error:
            found[place] = error

    async def everything() -> None:
        await asyncio.gather(*map(one, range(len(operations))))

    leap(everything())
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
    assert run_all(RequestLimiter(limit), [system] * 40) == ["done"] * 40
    assert system.most == limit


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(("limit", "most_refused"), [(15, 6), (8, 14), (4, 22), (1, 46)])
def test_a_system_with_a_smaller_limit_is_served_at_that_limit_without_hammering(
    status: int, limit: int, most_refused: int
) -> None:
    system = Busy(limit, status=status, seconds=0.2)
    limiter = RequestLimiter(16)
    ended: list[float] = []

    async def one() -> str:
        try:
            return await limiter.run(system)
        finally:
            ended.append(now())

    async def everything() -> None:
        await asyncio.gather(*(one() for _ in range(500)))

    leap(everything())
    assert system.most == limit
    # Those beyond the limit are refused in rounds that each take half away, until it is found; the rest is probing,
    # ever more seldom.
    assert system.refused <= most_refused
    assert max(ended) <= 1.05 * math.ceil(500 / limit) * 0.2


@pytest.mark.parametrize("retry_after", [None, 1.0])
@pytest.mark.parametrize("share", [1, 4])
def test_a_limit_of_requests_a_minute_is_waited_for(share: int, retry_after: float | None) -> None:
    system = EachMinute(50, retry_after=retry_after)
    limiters = limiters_of_processes(4 * share, share)
    done: list[str] = []

    async def one(limiter: RequestLimiter) -> None:
        done.append(await limiter.run(system))

    async def everything() -> None:
        await asyncio.gather(*(one(limiter) for limiter in limiters * (200 // share)))

    leap(everything())
    assert done == ["done"] * 200
    # In three minutes with nothing left each process asks with one request at a time: every 8 s, where it is the
    # only one, every 2 s, where others would be quicker, or as it is told.
    every_seconds = retry_after or (8.0 if share == 1 else 2.0)
    assert system.refused <= share * (3 * 60 / every_seconds + 3 * 16)


def test_a_system_that_was_overloaded_gets_the_full_rate_again() -> None:
    system = Busy(1000, seconds=0.1, retry_after=None)
    limiter = RequestLimiter(16)

    async def trouble() -> None:
        await asyncio.sleep(1)
        system.limit = 0
        await asyncio.sleep(2)
        system.limit, system.most = 1000, 0

    async def everything() -> None:
        await asyncio.gather(trouble(), *(limiter.run(system) for _ in range(800)))

    leap(everything())
    # 16, then halves of them, then one after another with pauses.
    assert 16 <= system.refused <= 40
    assert system.most == 16


def test_a_system_that_is_down_is_asked_no_more_than_after_other_failures() -> None:
    system = Busy(0, status=503, retry_after=0.001)
    (error,) = run_all(RequestLimiter(1, retries=2), [system])
    assert isinstance(error, EndpointStatusError)
    assert system.requests == 3


def test_a_judge_whose_account_has_no_quota_left_is_asked_once() -> None:
    (error,) = run_all(
        RequestLimiter(1, retries=2), [failing(JudgeUnavailable("no quota", status=429, transient=False))]
    )
    assert str(error) == "no quota"


def test_processes_that_share_a_system_leave_room_to_each_other_and_give_up_none() -> None:
    system = Busy(2)
    limiters = limiters_of_processes(16, 4)
    done: list[str] = []

    async def one(limiter: RequestLimiter) -> None:
        done.append(await limiter.run(system))

    async def everything() -> None:
        await asyncio.gather(*(one(limiter) for limiter in limiters * 40))

    leap(everything())
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
    limited: Callable[[], Busy], questions: int, share: int
) -> None:
    """A process that is always refused gets the next slot, and the others wait."""
    system = limited()
    limiters = limiters_of_processes(4 * share, share)
    ends: dict[RequestLimiter, list[float]] = {limiter: [] for limiter in limiters}

    async def one(limiter: RequestLimiter) -> None:
        await limiter.run(system)
        ends[limiter].append(now())

    async def everything() -> None:
        await asyncio.gather(*(one(limiter) for limiter in limiters * (questions // share)))

    leap(everything())
    # No process waits longer than two minutes of a limit per minute.
    assert max(later - sooner for each in ends.values() for sooner, later in pairwise([0.0, *each])) <= 130


@pytest.mark.parametrize(("status", "served", "seconds"), [(429, False, 65), (429, True, 65), (503, True, 30)])
def test_it_is_found_out_once_that_a_system_refuses_all(status: int, served: bool, seconds: int) -> None:
    system = Busy(1 if served else 0, status=status, retry_after=1)
    requests: list[int] = []

    async def one_after_another() -> None:
        limiter = RequestLimiter(1, retries=2)
        if served:
            await limiter.run(system)
        system.limit = system.requests = 0
        for _ in range(3):
            with pytest.raises(EndpointStatusError):
                await limiter.run(system)
            requests.append(system.requests)

    leap(one_after_another())
    # Each second and a bit for as long as a limit may leave no room; then three are enough.
    assert seconds / 1.25 <= requests[0] <= seconds + 4
    assert requests[1:] == [requests[0] + 3, requests[0] + 6]


def test_a_system_that_refuses_all_requests_ends_in_an_error_for_each() -> None:
    system = Busy(0, status=503, retry_after=0.001)
    errors = run_all(RequestLimiter(8, retries=2), [system] * 20)
    assert all(isinstance(error, EndpointStatusError) for error in errors)
    # Three for each, and those that were made while the limiter still let several through.
    assert 60 <= system.requests <= 140


def test_a_longer_wait_than_patience_is_not_waited_for() -> None:
    (error,) = run_all(RequestLimiter(1, patience_seconds=10), [Busy(0, retry_after=60)])
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
        (result,) = run_all(RequestLimiter(1, retries=1), [failing(error)])
        assert (result == "done") is transient


def test_a_failure_in_passing_is_repeated_so_often_and_no_more() -> None:
    gone = [EndpointUnreachable(str(number), url="") for number in range(3)]
    assert run_all(RequestLimiter(1, retries=3), [failing(*gone)]) == ["done"]
    (error,) = run_all(RequestLimiter(1, retries=1), [failing(*gone)])
    assert str(error) == "1"
    (error,) = run_all(RequestLimiter(1, retries=0), [failing(*gone)])
    assert str(error) == "0"


def test_a_bug_passes_through_and_leaves_the_room_to_others() -> None:
    async def broken() -> str:
        raise ZeroDivisionError

    async def both() -> None:
        limiter = RequestLimiter(1)
        with pytest.raises(ZeroDivisionError):
            await limiter.run(broken)
        assert await limiter.run(failing()) == "done"

    asyncio.run(both())


def test_who_is_cancelled_while_waiting_leaves_the_room_to_others() -> None:
    async def scenario() -> None:
        limiter = RequestLimiter(1)
        slow = Busy(9, seconds=0.05)
        first = asyncio.create_task(limiter.run(slow))
        await asyncio.sleep(0)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(limiter.run(slow), 0.005)
        assert await limiter.run(slow) == "done"
        assert await first == "done"
        assert slow.requests == 2

    asyncio.run(scenario())


def test_a_waiting_request_starts_in_the_round_of_the_loop_after_the_reply_of_another() -> None:
    rounds, at = 0, list[int]()

    async def operation() -> None:
        at.append(rounds)
        await asyncio.sleep(0.005)
        at.append(rounds)

    async def scenario() -> None:
        nonlocal rounds
        limiter = RequestLimiter(1)
        running = [asyncio.create_task(limiter.run(operation)) for _ in range(3)]
        while not all(task.done() for task in running):
            rounds += 1
            await asyncio.sleep(0)

    asyncio.run(scenario())
    _, *pauses, _ = at
    assert [start - end for end, start in zip(pauses[::2], pauses[1::2], strict=True)] == [1, 1]


def test_an_abandoned_request_that_ends_well_frees_its_slot_once() -> None:
    async def deaf() -> str:
        until = now() + 1.2
        while now() < until:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(until - now())
        return "done"

    async def scenario() -> int:
        limiter = RequestLimiter(2)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(limiter.run(deaf), 0.01)
        system = Busy(9, seconds=0.1)
        await asyncio.gather(*(limiter.run(system) for _ in range(8)))
        return system.most

    assert asyncio.run(scenario()) == 2


def test_slots_are_hung_once_calls_of_any_processes_hold_all_that_are_taken() -> None:
    first, second = slots_of_processes(3, 2)
    assert [slots.take(0.0) for slots in (first, first, second, second)] == [True, True, True, False]
    mark, _ = first.mark_hung(), first.mark_hung()
    assert not first.are_hung()
    other = second.mark_hung()
    assert first.are_hung()
    assert second.are_hung()
    first.unmark_hung(mark)
    assert not second.are_hung()
    first.free()
    assert second.are_hung()
    second.unmark_hung(other)
    assert not second.are_hung()


def test_a_delay_lies_between_the_starts_of_two_requests() -> None:
    starts: list[float] = []

    async def operation() -> str:
        starts.append(now())
        return "done"

    run_all(RequestLimiter(4, delay_seconds=0.02), [operation] * 4)
    assert starts == pytest.approx([0.0, 0.02, 0.04, 0.06])


def test_requests_of_a_process_that_are_kept_apart_start_one_by_one() -> None:
    starts: list[float] = []

    async def operation() -> str:
        starts.append(now())
        return "done"

    run_all(RequestLimiter(4, apart_seconds=0.02), [operation] * 6)
    assert starts == pytest.approx([0.0, 0.02, 0.04, 0.06, 0.08, 0.1])


def test_who_is_cancelled_in_the_delay_leaves_the_room_to_others() -> None:
    async def scenario() -> None:
        limiter = RequestLimiter(1, delay_seconds=0.05)
        assert await limiter.run(failing()) == "done"
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(limiter.run(failing()), 0.005)
        assert await limiter.run(failing()) == "done"

    asyncio.run(scenario())


def test_who_is_cancelled_while_kept_apart_leaves_the_room_to_others() -> None:
    async def scenario() -> None:
        limiter = RequestLimiter(1, apart_seconds=0.05)
        assert await limiter.run(failing()) == "done"
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(limiter.run(failing()), 0.005)
        assert await limiter.run(failing()) == "done"

    asyncio.run(scenario())


@pytest.mark.parametrize(("status", "patience"), [(503, 30), (429, 65)])
def test_a_request_that_was_refused_for_all_the_patience_is_not_repeated_once_more(status: int, patience: int) -> None:
    system = Busy(1, status=status, retry_after=None)

    waited: list[float] = []

    async def one_and_another() -> None:
        limiter = RequestLimiter(1, retries=2)
        await limiter.run(system)
        system.limit = 0
        began = now()
        with pytest.raises(EndpointStatusError):
            await limiter.run(system)
        waited.append(now() - began)

    leap(one_and_another())
    # The longest pause is 8 s, and up to a quarter more.
    assert patience <= waited[0] <= patience + 10


class AtRandom(Busy):
    """A system that refuses a share of the requests, however many run."""

    def __init__(self, share: float) -> None:
        super().__init__(0, status=503, seconds=0.2, retry_after=None)
        self.share = share
        self.chance = random.Random(3)

    async def __call__(self) -> str:
        self.limit = 0 if self.chance.random() < self.share else 1000
        return await super().__call__()


class EverySecond(Busy):
    """A system that refuses every second request, however many run."""

    async def __call__(self) -> str:
        self.limit = 1000 if self.requests % 2 == 0 else 0
        return await super().__call__()


class ThenFour(EverySecond):
    """A system that refuses every second request, and after 400 of them those beyond four at once."""

    async def __call__(self) -> str:
        if self.requests < 400:
            return await super().__call__()
        self.limit = 4
        return await Busy.__call__(self)


@pytest.mark.parametrize("share", [1, 2])
@pytest.mark.parametrize("at_once", [1, 16])
def test_a_system_that_refuses_every_second_request_answers_all(at_once: int, share: int) -> None:
    system = EverySecond(0, status=503, seconds=0.05, retry_after=None)
    limiters = limiters_of_processes(at_once, share)
    done: list[str] = []

    async def one(limiter: RequestLimiter) -> None:
        done.append(await limiter.run(system))

    async def everything() -> None:
        await asyncio.gather(*(one(limiter) for limiter in limiters * (300 // share)))
        seconds.append(now())

    seconds: list[float] = []
    leap(everything())
    assert done == ["done"] * 300
    # Without any limit below 16 the retries take 12 s; one after another, with a pause after each refusal, 95 s.
    assert seconds[0] <= (2 * 12 if at_once == 16 else 40)


@pytest.mark.parametrize(("system", "seconds"), [(AtRandom(0.1), 4.5), (AtRandom(0.3), 7.5), (AtRandom(0.5), 14)])
def test_random_refusals_take_no_more_than_three_times_their_retries(system: AtRandom, seconds: float) -> None:
    ended: list[float] = []

    async def everything() -> None:
        limiter = RequestLimiter(16)
        await asyncio.gather(*(limiter.run(system) for _ in range(300)))
        ended.append(now())

    leap(everything())
    # *seconds* is the time with 16 at once throughout.
    assert ended[0] <= 3 * seconds


def test_a_limit_that_appears_among_random_refusals_is_found() -> None:
    system = ThenFour(0, status=503, seconds=0.2, retry_after=None)
    refused: list[int] = []

    async def everything() -> None:
        limiter = RequestLimiter(16)
        await asyncio.gather(*(limiter.run(system) for _ in range(600)))
        refused.append(system.refused)

    leap(everything())
    assert system.requests - system.refused == 600
    # 200 of the first 400, then few more than of a system that always takes four.
    assert refused[0] <= 200 + 3 * 22
