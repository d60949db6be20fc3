"""After collection: which items run which questions, can they run at all, and what the run will do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.plugin.collection import question_of
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.keys import HEADED, RUN
from pytest_ragcheck.plugin.processes import runs_everything
from pytest_ragcheck.plugin.run import run_of
from pytest_ragcheck.plugin.sigint import interrupt_between_imports
from pytest_ragcheck.plugin.usable import check_usable, covered, overridden, tell_controller
from pytest_ragcheck.redaction import shown_url
from pytest_ragcheck.report.terminal import header_lines, judge_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_ragcheck.settings import Settings


def select(session: pytest.Session) -> None:
    """
    Notes which items run which questions.

    Raises:
        pytest.UsageError: No question can run as the run was told, and no conftest.py has a way of its own.
    """
    run = run_of(session.config)
    run.selected = {item.nodeid: found for item in session.items if (found := question_of(item)) is not None}
    if run.selected:
        check_before_running(session, collected=True)
        interrupt_between_imports(session.config)


def check_before_running(session: pytest.Session, *, collected: bool) -> None:
    """
    Ends the run before it begins, if its questions could only come to nothing.

    Raises:
        pytest.UsageError: They could; under xdist the controller raises it.
    """
    if session.config.getoption("collectonly"):
        return
    try:
        check_usable(session.config, collected=collected)
        # A run that cannot be gone on with is refused before any question is asked, in a quiet run too.
        _resume_lines(session.config)
    except pytest.UsageError as error:
        if not hasattr(session.config, "workerinput"):
            raise
        tell_controller(session, str(error))


def header(config: pytest.Config) -> list[str]:
    """The lines that stand before the first question; none where all are deselected, or a quiet run is wanted."""
    run = run_of(config)
    if not run.selected or config.get_verbosity() < 0:
        return []
    config.stash[HEADED] = True
    return [*_lines(config), *_resume_lines(config)]


def write_header_once(config: pytest.Config) -> None:
    """The same on the controller of xdist, where pytest asks for no such lines."""
    if HEADED in config.stash:
        return
    config.stash[HEADED] = True
    lines = [*_lines(config), *_resume_lines(config)]
    if runs_everything(config):
        lines.append("ragcheck: --dist each: every worker asks every question; its datasets end in its name")
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and config.get_verbosity() >= 0:
        for line in lines:
            reporter.write_line(line)


def _lines(config: pytest.Config) -> list[str]:
    settings = settings_of(config)
    output, start = settings.output, config.invocation_params.dir
    folder = output.relative_to(start) if output.is_relative_to(start) else output
    run = config.stash.get(RUN, None)
    sets = list(run.sets.values()) if run is not None else []
    # The controller of xdist does not know the files; then what holds for the root holds.
    paths = [questions.path for questions in sets] or [config.rootpath]
    judge = "not asked"
    if "judge" in settings.metrics:
        judge = _given_or_overridden(config, "rag_judge", judge_name(settings), paths)
    return header_lines(
        settings,
        endpoint=_answers_from(config, settings, paths),
        judge=judge,
        sets=sets,
        folder=f"{folder}/",
    )


def _resume_lines(config: pytest.Config) -> list[str]:
    if not settings_of(config).resume:
        return []
    from pytest_ragcheck.plugin.storing import resume_lines  # noqa: PLC0415 - only for a run that goes on with another

    return resume_lines(config)


def _answers_from(config: pytest.Config, settings: Settings, paths: Sequence[Path]) -> str:
    if settings.replay is not None:
        from pytest_ragcheck.plugin.replay import shown_name  # noqa: PLC0415 - only where a run is replayed

        return shown_name(settings.replay, config.rootpath)
    return _given_or_overridden(config, "rag_client", shown_url(settings.url) if settings.url else "", paths)


def _given_or_overridden(config: pytest.Config, fixture: str, given: str, paths: Sequence[Path]) -> str:
    """What the settings name, or the fixture that some or all of the question files have instead."""
    own = [path for path in paths if covered(config, fixture, path)]
    if given and not own:
        return given
    if not given and not overridden(config, fixture):
        return "not given"
    instead = f"from the {fixture} fixture"
    return f"{given} or {instead}" if given and len(own) < len(paths) else instead
