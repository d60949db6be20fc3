"""Fixtures of all tests: the harness, for the three ways to run pytest."""

from __future__ import annotations

import gc
import os
import shlex
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING

import hypothesis
import pytest

import tests.forks
from pytest_ragcheck.concurrency.search_process import SearchProcess
from tests.harness import WAYS, Project

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_ragcheck.testing import RagProject

pytest_plugins = ["pytester", "pytest_ragcheck.testing"]

# Without bytecode each of the thousand processes of a run would compile the package again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# No test asserts how long something takes: the machine may be busy.
hypothesis.settings.register_profile("quick", deadline=None, max_examples=25)
hypothesis.settings.register_profile("exhaustive", deadline=None, max_examples=100)
hypothesis.settings.load_profile("quick")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Freezes the objects that live until the end: collecting them takes a tenth of the time of all tests."""
    # The workers of xdist have been started. What tests start is not measured: it takes as long as the tests
    # themselves, and would differ by the modules of coverage from what users start.
    for name in [name for name in os.environ if name.startswith("COVERAGE_")]:
        del os.environ[name]
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    """Lets idle workers of xdist take over tests from busy ones: by `load` one of three went on alone for 40 s."""
    if config.getoption("dist", "no") == "load":
        config.option.dist = "worksteal"


@pytest.fixture
def way(request: pytest.FixtureRequest) -> str:
    """How pytest is run; `plain` unless the test is marked with `three_ways` or `two_ways`."""
    return str(getattr(request, "param", "plain"))


@pytest.fixture(scope="session", autouse=True)
def plugins_read_once() -> Iterator[None]:
    """Keeps what the runs of pytest in this process would read anew, which takes a third of a short run."""
    with pytest.MonkeyPatch.context() as patch:
        tests.forks.read_once(partial(patch.setattr, raising=False))
        yield


@pytest.fixture(scope="session")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The start of a command that runs a program in a fork; see `tests.forks`."""
    folder = tmp_path_factory.mktemp("forks")
    with subprocess.Popen(
        [sys.executable, tests.forks.__file__, folder],
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None
        assert f"{tests.forks.READY}\n" in server.stdout
        command = shlex.join([sys.executable, "-I", "-S", tests.forks.__file__, str(folder)])
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(tests.forks.COMMAND, command)
            yield command


@pytest.fixture
def project(
    request: pytest.FixtureRequest,
    pytester: pytest.Pytester,
    rag_project: RagProject,
    way: str,
    monkeypatch: pytest.MonkeyPatch,
) -> Project:
    """An empty project in the environment of `rag_project`."""
    monkeypatch.setenv("COLUMNS", "160")
    if tests.forks.POSSIBLE:
        request.getfixturevalue("forks")
    return Project(pytester, *WAYS[way])


@pytest.fixture
def search() -> Iterator[SearchProcess]:
    """The process that runs regular expressions of `must_mention`."""
    process = SearchProcess()
    yield process
    process.close()
