"""After collection: which items run which questions, can they run at all, and what the run will do."""

from __future__ import annotations

import pytest

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.plugin.collection import question_of
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.fixtures import NO_ENDPOINT, NO_JUDGE
from pytest_ragcheck.plugin.keys import HEADED, RUN
from pytest_ragcheck.plugin.run import run_of
from pytest_ragcheck.redaction import shown_url
from pytest_ragcheck.report.terminal import header_lines


def select(session: pytest.Session) -> None:
    """
    Notes which items run which questions.

    Raises:
        pytest.UsageError: No question can run as the run was told, and no conftest.py has a way of its own.
    """
    run = run_of(session.config)
    run.selected = {item.nodeid: found for item in session.items if (found := question_of(item)) is not None}
    told_to_run = run.selected and not session.config.getoption("collectonly")
    # An error in a worker of xdist would read as a crash of it; there each item says it.
    if told_to_run and not hasattr(session.config, "workerinput"):
        _check_usable(session.config)


def header(config: pytest.Config) -> list[str]:
    """The lines that stand before the first question; none where all are deselected, or a quiet run is wanted."""
    run = run_of(config)
    if not run.selected or config.get_verbosity() < 0:
        return []
    config.stash[HEADED] = True
    return _lines(config)


def write_header_once(config: pytest.Config) -> None:
    """The same on the controller of xdist, where pytest asks for no such lines."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and HEADED not in config.stash and config.get_verbosity() >= 0:
        for line in _lines(config):
            reporter.write_line(line)
    config.stash[HEADED] = True


def _lines(config: pytest.Config) -> list[str]:
    settings = settings_of(config)
    output, start = settings.output, config.invocation_params.dir
    folder = output.relative_to(start) if output.is_relative_to(start) else output
    run = config.stash.get(RUN, None)
    sets = run.sets.values() if run is not None else ()
    return header_lines(settings, shown_url(settings.url) if settings.url else "", sets, f"{folder}/")


def _check_usable(config: pytest.Config) -> None:
    settings = settings_of(config)
    own_client, own_judge = _overridden(config, "rag_client"), _overridden(config, "rag_judge")
    if settings.url is None and not own_client:
        if settings.required:
            raise pytest.UsageError(f"ragcheck: {NO_ENDPOINT}.")
        return
    if settings.calibrations:
        from pytest_ragcheck.summary.agreement import read_agreements  # noqa: PLC0415 - only for whoever gives some

        try:
            read_agreements(settings.calibrations)
        except UsageError as error:
            raise pytest.UsageError(f"ragcheck: {error}") from None
    if own_judge or not settings.needs_judge:
        return
    if settings.judge is None:
        raise pytest.UsageError(f"ragcheck: {NO_JUDGE}.")
    if settings.judge == "openai":
        from pytest_ragcheck.judging.choice import missing_for_openai  # noqa: PLC0415 - one judge of several
        from pytest_ragcheck.judging.prompt import load_prompt  # noqa: PLC0415 - as above

        if problem := missing_for_openai(settings):
            raise pytest.UsageError(f"ragcheck: {problem}.")
        try:
            load_prompt(settings.judge_prompt)
        except UsageError as error:
            raise pytest.UsageError(f"ragcheck: {error}") from None


def _overridden(config: pytest.Config, fixture: str) -> bool:
    """Whether any plugin or conftest.py beside this package has something of the fixture's name."""
    return any(
        hasattr(plugin, fixture)
        for plugin in config.pluginmanager.get_plugins()
        if getattr(plugin, "__name__", "") != "pytest_ragcheck.plugin"
    )
