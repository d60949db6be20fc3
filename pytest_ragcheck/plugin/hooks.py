"""The hooks that a conftest.py or another plugin may implement."""

from __future__ import annotations

from typing import Any


def pytest_ragcheck_metrics() -> list[Any]:  # type: ignore[empty-body]
    """
    Returns metrics of one's own, each measured of every answer.

    A metric is a function of (question, answer), or an object with a `name` and such a method `score`; it returns
    a number, or None where it does not apply.
    """
