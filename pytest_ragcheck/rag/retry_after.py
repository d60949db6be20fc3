"""How long a server asks to wait before the next request."""

from __future__ import annotations

import re
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]+)?")


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """
    What the headers say, as seconds from now, >= 0; None where they say nothing that can be read.

    Source: RFC 9110, 10.2.3, for `retry-after`: whole seconds, or a date. Fractions, which some servers send, are
    taken too, and so is `retry-after-ms`, by which OpenAI's and Azure's servers say it more exactly.
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
