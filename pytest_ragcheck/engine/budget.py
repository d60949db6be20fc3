"""Limits the money that a run spends, as far as the prices are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pytest_ragcheck.judging.model.usage import metered
from pytest_ragcheck.metrics.cost import usd_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from pytest_ragcheck.concurrency.limiter import Limiter
    from pytest_ragcheck.judging.model.usage import TokenUse

T = TypeVar("T")


class OverBudget(Exception):
    """The run reached its cost limit before the question was judged."""


class Budget:
    """
    Counts the money spent, and starts no paid request once the limit is reached.

    Requests under way at that moment still cost money: at most one for each slot.

    Args:
        limit_usd: The limit in US dollars, > 0.
        own: Prices by model; they take precedence over the table's.
    """

    def __init__(self, limit_usd: float, own: Mapping[str, tuple[float, float]]) -> None:
        self._limit_usd = limit_usd
        self._own = own
        self._spent_usd = 0.0

    def spend(self, usd: float | None) -> None:
        """Add an amount in US dollars; None adds nothing."""
        self._spent_usd += usd or 0.0

    def spend_on(self, uses: Iterable[TokenUse]) -> None:
        """Add the cost of the requests whose price is known."""
        for use in uses:
            self.spend(None if use.recorded else usd_of(use, self._own))

    def check(self) -> None:
        """
        Check that there is money left.

        Raises:
            OverBudget: The limit is reached.
        """
        if self._spent_usd >= self._limit_usd:
            limit, spent = f"${self._limit_usd:g}", f"${self._spent_usd:.4f}"
            raise OverBudget(f"not run: --rag-max-cost of {limit} is reached ({spent} was spent)")

    def limiter(self, inner: Limiter) -> BudgetedLimiter:
        """Return the limiter, which starts requests only while there is money left."""
        return BudgetedLimiter(self, inner)


class BudgetedLimiter:
    """Runs requests in another limiter and adds their cost to the budget."""

    def __init__(self, budget: Budget, inner: Limiter) -> None:
        self._budget = budget
        self._inner = inner

    async def run(self, operation: Callable[[], Awaitable[T]]) -> T:
        """Return the operation's result; raise `OverBudget` if there is no money left."""

        async def counted() -> T:
            self._budget.check()
            with metered() as uses:
                try:
                    return await operation()
                finally:
                    self._budget.spend_on(uses)

        return await self._inner.run(counted)
