"""What the models of a judge use up, noted where they reply, for whoever wants to know it of one question."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.judging.completion import member

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One request to a model, or one recorded sum of several."""

    model: str
    url: str | None
    """The server as `JudgeIdentity` has it; None: OpenAI's."""

    input_tokens: int | None = None
    """>= 0; None where the server did not say."""

    output_tokens: int | None = None
    """As `input_tokens`; 0 of embeddings."""

    recorded: bool = False
    """True: used when the replayed run was recorded, and not now."""

    recorded_usd: float | None = None
    """What it cost then, where that is known."""


# Of the running task: how deep in the code a request is made has no part in whose question it is for.
_METERS: ContextVar[tuple[list[Use], ...]] = ContextVar("ragcheck_meters", default=())


@contextmanager
def metered() -> Iterator[list[Use]]:
    """A list that is filled with what is used inside of the `with`."""
    meter: list[Use] = []
    token = _METERS.set((*_METERS.get(), meter))
    try:
        yield meter
    finally:
        _METERS.reset(token)


def note_use(use: Use) -> None:
    """Adds to every meter that is running for this question."""
    for meter in _METERS.get():
        meter.append(use)


def use_of(reply: Any, *, model: str, url: str | None) -> Use:
    """What an OpenAI-compatible reply says that it used; servers may say nothing, or nonsense."""
    usage = member(reply, "usage")
    return Use(
        model=model,
        url=url,
        input_tokens=_count(usage, "prompt_tokens"),
        output_tokens=_count(usage, "completion_tokens"),
    )


def _count(usage: Any, name: str) -> int | None:
    value = member(usage, name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
