"""
The public harness with what only tests of the plugin itself need.

    project.ask(good("refund-window"), bad("prices", groundedness=0.41, reason="No price is in the contexts."))
    run = project.run("-v")
    assert run.verdicts == {"refund-window": "PASS", "prices": "FAIL"}
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from functools import cached_property
from itertools import takewhile
from typing import NoReturn
from xml.etree import ElementTree as ET

import pytest

from pytest_ragcheck.testing import CLASSES, RagProject, RunResult
from tests.forks import COMMAND, POSSIBLE

WAYS: dict[str, tuple[str, ...]] = {"plain": (), "n2": ("-n2",), "no-xdist": ("-p", "no:xdist")}
"""The ways to run pytest, with the options of each."""

exhaustive = pytest.mark.exhaustive
"""For a variant of a behaviour that another test covers: only the exhaustive run includes it."""


def _in_ways(*further: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "way", ["plain", *(pytest.param(way, marks=exhaustive) for way in further)], indirect=True
    )


three_ways = _in_ways("n2", "no-xdist")
"""For a test whose behaviour could differ between one process, workers, and a pytest without xdist."""

two_ways = _in_ways("n2")
"""For a test whose behaviour could differ between one process and workers."""

# The plugins of hypothesis and anyio import the whole of them in every run.
OTHERS = ("-p", "no:hypothesispytest", "-p", "no:anyio")

# The preflight would be among the requests that tests count, and most of their judges judge all answers alike.
NO_PREFLIGHT = ("-o", "rag_disable=preflight")


def unavailable(reason: str) -> NoReturn:
    """Skips the test because a program or package is missing; fails it if `CI=true`, which needs them all."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def python_of_forks(*arguments: str) -> tuple[str, ...]:
    """The command line of Python, which runs it in a fork in tests with the fixture `forks`; see `tests.forks`."""
    start = (*shlex.split(os.environ[COMMAND]), "python") if COMMAND in os.environ else (sys.executable,)
    return (*start, *arguments)


class Project(RagProject):
    """A project whose runs write JUnit's file, and whose judge gets no preflight."""

    junit = True
    """False for runs that write no file for JUnit."""

    def conftest(self, code: str) -> None:
        """Writes a conftest.py with the canned classes and *code*, which defines the fixtures."""
        self.write("conftest.py", CLASSES + code)

    def run(self, *arguments: str, subprocess: bool = False, fresh: bool = False) -> Run:
        """
        Run pytest in the folder.

        Args:
            arguments: As in `RagProject.run`.
            subprocess: As in `RagProject.run`; the process is a fork, see `tests.forks`.
            fresh: True to run pytest in a process of its own that has imported nothing before.
        """
        junit = [f"--junitxml={self.folder / 'junit.xml'}"] if self.junit else []
        # A run without our options is to load nothing of ours.
        preflight = NO_PREFLIGHT if any(argument.startswith("--rag-") for argument in arguments) else ()
        own_process = subprocess or fresh
        # Workers that are forks; runs in processes of their own start theirs as pytest-xdist does.
        workers = any(argument.startswith(("-n", "--tx=")) for argument in (*self._options, *arguments))
        forks = ("-p", "tests.forks") if POSSIBLE and workers and not own_process else ()
        all_arguments = (*OTHERS, *forks, *preflight, *junit, *arguments)
        with pytest.MonkeyPatch.context() as patch:
            if POSSIBLE and subprocess and not fresh:
                patch.setattr(self._pytester, "_getpytestargs", lambda: python_of_forks("-m", "pytest"))
            return Run(**vars(super().run(*all_arguments, subprocess=own_process)))

    def run_before(self, *arguments: str) -> Run:
        """Run in one process, however the test runs pytest: for what its own run starts from, such as a baseline."""
        return Project(self._pytester).run(*arguments)


class Run(RunResult):
    """A result with the parts of pytest's terminal report and of JUnit's file."""

    @property
    def progress(self) -> list[str]:
        """The lines without those that differ from run to run: pytester's first two, and the duration."""
        return [re.sub(r" in [\d.]+s", "", line) for line in self.lines if not re.match(r"(running|in): ", line)]

    def section(self, title: str) -> list[str]:
        """The lines under pytest's heading that contains *title*, up to the next heading."""
        lines = iter(self.text.splitlines())
        for line in lines:
            if re.fullmatch(r"(_{3,}|={3,}) .* (_{3,}|={3,})", line) and title in line:
                break
        return list(takewhile(lambda line: not re.match(r"_{3,} |={3,} |-{3,} ", line), lines))

    @property
    def short_summary(self) -> list[str]:
        """The lines of pytest's short summary."""
        _, _, rest = self.text.partition("short test summary info")
        return [line for line in rest.splitlines()[1:] if re.match(r"(FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b", line)]

    @cached_property
    def junit(self) -> dict[str, tuple[str, str]]:
        """By test name `failure`, `error`, `skipped` or `passed` and the message in JUnit's file."""
        found = {}
        for case in ET.parse(self.folder / "junit.xml").iter("testcase"):
            problem = next((part for part in case if part.tag in {"failure", "error", "skipped"}), None)
            result = ("passed", "") if problem is None else (problem.tag, problem.get("message", ""))
            found[case.get("name", "")] = result
        return found
