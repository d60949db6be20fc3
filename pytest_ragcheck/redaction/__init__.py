from pytest_ragcheck.redaction.redactor import Redactor
from pytest_ragcheck.redaction.secret_patterns import (
    REDACTED,
    cookie_secrets,
    header_secrets,
    is_redacted,
    is_secret_header,
    shown_query,
    shown_url,
    url_secrets,
)

__all__ = [
    "REDACTED",
    "Redactor",
    "cookie_secrets",
    "header_secrets",
    "is_redacted",
    "is_secret_header",
    "shown_query",
    "shown_url",
    "url_secrets",
]
