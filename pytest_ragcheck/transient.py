"""Which failures may pass by themselves, and how long to wait before the same request is sent again."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_ragcheck.errors import MeasurementError

LIMITED = 429

OVERLOADED = frozenset({LIMITED, 503})
"""Statuses that ask for fewer requests."""

TRANSIENT = frozenset({408, 409, 502, 504}) | OVERLOADED
"""Statuses after which the same request may succeed."""

LONGEST_WAIT_SECONDS = 8.0
_FIRST_WAIT_SECONDS = 0.25
_MOST_DOUBLINGS = 10
"""Far beyond the longest wait, and before the power overflows, to which short waits that are asked for can lead."""


def is_overload(error: MeasurementError) -> bool:
    """Whether the other side asks for fewer requests."""
    return status_of(error) in OVERLOADED


def is_transient(error: MeasurementError) -> bool:
    """Whether the same request may succeed if it is repeated: the error says so itself, or its status does."""
    transient: bool | None = getattr(error, "transient", None)
    return status_of(error) in TRANSIENT if transient is None else transient


def status_of(error: MeasurementError) -> int | None:
    """The HTTP status that the error came with, where it came with one."""
    status: int | None = getattr(error, "status", None)
    return status


def wait_seconds(error: MeasurementError, attempt: int, *, longest: float = LONGEST_WAIT_SECONDS) -> float:
    """
    How long to wait after a failed attempt: what the other side asks for, else longer each time.

    It is spread, so that not all come back at once. To ask for no wait at all is to ask for nothing: some servers do
    so in each of a thousand refusals.

    Args:
        error: What the attempt ended with.
        attempt: Its number, from 1.
        longest: Of the waits that nobody asked for.
    """
    asked: float | None = getattr(error, "retry_after_seconds", None)
    wait = min(longest, _FIRST_WAIT_SECONDS * 2 ** min(attempt - 1, _MOST_DOUBLINGS))
    return (asked or wait) * random.uniform(1.0, 1.25)  # noqa: S311 - no secret
