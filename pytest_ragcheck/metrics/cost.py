"""What a question cost: tokens and money, of the judge's models and of the system as far as it reports them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.metrics.prices import price_usd

if TYPE_CHECKING:
    from pytest_ragcheck.judging.usage import Use


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Tokens >= 0 and US dollars >= 0; None is not known, or that nothing was asked, and never 0."""

    asked_judge: bool = False
    """Whether a model of the judge's was asked, which it is not for what the cache knows."""

    judge_input_tokens: int | None = None
    judge_output_tokens: int | None = None
    judge_usd: float | None = None
    """By the price table; None also where one of the models has no price."""

    system_input_tokens: int | None = None
    system_output_tokens: int | None = None
    system_usd: float | None = None
    """What the system says of itself."""

    def known(self) -> dict[str, float]:
        """By name what is known of tokens and money."""
        return {name: value for name in NAMES if (value := getattr(self, name)) is not None}


NAMES = tuple(name for name in Cost.__dataclass_fields__ if name != "asked_judge")
_TOKENS = {
    "system_input_tokens": ("input_tokens", "prompt_tokens"),
    "system_output_tokens": ("output_tokens", "completion_tokens"),
}


def system_cost(extra: Mapping[str, Any]) -> Cost:
    """
    What a reply says beyond its answer: under `metrics`, or under `usage` as OpenAI has it.

    The keys are `input_tokens` or `prompt_tokens`, `output_tokens` or `completion_tokens`, and `cost_usd`.
    """
    said: dict[str, Any] = {}
    for part in (extra.get("usage"), extra.get("metrics")):
        if isinstance(part, Mapping):
            said |= part
    found: dict[str, Any] = {}
    for name, keys in _TOKENS.items():
        found[name] = next((int(said[key]) for key in keys if _is_amount(said.get(key))), None)
    return Cost(**found, system_usd=float(said["cost_usd"]) if _is_amount(said.get("cost_usd")) else None)


def with_judge(cost: Cost, uses: Sequence[Use], own: Mapping[str, tuple[float, float]]) -> Cost:
    """The same with what the judge's models used; *own* has prices that win over the table's."""
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
    """Several as one; what is not known of all of them is not known."""
    all_costs = list(costs)
    return Cost(**{name: total(getattr(cost, name) for cost in all_costs) for name in NAMES})


def usd_of(use: Use, own: Mapping[str, tuple[float, float]]) -> float | None:
    """What the use cost in US dollars; None where that is not known."""
    if use.recorded:
        return use.recorded_usd
    if use.input_tokens is None or use.output_tokens is None:
        return None
    return price_usd(use.model, use.url, input_tokens=use.input_tokens, output_tokens=use.output_tokens, own=own)


def total(values: Iterable[Any]) -> Any:
    """The sum; None where there are none, or one is not known: a sum of what is known would look like the whole."""
    known = list(values)
    return None if not known or None in known else sum(known)


def _is_amount(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf
