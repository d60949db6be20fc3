"""Counts the tokens and the money that a question costs, for the judge and for the system."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

from pytest_ragcheck.frozen import frozen, replace
from pytest_ragcheck.judging.model.completion import TokenUse
from pytest_ragcheck.judging.model.server_address import environment_url


@frozen
class Cost:
    """Tokens and US dollars, each >= 0; None, never 0, if a number is unknown or nothing was requested."""

    asked_judge: bool = False
    """True if a model of the judge was asked; cached verdicts ask none."""

    judge_input_tokens: int | None = None
    judge_output_tokens: int | None = None
    judge_usd: float | None = None
    """By the price table; None if one of the models has no price."""

    system_input_tokens: int | None = None
    system_output_tokens: int | None = None
    system_usd: float | None = None
    """As the system reports it."""

    def known(self) -> dict[str, float]:
        return {name: value for name in NAMES if (value := getattr(self, name)) is not None}

    @property
    def usd(self) -> float | None:
        """The known cost of judge and system; None if both are unknown, or if the judge has no price."""
        if self.asked_judge and self.judge_usd is None:
            return None
        known = [usd for usd in (self.judge_usd, self.system_usd) if usd is not None]
        return sum(known) if known else None


NAMES = tuple(name for name in Cost.__dataclass_fields__ if name != "asked_judge")
_TOKENS = {
    "system_input_tokens": ("input_tokens", "prompt_tokens"),
    "system_output_tokens": ("output_tokens", "completion_tokens"),
}


def system_cost(extra: Mapping[str, Any]) -> Cost:
    """
    The cost that a reply reports in `metrics`, or in `usage` as OpenAI's replies do.

    The keys are `input_tokens` or `prompt_tokens`, `output_tokens` or `completion_tokens`, and `cost_usd`.
    """
    reported: dict[str, Any] = {}
    for part in (extra.get("usage"), extra.get("metrics")):
        if isinstance(part, Mapping):
            reported |= part
    found: dict[str, Any] = {}
    for name, keys in _TOKENS.items():
        found[name] = next((int(reported[key]) for key in keys if _is_amount(reported.get(key))), None)
    return Cost(**found, system_usd=float(reported["cost_usd"]) if _is_amount(reported.get("cost_usd")) else None)


def with_judge(cost: Cost, uses: Sequence[TokenUse], own: Mapping[str, tuple[float, float]]) -> Cost:
    """The cost with the use of the judge's models added; the prices in *own* override the table."""
    if not uses:
        return cost
    return replace(
        cost,
        asked_judge=True,
        judge_input_tokens=total(use.input_tokens for use in uses),
        judge_output_tokens=total(use.output_tokens for use in uses),
        judge_usd=total(usd_of(use, own) for use in uses),
    )


def summed(costs: Iterable[Cost]) -> Cost:
    """The sum of the costs; a number that is unknown for one of them that made the request is unknown."""
    asked = list(costs)
    judged = [cost for cost in asked if cost.asked_judge]
    sums = {
        name: total(getattr(cost, name) for cost in (judged if name.startswith("judge_") else asked)) for name in NAMES
    }
    return Cost(asked_judge=bool(judged), **sums)


def usd_of(use: TokenUse, own: Mapping[str, tuple[float, float]]) -> float | None:
    """The price in US dollars, >= 0; None if it is unknown."""
    if use.recorded:
        return use.recorded_usd
    if use.input_tokens is None or use.output_tokens is None:
        return None
    return price_usd(
        use.model,
        use.url,
        input_tokens=use.input_tokens,
        cached_tokens=use.cached_tokens,
        output_tokens=use.output_tokens,
        own=own,
    )


def total(values: Iterable[Any]) -> Any:
    """The sum; None without values or if one is None, because a partial sum would look complete."""
    known = list(values)
    return None if not known or None in known else sum(known)


def _is_amount(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf


EXTRA = "pytest-ragcheck[cost]"


def price_usd(
    model: str,
    url: str | None,
    *,
    input_tokens: int,
    cached_tokens: int | None = None,
    output_tokens: int,
    own: Mapping[str, tuple[float, float]],
) -> float | None:
    """
    The price of the tokens in US dollars, >= 0; None if it is unknown.

    The server's address decides the provider, so a self-hosted server has no price, whatever the name of its model. The
    table is that of the installed genai-prices; nothing is downloaded.

    *url* is the server's base URL; None: that of the environment, or else OpenAI's. *own* has the prices of a
    million input and output tokens by model; they override the table, also for cached tokens.
    """
    if model in own:
        read, written = own[model]
        return (input_tokens * read + output_tokens * written) / 1_000_000
    if not has_table():
        return None
    from genai_prices import Usage, calc_price

    usage = Usage(input_tokens=input_tokens, cache_read_tokens=cached_tokens, output_tokens=output_tokens)
    try:
        return float(calc_price(usage, model_ref=model, provider_api_url=url or environment_url()).total_price)
    except (LookupError, ValueError):
        return None


@cache
def has_table() -> bool:
    return find_spec("genai_prices") is not None
