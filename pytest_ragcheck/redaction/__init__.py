"""Keeps secrets out of everything that is shown or written."""

from __future__ import annotations

from pytest_ragcheck.redaction.looks import REDACTED, is_secret_header
from pytest_ragcheck.redaction.redactor import Redactor
from pytest_ragcheck.redaction.urls import shown_query, shown_url, url_secrets

__all__ = ["REDACTED", "Redactor", "is_secret_header", "shown_query", "shown_url", "url_secrets"]
