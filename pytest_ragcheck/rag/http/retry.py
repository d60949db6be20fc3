"""Decides which failures are worth a retry, and how long to wait before it."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from pytest_ragcheck.errors import MeasurementError

LIMITED = 429

OVERLOADED = frozenset({LIMITED, 503})
"""Statuses that ask for fewer requests."""

TRANSIENT = frozenset({408, 409, 502, 504}) | OVERLOADED
"""Statuses after which the same request may succeed."""

LONGEST_WAIT_SECONDS = 8.0
_FIRST_WAIT_SECONDS = 0.25
_MOST_DOUBLINGS = 10
"""Keeps the power finite after many attempts."""


def is_transient(error: MeasurementError) -> bool:
    """True if a retry may succeed, by the error's own `transient` or else by its status."""
    transient: bool | None = getattr(error, "transient", None)
    return status_of(error) in TRANSIENT if transient is None else transient


def status_of(error: MeasurementError) -> int | None:
    status: int | None = getattr(error, "status", None)
    return status


def wait_seconds(error: MeasurementError, attempt: int, *, longest: float = LONGEST_WAIT_SECONDS) -> float:
    """
    Seconds to wait after a failed attempt, spread at random: as the server requests, otherwise doubling each time.

    A requested 0 is ignored, since some servers send it with every refusal. Attempts count from 1; *longest* limits a
    wait that the server did not request.
    """
    asked: float | None = getattr(error, "retry_after_seconds", None)
    wait = min(longest, _FIRST_WAIT_SECONDS * 2 ** min(attempt - 1, _MOST_DOUBLINGS))
    return (asked or wait) * random.uniform(1.0, 1.25)  # noqa: S311 - no secret


_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]+)?")


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """
    The requested wait in seconds from now, >= 0; None without a readable header.

    Source: RFC 9110, 10.2.3, for `retry-after`: whole seconds, or a date. Fractions are accepted too, since some
    servers send them, and so is `retry-after-ms`, which OpenAI and Azure send.
    """
    exactly = headers.get("retry-after-ms", "").strip()
    if _NUMBER.fullmatch(exactly):
        return float(exactly) / 1000
    value = headers.get("retry-after", "").strip()
    if _NUMBER.fullmatch(value):
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None
