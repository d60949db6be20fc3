"""Defines the protocol of everything that limits how many operations run at once, and the limiter without a limit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from pytest_ragcheck.frozen import frozen

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


@frozen
class StepLimiters:
    """The limiters of the steps of a question."""

    asking: Limiter = NO_LIMIT
    judging: Limiter = NO_LIMIT
    measuring: Limiter = NO_LIMIT
    """For the metrics that are not local."""

    timing: Limiter = NO_LIMIT
    """Limits the time of every step."""


NO_LIMITS = StepLimiters()
