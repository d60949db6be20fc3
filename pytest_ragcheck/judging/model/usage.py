"""Counts the tokens that judge models use for each question."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.model.completion import member


@frozen
class TokenUse:
    """The tokens of one request to a model, or of several recorded ones."""

    model: str
    url: str | None
    """The server, as in `JudgeIdentity`; None for OpenAI's own."""

    input_tokens: int | None = None
    """>= 0; None if the server did not report it."""

    cached_tokens: int | None = None
    """The part of `input_tokens` from the server's prefix cache, which may cost less."""

    output_tokens: int | None = None
    """Like `input_tokens`; 0 for embeddings."""

    recorded: bool = False
    """True if the tokens were used in the recorded run, and not now."""

    recorded_usd: float | None = None


# A context variable, because the code that sends requests does not have the question.
_METERS: ContextVar[tuple[list[TokenUse], ...]] = ContextVar("ragcheck_meters", default=())


@contextmanager
def metered() -> Iterator[list[TokenUse]]:
    """Yields a list to which all token use inside the `with` is added."""
    meter: list[TokenUse] = []
    token = _METERS.set((*_METERS.get(), meter))
    try:
        yield meter
    finally:
        _METERS.reset(token)


def note_use(use: TokenUse) -> None:
    """Adds the use to every meter of the running task."""
    for meter in _METERS.get():
        meter.append(use)


def reported_use(reply: Any, *, model: str, url: str | None) -> TokenUse:
    """The tokens that an OpenAI-compatible reply reports; invalid numbers count as not reported."""
    usage = member(reply, "usage")
    read = _count(usage, "prompt_tokens", "input_tokens")
    cached = _count(member(usage, "prompt_tokens_details"), "cached_tokens")
    return TokenUse(
        model=model,
        url=url,
        input_tokens=read,
        cached_tokens=cached if (cached or 0) <= (read or 0) else None,
        output_tokens=_count(usage, "completion_tokens", "output_tokens"),
    )


def _count(usage: Any, *names: str) -> int | None:
    values = (member(usage, name) for name in names)
    counts = (value for value in values if isinstance(value, int) and not isinstance(value, bool) and value >= 0)
    return next(counts, None)
