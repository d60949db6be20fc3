"""Coroutines that run together and fail together."""

from __future__ import annotations

import asyncio

import pytest

from pytest_ragcheck.concurrency.tasks import together


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
