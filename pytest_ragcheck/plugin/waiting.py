"""A line that says what is waited for, when nothing has come for a while."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.plugin.configuration import settings_of

if TYPE_CHECKING:
    import pytest

    from pytest_ragcheck.engine.course import Courses
    from pytest_ragcheck.questions.question import Question


def seconds_between_lines(config: pytest.Config) -> float:
    """After how long it is said, and then again; 0: never, as in a quiet run and in a worker, which has no terminal."""
    return settings_of(config).waiting_line_seconds if config.get_verbosity() >= 0 else 0.0


def say(config: pytest.Config, courses: Courses, question: Question, to_go: int) -> None:
    """Writes the line, on one of its own, past what captures the output of tests."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return
    capture: Any = config.pluginmanager.get_plugin("capturemanager")
    with capture.global_and_fixture_disabled() if capture is not None else nullcontext():
        reporter.ensure_newline()
        reporter.write_line(f"ragcheck: {courses.line(question, to_go=to_go)}")
