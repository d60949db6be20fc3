"""The time limit of a block: when it ends, and which cancellations it passes on."""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress

import pytest

from pytest_ragcheck.concurrency.limiter import TimeLimit


async def forever() -> None:
    await asyncio.Event().wait()


def test_a_block_that_ends_in_time_keeps_its_value_and_its_exception() -> None:
    async def run() -> str:
        with TimeLimit(60) as limit:
            await asyncio.sleep(0)
        assert not limit.expired
        with pytest.raises(ZeroDivisionError), TimeLimit(60):
            raise ZeroDivisionError
        with TimeLimit(60):
            return "value"
        return "expired"

    assert asyncio.run(run()) == "value"


def test_a_block_that_takes_longer_is_cancelled_and_the_task_continues() -> None:
    async def run() -> str:
        with TimeLimit(0.01) as limit:
            await forever()
        assert limit.expired
        await asyncio.sleep(0)
        return "continued"

    assert asyncio.run(run()) == "continued"


def test_code_that_catches_the_cancellation_is_cancelled_again() -> None:
    async def run() -> bool:
        with TimeLimit(0.01) as limit:
            with suppress(asyncio.CancelledError):
                await forever()
            await forever()
        await asyncio.sleep(0)
        return limit.expired

    assert asyncio.run(run())


def test_the_exception_of_the_cleanup_is_not_hidden_by_the_limit() -> None:
    async def run() -> None:
        with TimeLimit(0.01):
            try:
                await forever()
            finally:
                raise OSError("cleanup")

    with pytest.raises(OSError, match="cleanup"):
        asyncio.run(run())


def test_a_cancellation_of_the_task_is_passed_on() -> None:
    async def run() -> bool:
        task = asyncio.ensure_future(limited())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    async def limited() -> None:
        with TimeLimit(60):
            await forever()

    assert asyncio.run(run())


def test_a_cancellation_of_the_task_at_the_moment_of_the_limit_is_passed_on() -> None:
    async def run() -> bool:
        expired = asyncio.get_running_loop().create_future()

        async def limited() -> None:
            with TimeLimit(0.0):
                try:
                    await forever()
                finally:
                    expired.set_result(None)
                    await asyncio.sleep(0)  # the cancellation from outside meets the cleanup

        task = asyncio.ensure_future(limited())
        await expired
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(run())


@pytest.mark.parametrize(("outer", "inner", "ended"), [(0.01, 60, "outer"), (60, 0.01, "inner"), (0.02, 0.01, "both")])
def test_of_two_limits_each_ends_its_own_block(outer: float, inner: float, ended: str) -> None:
    async def run() -> tuple[bool, bool]:
        within = TimeLimit(inner)
        with TimeLimit(outer) as around:
            with within:
                await forever()
            await asyncio.sleep(0.02 if ended == "both" else 0)
        return around.expired, within.expired

    assert asyncio.run(run()) == (ended != "inner", ended != "outer")


def test_a_restarted_limit_counts_from_then_on_and_an_infinite_one_never_ends() -> None:
    async def run() -> tuple[bool, bool]:
        with TimeLimit() as stopped:
            stopped.restart(0.01)
            stopped.restart(math.inf)
            await asyncio.sleep(0.03)
        with TimeLimit(60) as started:
            started.restart(0.01)
            await forever()
        return stopped.expired, started.expired

    assert asyncio.run(run()) == (False, True)


def test_a_limit_of_asyncio_around_it_still_works() -> None:
    async def limited() -> None:
        with TimeLimit(60):
            await forever()

    async def run() -> None:
        await asyncio.wait_for(limited(), 0.01)

    with pytest.raises(asyncio.TimeoutError):
        asyncio.run(run())
