"""A turn is one process's at a time, and the others wait for its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from pytest_ragcheck.engine.turn import Turn

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def two(tmp_path: Path) -> tuple[Turn, Turn]:
    """As two processes have it."""
    return Turn(tmp_path / "turn"), Turn(tmp_path / "turn")


def test_one_has_the_turn_at_a_time(two: tuple[Turn, Turn]) -> None:
    first, second = two
    assert first.take()
    assert not first.take()  # it has it
    assert not second.take()
    assert (first.mine, second.mine) == (True, False)
    first.free()
    assert second.take()


@pytest.mark.parametrize("served", [True, False])
def test_others_wait_for_its_end_and_hear_whether_it_was_of_use(two: tuple[Turn, Turn], *, served: bool) -> None:
    first, second = two
    first.take()
    heard: list[bool] = []

    async def wait() -> None:
        heard.append(await second.end_of_others())

    async def everything() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            assert heard == []
            first.free(served=served)

    anyio.run(everything)
    assert heard == [served]


def test_nobody_waits_for_a_turn_that_is_nobodys_or_ones_own(two: tuple[Turn, Turn], tmp_path: Path) -> None:
    first, _ = two
    nowhere = Turn(tmp_path / "missing" / "turn")
    alone = Turn()

    async def everything() -> list[bool]:
        return [await turn.end_of_others() for turn in (first, nowhere, alone)]

    assert anyio.run(everything) == [False, False, False]
    assert (nowhere.take(), alone.take()) == (False, False)
    first.take()
    assert anyio.run(first.end_of_others) is False
    nowhere.free(served=True)
