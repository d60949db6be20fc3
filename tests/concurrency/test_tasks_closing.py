"""The exit stack over parts that have an `aclose` and parts that have none."""

from __future__ import annotations

import asyncio

import pytest

from pytest_ragcheck.concurrency.tasks import closing


class Closable:
    """Records its name when it is closed, then fails if it has an error."""

    def __init__(self, name: str, closed: list[str], error: Exception | None = None) -> None:
        self.name = name
        self.closed = closed
        self.error = error

    async def aclose(self) -> None:
        """Records the name."""
        self.closed.append(self.name)
        if self.error is not None:
            raise self.error


def test_each_part_that_can_be_closed_is_closed_and_the_last_first() -> None:
    closed: list[str] = []

    async def use() -> None:
        async with closing(Closable("judge", closed), None, object(), Closable("metric", closed)):
            assert closed == []

    asyncio.run(use())
    assert closed == ["metric", "judge"]


def test_the_other_parts_are_closed_when_one_fails_to_close() -> None:
    closed: list[str] = []
    stack = closing(Closable("judge", closed), Closable("metric", closed, error=OSError("broken")))
    with pytest.raises(OSError, match="broken"):
        asyncio.run(stack.aclose())
    assert closed == ["metric", "judge"]


def test_a_plain_aclose_may_run_a_loop_of_its_own() -> None:
    class Plain:
        closed = False

        async def _close(self) -> None:
            self.closed = True

        def aclose(self) -> None:
            asyncio.run(self._close())

    plain = Plain()
    asyncio.run(closing(plain).aclose())
    assert plain.closed
