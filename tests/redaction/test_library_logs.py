"""The logs of HTTP libraries show no secret."""

from __future__ import annotations

import logging

import pytest

from pytest_ragcheck.redaction import REDACTED, Redactor
from pytest_ragcheck.redaction.redactor import redact_logs

SECRET = "correct-horse-battery"


@pytest.mark.parametrize("name", ["httpx", "httpx2", "httpcore.http11", "httpcore2.connection", "openai._base_client"])
def test_no_secret_is_in_what_is_logged(name: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    end = redact_logs(Redactor([SECRET]))
    try:
        logging.getLogger(name).debug("headers %r of %s", [(b"x-echo", SECRET.encode())], "http://localhost")
        logging.getLogger(name).debug("failed", exc_info=ValueError(f"illegal header {SECRET}"))
    finally:
        end()
    headers, failed = caplog.records
    assert headers.getMessage() == f"headers [(b'x-echo', b'{REDACTED}')] of http://localhost"
    assert f"ValueError: illegal header {REDACTED}" in caplog.text
    assert SECRET not in caplog.text + repr(vars(failed))


def test_at_the_end_logs_are_as_they_were(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    redact_logs(Redactor([SECRET]))()
    logging.getLogger("httpx").info(SECRET)
    assert caplog.messages == [SECRET]
