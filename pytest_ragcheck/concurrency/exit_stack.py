"""Closes clients, judges and metrics, including those of users, which need not have an `aclose`."""

from __future__ import annotations

from contextlib import AsyncExitStack


def closing(*parts: object) -> AsyncExitStack:
    """An exit stack that awaits the `aclose` of each part that has one, the last part first."""
    stack = AsyncExitStack()
    for part in parts:
        aclose = getattr(part, "aclose", None)
        if aclose is not None:
            stack.push_async_callback(aclose)
    return stack
