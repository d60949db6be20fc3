"""What HTTP libraries log of requests and replies, kept free of secrets."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_ragcheck.redaction import Redactor

# Those that write: a filter on a parent does not see what its children log.
_HTTPCORE = ("connection", "http11", "http2", "proxy", "socks")
_LOGGERS = (
    *("httpx", "httpx2", "openai", "openai._base_client", "openai._response", "openai._legacy_response"),
    *(f"httpcore.{part}" for part in _HTTPCORE),
    *(f"httpcore2.{part}" for part in _HTTPCORE),
)


def redact_logs(redactor: Redactor) -> Callable[[], None]:
    """
    Has everything that HTTP libraries log go through the redactor, and returns what ends that.

    At the level DEBUG they write whole headers, and URLs as they are: a log is a place that people send to each other.
    """
    clean = _Clean(redactor)
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    for logger in loggers:
        logger.addFilter(clean)

    def end() -> None:
        for logger in loggers:
            logger.removeFilter(clean)

    return end


class _Clean(logging.Filter):
    """Makes each record one of finished, clean text."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = self._redactor.text(record.getMessage()), ()
        if record.exc_info:
            record.exc_text = self._redactor.text(logging.Formatter().formatException(record.exc_info))
            # Whoever formats it anew would show what it says.
            record.exc_info = None
        return True
