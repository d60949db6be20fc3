"""Before the first question: can the questions be asked and judged, and their results be written?"""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_ragcheck.errors import ResultsError, UsageError
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.fixtures import NO_ENDPOINT, NO_JUDGE
from pytest_ragcheck.plugin.keys import REFUSAL


def check_usable(config: pytest.Config, *, collected: bool) -> None:
    """
    Refuses a run whose questions could only come to nothing.

    Args:
        config: pytest's.
        collected: Whether questions were collected; else there are only tests that use `rag_check`, whose fixtures
            may be others than any that is known here.

    Raises:
        pytest.UsageError: What is missing or wrong, and what to give.
    """
    settings = settings_of(config)
    own_client = overridden(config, "rag_client")
    if settings.url is None and settings.replay is None and not own_client:
        if collected and settings.required:
            raise pytest.UsageError(f"ragcheck: {NO_ENDPOINT}.")
        return
    try:
        if settings.replay is not None:
            from pytest_ragcheck.plugin.replay import check_replay  # noqa: PLC0415 - only where a run is replayed

            check_replay(config, settings, settings.replay)
        elif settings.url is not None and not own_client:
            from pytest_ragcheck.rag.address import read_address  # noqa: PLC0415 - only where there is a URL

            read_address(settings.url, settings.headers, also_secret={})
        from pytest_ragcheck.metrics.choice import check_installed  # noqa: PLC0415 - only where questions run

        check_installed(settings)
        if settings.calibrations:
            from pytest_ragcheck.summary.agreement import read_agreements  # noqa: PLC0415 - only for whoever gives some

            read_agreements(settings.calibrations)
        if collected and settings.needs_judge and not overridden(config, "rag_judge"):
            _check_judge(config)
        # One that no judge of the run would read is none that somebody meant, either.
        if collected and not overridden(config, "rag_judge"):
            from pytest_ragcheck.judging.prompt import load_prompt  # noqa: PLC0415 - only where questions run

            load_prompt(settings.judge_prompt)
        if collected and settings.max_cost_usd is not None:
            from pytest_ragcheck.plugin.spending import check_watchable  # noqa: PLC0415 - only where there is a limit

            check_watchable(settings, own_judge=overridden(config, "rag_judge"))
        from pytest_ragcheck.report.folder import check_folder  # noqa: PLC0415 - only where questions run

        check_folder(settings.output)
    except (UsageError, ResultsError) as error:
        raise pytest.UsageError(f"ragcheck: {error}") from None


def tell_controller(session: pytest.Session, text: str) -> None:
    """Has the controller of xdist end the run; an error that a worker raises would read as its crash."""
    report = pytest.CollectReport(nodeid="", outcome="failed", longrepr=text, result=[])
    setattr(report, REFUSAL, text)
    session.config.hook.pytest_collectreport(report=report)


def overridden(config: pytest.Config, fixture: str) -> bool:
    """Whether any plugin or conftest.py beside this package has something of the fixture's name."""
    return any(
        hasattr(plugin, fixture)
        for plugin in config.pluginmanager.get_plugins()
        if getattr(plugin, "__name__", "") != "pytest_ragcheck.plugin"
    )


def covered(config: pytest.Config, fixture: str, path: Path) -> bool:
    """Whether what is at the path has another fixture of the name than this package's."""
    homes = (
        Path(getattr(plugin, "__file__", None) or "")
        for plugin in config.pluginmanager.get_plugins()
        if hasattr(plugin, fixture) and getattr(plugin, "__name__", "") != "pytest_ragcheck.plugin"
    )
    return any(home.name != "conftest.py" or path.is_relative_to(home.parent) for home in homes)


def _check_judge(config: pytest.Config) -> None:
    settings = settings_of(config)
    if settings.judge is None and settings.replay is None:
        raise UsageError(f"{NO_JUDGE}.")
    from pytest_ragcheck.judging.choice import missing_for  # noqa: PLC0415 - only where a judge is needed

    if settings.replay is None and (problem := missing_for(settings)):
        raise UsageError(f"{problem}.")
