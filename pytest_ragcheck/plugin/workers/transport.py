"""Carries data from a worker of pytest-xdist to the controller: on reports, as builtin types only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, NoReturn

import pytest

STOPPED = "ragcheck: the run was stopped"
"""Why a worker skips its items."""

USELESS_JUDGE = "the judge did not pass its preflight"
"""Why a worker stops the run when the judge fails its preflight."""

NO_DOCUMENTS = "the system takes no further documents"
"""Why the run stops after the first question that needs one."""

NOT_STARTED = "the app of the rag_client did not start"
"""Why the run stops after the first question about an app."""

TOLERATED = "ragcheck_tolerated"
"""Report attribute: the FAIL does not count against its question under the gate of the run."""

HAS_WORKERS: pytest.StashKey[bool] = pytest.StashKey()

BEGUN = "ragcheck_begun"
"""Name of the text of `send_begun`."""

LINE = "ragcheck_line"
"""Name of the text of `send_line`."""

REFUSAL = "ragcheck_refusal"
"""Name of the text of `send_refusal`."""

_LUGGAGE = "ragcheck"


def has_workers(config: pytest.Config) -> bool:
    """Return True on the controller of xdist once it starts workers; it starts none with --collect-only."""
    return config.stash.get(HAS_WORKERS, False)


def put_on(report: pytest.TestReport, luggage: Mapping[str, object], *, is_sent: bool) -> None:
    """Put the luggage on the report; one that is sent to another process holds only builtin types, so it gets JSON."""
    setattr(report, _LUGGAGE, json.dumps(luggage) if is_sent else luggage)


def carries_luggage(report: pytest.TestReport) -> bool:
    """Return True if `put_on` put anything on the report."""
    return hasattr(report, _LUGGAGE)


def take_off(report: pytest.TestReport) -> dict[str, Any] | None:
    """Remove and return the luggage of the report, so that no other plugin sees the attribute."""
    luggage: dict[str, Any] | str | None = report.__dict__.pop(_LUGGAGE, None)
    return json.loads(luggage) if isinstance(luggage, str) else luggage


def send_begun(config: pytest.Config, collected: str, *, suffix: str) -> None:
    """
    Send the collected questions to the controller before the first question is asked.

    A run that is interrupted before its first record is written with these questions. *collected* is one ASCII JSON
    string. *suffix* is that of this worker's datasets under `--dist each`.
    """
    _send(config, BEGUN, collected, longrepr=f"{_LUGGAGE}{suffix}")


def send_line(config: pytest.Config, text: str) -> None:
    """Send a line for the terminal to the controller at once; only the first of several equal ones arrives."""
    _send(config, LINE, text, longrepr=text)


def send_refusal(config: pytest.Config, text: str) -> None:
    """Ask the controller to end the run; a usage error in a worker would look like a crash of the worker."""
    _send(config, REFUSAL, text, longrepr=text, outcome="failed")


def end_worker(session: pytest.Session, reason: str) -> NoReturn:
    """
    Skip the current item and run no other; the controller ends the run for this reason.

    xdist would take an interruption for a crash and start another worker.
    """
    session.shouldstop = reason
    pytest.skip(STOPPED)


def _send(
    config: pytest.Config,
    name: str,
    text: str,
    *,
    longrepr: str,
    outcome: Literal["skipped", "failed"] = "skipped",
) -> None:
    # xdist forwards only collection reports that did not pass, and drops a second one with the same longrepr.
    report = pytest.CollectReport(nodeid="", outcome=outcome, longrepr=longrepr, result=[])
    setattr(report, name, text)
    config.hook.pytest_collectreport(report=report)


def received(report: pytest.CollectReport, name: str) -> str | None:
    """Remove and return the text under the name. The report then passes, so that no other plugin shows it."""
    text: str | None = report.__dict__.pop(name, None)
    if text is not None:
        report.outcome, report.longrepr = "passed", None
    return text
