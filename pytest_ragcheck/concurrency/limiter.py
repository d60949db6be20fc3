"""Defines the protocol of everything that limits how many operations run at once, and the limiter without a limit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

T = TypeVar("T")


class Limiter(Protocol):
    """Runs operations as soon as its limit allows; it may repeat an operation that fails."""

    async def run(self, operation: Callable[[], Awaitable[T]]) -> T:
        """Return the operation's result, or raise its last error."""
        ...


class _NoLimit:
    async def run(self, operation: Callable[[], Awaitable[T]]) -> T:
        return await operation()


NO_LIMIT = _NoLimit()
