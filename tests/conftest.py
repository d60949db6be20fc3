"""What all tests share: the harness, in the three ways in which pytest is run."""

from __future__ import annotations

import os
from contextlib import suppress
from importlib import import_module

import anyio
import anyio.lowlevel
import hypothesis
import pytest
import yaml  # noqa: F401 - its C part, once loaded, keeps to the classes of the first import, and pytester unloads

from tests.harness import WAYS, Project

pytest_plugins = ["pytester"]

# No test asserts how long something takes: the machine may be busy.
hypothesis.settings.register_profile("untimed", hypothesis.settings(), deadline=None)
hypothesis.settings.load_profile("untimed")

# What pytest's runs in this process load lazily, loaded once: pytester unloads it after each of them.
for _module in (
    "check",
    "engine.run_folder",
    "rag.client",
    "rag.function",
    "plugin.collection",
    "plugin.ending",
    "plugin.selection",
):
    import_module(f"pytest_ragcheck.{_module}")
for _module in ("httpcore", "httpcore2"):
    # Loaded anew, its errors would be no longer those that httpx or httpx2 has a table of.
    with suppress(ImportError):
        import_module(_module)
anyio.run(anyio.lowlevel.checkpoint)


@pytest.fixture
def way(request: pytest.FixtureRequest) -> str:
    """How pytest is run; `plain` unless the test is marked with `three_ways` or `two_ways`."""
    return str(getattr(request, "param", "plain"))


@pytest.fixture
def project(pytester: pytest.Pytester, way: str, monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty project of a user's, far from the environment of whoever runs these tests."""
    for name in [name for name in os.environ if name.startswith(("RAGCHECK_", "OPENAI_", "PYTEST_", "CI"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "160")
    return Project(pytester, WAYS[way])
