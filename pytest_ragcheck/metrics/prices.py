"""Prices of tokens, from the price table of genai-prices if it is installed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from types import MappingProxyType

from pytest_ragcheck.judging.model.server_address import environment_url

NOTHING: Mapping[str, tuple[float, float]] = MappingProxyType({})

EXTRA = "pytest-ragcheck[cost]"


def price_usd(
    model: str,
    url: str | None,
    *,
    input_tokens: int,
    output_tokens: int,
    own: Mapping[str, tuple[float, float]] = NOTHING,
) -> float | None:
    """
    The price of the tokens in US dollars, >= 0; None if it is unknown.

    The server's address decides the provider, so a self-hosted server has no price, whatever the name of its model. The
    table is that of the installed genai-prices; nothing is downloaded.

    Args:
        model: The model's name on the server.
        url: The server's base URL; None for that of the environment, or else OpenAI's.
        input_tokens: >= 0.
        output_tokens: >= 0.
        own: The prices of a million input and output tokens by model; they override the table.
    """
    if model in own:
        read, written = own[model]
        return (input_tokens * read + output_tokens * written) / 1_000_000
    if not has_table():
        return None
    from genai_prices import Usage, calc_price

    usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens)
    try:
        return float(calc_price(usage, model_ref=model, provider_api_url=url or environment_url()).total_price)
    except (LookupError, ValueError):
        return None


@cache
def has_table() -> bool:
    """True if the price table is installed."""
    return find_spec("genai_prices") is not None
