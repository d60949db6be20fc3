"""How long a server asks to wait before the next request."""

from __future__ import annotations

import re
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """
    What the header `retry-after` says, as seconds from now, >= 0; None where it is missing or cannot be read.

    Source: RFC 9110, 10.2.3: whole seconds, or a date. Fractions, which some servers send, are taken too.
    """
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)?", value):
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None
