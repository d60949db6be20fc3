"""What tokens cost, by the price table of genai-prices where it is installed."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_ragcheck.judging.server_address import environment_url

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    The price of so many tokens in US dollars, >= 0; None where it is not known.

    The provider is told by the server's address, so a server of one's own has no price, whatever the model's name.
    The table is that of the installed genai-prices; nothing is downloaded.

    Args:
        model: As the server calls it.
        url: The server's base URL; None: that of the environment, else OpenAI's.
        input_tokens: >= 0.
        output_tokens: >= 0.
        own: By model what a million tokens cost that are read, and written; they win over the table's.
    """
    if model in own:
        read, written = own[model]
        return (input_tokens * read + output_tokens * written) / 1_000_000
    if not has_table():
        return None
    from genai_prices import Usage, calc_price  # noqa: PLC0415 - 0.2 s of CPU, and only where something is priced

    usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens)
    try:
        return float(calc_price(usage, model_ref=model, provider_api_url=url or environment_url()).total_price)
    except (LookupError, ValueError):
        return None


@cache
def has_table() -> bool:
    """Whether there is a price table."""
    return find_spec("genai_prices") is not None
