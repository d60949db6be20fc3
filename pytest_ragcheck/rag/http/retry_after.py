"""Reads the wait that a server requests before the next request."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

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
