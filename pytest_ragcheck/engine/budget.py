"""Counts and limits the money that a run spends, as far as the prices are known."""

from __future__ import annotations

import struct
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Literal, TypeVar, get_args

from pytest_ragcheck.concurrency.limiter import Limiter
from pytest_ragcheck.engine.limits.slots import PrivateTable, SharedTable
from pytest_ragcheck.judging.model.completion import TokenUse, metered
from pytest_ragcheck.metrics.cost import system_cost, usd_of

T = TypeVar("T")

Payee = Literal["preflight", "judge", "system"]
_PAYEES: tuple[Payee, ...] = get_args(Payee)

_AMOUNTS = struct.Struct(f"={len(_PAYEES)}d")
"""US dollars by payee."""

_LOCK = 0
_AGAIN_SECONDS = 0.001


class OverBudget(Exception):
    """The run reached its cost limit before the question was judged."""


class Budget:
    """
    Counts the money that all processes of a run spend, and starts no paid request once a limit is reached.

    Requests under way at that moment still cost money: at most one for each slot. *limit_usd* is above 0; None: there
    is no limit. The prices in *own*, by model, take precedence over the table's. Without a *table*, in which the
    processes add up, this process is the only one.
    """

    def __init__(
        self, limit_usd: float | None, own: Mapping[str, tuple[float, float]], *, table: SharedTable | None = None
    ) -> None:
        self._limit_usd = limit_usd
        self._own = own
        self._table = PrivateTable() if table is None else table

    def spend(self, usd: float | None, payee: Payee = "system") -> None:
        if not usd:
            return
        while not self._table.take(_LOCK):
            time.sleep(_AGAIN_SECONDS)
        try:
            spent = self._spent()
            spent[payee] += usd
            self._table.write(_AMOUNTS, 0, spent.values())
        finally:
            self._table.free(_LOCK)

    def spend_on(self, uses: Iterable[TokenUse], payee: Payee = "judge") -> None:
        for use in uses:
            self.spend(None if use.recorded else usd_of(use, self._own), payee)

    def check(self) -> None:
        if self._limit_usd is not None and sum(self._spent().values()) >= self._limit_usd:
            raise OverBudget(f"not run: --rag-max-cost of ${self._limit_usd:g} is reached ({self.words})")

    @property
    def words(self) -> str:
        """The money spent so far; empty if nothing was spent."""
        spent = self._spent()
        parts = ", ".join(f"{payee} ${usd:.4f}" for payee, usd in spent.items() if usd)
        return parts and f"spent ${sum(spent.values()):.4f}: {parts}"

    def _spent(self) -> dict[Payee, float]:
        return dict(zip(_PAYEES, self._table.read(_AMOUNTS, 0), strict=True))


class BudgetedLimiter:
    """Starts requests in another limiter only while there is money left, and adds their cost to the budget."""

    def __init__(self, budget: Budget, inner: Limiter) -> None:
        self._budget = budget
        self._inner = inner

    async def run(self, operation: Callable[[], Awaitable[T]]) -> T:
        async def counted() -> T:
            self._budget.check()
            with metered() as uses:
                try:
                    return await operation()
                finally:
                    self._budget.spend_on(uses)

        return await self._inner.run(counted)


class ReportedCost:
    """Adds up what the system reports for its answers, also for one that is never judged."""

    def __init__(self, inner: Limiter) -> None:
        self.usd = 0.0
        self._inner = inner

    async def run(self, operation: Callable[[], Awaitable[T]]) -> T:
        reply = await self._inner.run(operation)
        self.usd += system_cost(getattr(reply, "extra", {})).system_usd or 0
        return reply
