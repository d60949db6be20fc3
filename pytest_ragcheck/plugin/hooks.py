"""The hooks that a conftest.py or another plugin may implement."""

from __future__ import annotations

from typing import Any


def pytest_ragcheck_datasets() -> list[Any]:  # type: ignore[empty-body]
    """
    Returns datasets of one's own, each a `pytest_ragcheck.Dataset`, that `--rag-dataset` can then name.

    It is asked before anything is collected: of the conftest.py files, those in the root folder, in the folders that
    pytest is given and in their `test*` folders have a say.
    """


def pytest_ragcheck_metrics() -> list[Any]:  # type: ignore[empty-body]
    """
    Returns metrics of one's own, each measured of every answer.

    A metric is a function of (question, answer), or an object with a `name` and such a method `score`; it returns
    a number, or None where it does not apply.
    """
