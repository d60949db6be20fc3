"""How long a retry waits after a temporary failure."""

from __future__ import annotations

import pytest

from pytest_ragcheck.errors import JudgeUnavailable
from pytest_ragcheck.rag.http.retry import wait_seconds


def refused(retry_after_seconds: float | None) -> JudgeUnavailable:
    return JudgeUnavailable("busy", status=429, retry_after_seconds=retry_after_seconds)


@pytest.mark.parametrize(
    ("asked", "attempt", "seconds"),
    [
        (None, 1, 0.25),
        (None, 3, 1),
        (None, 6, 8),
        (None, 5_000, 8),
        (30.0, 1, 30),
        (0.001, 5_000, 0.001),
        (0.0, 1, 0.25),  # a server that asks for no wait is not asked again at once
        (0.0, 3, 1),
    ],
)
def test_the_wait_is_what_was_asked_for_or_else_doubles_up_to_a_limit(asked, attempt, seconds):
    assert seconds <= wait_seconds(refused(asked), attempt) <= 1.25 * seconds
