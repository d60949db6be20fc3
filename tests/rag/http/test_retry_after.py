from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from pytest_ragcheck.rag.http.retry import retry_after_seconds


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        (" 120 ", 120.0),
        ("0.5", 0.5),
        ("-1", None),
        ("soon", None),
        ("", None),
        ("9" * 30, None),
        ("٣", None),
    ],
)
def test_seconds_are_read_and_anything_else_is_not(value, seconds):
    assert retry_after_seconds({"retry-after": value}) == seconds


def test_a_missing_header_asks_for_nothing():
    assert retry_after_seconds({}) is None


def test_a_date_is_read_as_the_seconds_until_then():
    in_an_hour = retry_after_seconds({"retry-after": formatdate(time.time() + 3600, usegmt=True)})
    assert in_an_hour == pytest.approx(3600, abs=60)


def test_a_date_that_has_passed_asks_for_no_wait():
    assert retry_after_seconds({"retry-after": "Sun, 06 Nov 1994 08:49:37 GMT"}) == 0.0


def test_milliseconds_say_it_more_exactly():
    assert retry_after_seconds({"retry-after": "1", "retry-after-ms": "250"}) == 0.25
    assert retry_after_seconds({"retry-after": "1", "retry-after-ms": "soon"}) == 1.0
