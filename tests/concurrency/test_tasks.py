"""Coroutines that run together and fail together."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from pytest_ragcheck.concurrency.tasks import abandoned_calls, in_task, together


async def doubled(number: int) -> int:
    await asyncio.sleep(0.01 / (1 + number))
    return 2 * number


async def until_cancelled(ended: list[str]) -> int:
    try:
        await asyncio.Event().wait()
    finally:
        ended.append("cancelled")
    return 0


def test_the_results_have_the_order_of_the_coroutines() -> None:
    assert asyncio.run(together(map(doubled, range(4)))) == [0, 2, 4, 6]
    assert asyncio.run(together([])) == []


def test_the_first_failure_is_raised_when_the_others_have_ended() -> None:
    ended: list[str] = []

    async def failing() -> int:
        await asyncio.sleep(0)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(together([until_cancelled(ended), failing(), until_cancelled(ended)]))
    assert ended == ["cancelled", "cancelled"]


def test_a_cancelled_caller_takes_the_coroutines_along() -> None:
    ended: list[str] = []

    async def run() -> bool:
        task = asyncio.ensure_future(together([until_cancelled(ended)]))
        for _ in range(3):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(run())
    assert ended == ["cancelled"]


async def failing(error: BaseException) -> None:
    await asyncio.sleep(0)
    raise error


def test_a_task_of_its_own_hands_over_its_result_or_its_exception() -> None:
    assert asyncio.run(in_task(doubled, 4)) == 8
    for error in (ZeroDivisionError(), SystemExit(3), asyncio.CancelledError()):
        with pytest.raises(type(error)):
            asyncio.run(in_task(failing, error))


@pytest.mark.parametrize("rounds", range(8))
def test_a_caller_that_is_cancelled_in_any_round_takes_its_task_along(rounds: int) -> None:
    ended: list[str] = []

    async def run() -> bool:
        task = asyncio.ensure_future(in_task(until_cancelled, ended))
        for _ in range(rounds):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(run())
    assert ended == (["cancelled"] if rounds else [])


def test_a_task_that_ignores_its_cancellation_is_left() -> None:
    async def deaf() -> None:
        for _ in range(3):
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.5)

    async def run() -> int:
        with abandoned_calls() as left, pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(in_task(deaf), 0.01)
        return len(left)

    assert asyncio.run(run()) == 1
