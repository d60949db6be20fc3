"""A limit on the money that a run spends, as far as what it spends is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pytest_ragcheck.judging.usage import metered
from pytest_ragcheck.metrics.cost import usd_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from pytest_ragcheck.judging.usage import Use
    from pytest_ragcheck.metrics.metric import Room

T = TypeVar("T")


class OverBudget(Exception):
    """The limit was reached before the question was judged."""


class Budget:
    """
    Counts what is spent, and lets nothing begin that could cost something once the limit is reached.

    What is under way then is paid for too: at most one request for each that may run at once.

    Args:
        limit_usd: US dollars, > 0.
        own: Prices by model that win over the table's.
    """

    def __init__(self, limit_usd: float, own: Mapping[str, tuple[float, float]]) -> None:
        self._limit_usd = limit_usd
        self._own = own
        self._spent_usd = 0.0

    def spend(self, usd: float | None) -> None:
        """Counts so many US dollars, where they are known."""
        self._spent_usd += usd or 0.0

    def spend_on(self, uses: Iterable[Use]) -> None:
        """Counts what these cost now, where that is known."""
        for use in uses:
            self.spend(None if use.recorded else usd_of(use, self._own))

    def check(self) -> None:
        """
        Returns while there is money left.

        Raises:
            OverBudget: There is none.
        """
        if self._spent_usd >= self._limit_usd:
            limit, spent = f"${self._limit_usd:g}", f"${self._spent_usd:.4f}"
            raise OverBudget(f"not run: --rag-max-cost of {limit} is reached ({spent} was spent)")

    def room(self, inner: Room) -> BudgetedRoom:
        """The room, open only while there is money left."""
        return BudgetedRoom(self, inner)


class BudgetedRoom:
    """Runs requests in another room, and counts what they cost."""

    def __init__(self, budget: Budget, inner: Room) -> None:
        self._budget = budget
        self._inner = inner

    async def run(self, operation: Callable[[], Awaitable[T]]) -> T:
        """The operation's result; an `OverBudget` where there is no money for it."""

        async def counted() -> T:
            self._budget.check()
            with metered() as uses:
                try:
                    return await operation()
                finally:
                    self._budget.spend_on(uses)

        return await self._inner.run(counted)
