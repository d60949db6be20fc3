"""Redacts the log records of HTTP libraries."""

from __future__ import annotations

import logging
from collections.abc import Callable

from pytest_ragcheck.redaction import Redactor

# Every emitting logger is listed, because a filter on a parent does not apply to its children.
_HTTPCORE = ("connection", "http11", "http2", "proxy", "socks")
_LOGGERS = (
    *("httpx", "httpx2", "openai", "openai._base_client", "openai._response", "openai._legacy_response"),
    *(f"httpcore.{part}" for part in _HTTPCORE),
    *(f"httpcore2.{part}" for part in _HTTPCORE),
)


def redact_logs(redactor: Redactor) -> Callable[[], None]:
    """
    Redacts all log records of HTTP libraries until the returned function is called.

    At level DEBUG these libraries log whole headers and URLs, and people share logs.
    """

    def redacting(record: logging.LogRecord) -> bool:
        record.msg, record.args = redactor.text(record.getMessage()), ()
        if record.exc_info:
            record.exc_text = redactor.text(logging.Formatter().formatException(record.exc_info))
            # A handler that formats the exception again would show the secrets.
            record.exc_info = None
        return True

    loggers = list(map(logging.getLogger, _LOGGERS))
    for logger in loggers:
        logger.addFilter(redacting)

    def end() -> None:
        for logger in loggers:
            logger.removeFilter(redacting)

    return end
