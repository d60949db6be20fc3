"""Parts that hold something open, and parts that do not."""

from __future__ import annotations

import anyio

from pytest_ragcheck.closing import close


class Closable:
    """Notes that it was closed."""

    def __init__(self, name: str, closed: list[str]) -> None:
        self.name = name
        self.closed = closed

    async def aclose(self) -> None:
        """Notes it."""
        self.closed.append(self.name)


def test_each_part_that_can_be_closed_is_in_order() -> None:
    closed: list[str] = []
    anyio.run(close, Closable("judge", closed), None, object(), Closable("metric", closed))
    assert closed == ["judge", "metric"]
