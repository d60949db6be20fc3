"""Sends data from a worker of pytest-xdist to the controller, on reports and as builtin types only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, NoReturn

import pytest

STOPPED = "ragcheck: the run was stopped"
"""Why a worker skips its items."""

USELESS_JUDGE = "the judge cannot be used"
"""Why a worker stops the run when the judge fails its preflight, or has no price for the limit."""

NO_DOCUMENTS = "the system takes no further documents"
"""Why the run stops after the first question that needs one."""

NOT_STARTED = "the app of the rag_client did not start"
"""Why the run stops after the first question about an app."""

TOLERATED = "ragcheck_tolerated"
"""Report attribute: the FAIL does not count against its question under the gate of the run."""

HAS_WORKERS: pytest.StashKey[bool] = pytest.StashKey()

BEGUN = "ragcheck_begun"
"""
Name of a worker's collected questions, one ASCII JSON string, sent before the first question is asked.

A run that is interrupted before its first record is written with these questions.
"""

COLLECTED = "ragcheck_collected"
"""Name of the header's lines, which a worker sends before its first item, if its items ask questions."""

LINE = "ragcheck_line"
"""Name of a line for the terminal."""

REFUSAL = "ragcheck_refusal"
"""Name of a usage error, which ends the run; in a worker it would look like a crash of the worker."""

_PAYLOAD = "ragcheck"


def has_workers(config: pytest.Config) -> bool:
    """Return True on the controller of xdist once it starts workers; it starts none with --collect-only."""
    return config.stash.get(HAS_WORKERS, False)


def put_payload(report: pytest.TestReport, payload: Mapping[str, object], *, is_sent: bool) -> None:
    """Put the payload on the report, as JSON for another process, because such a report has only builtin types."""
    setattr(report, _PAYLOAD, json.dumps(payload) if is_sent else payload)


def has_payload(report: pytest.TestReport) -> bool:
    return hasattr(report, _PAYLOAD)


def take_payload(report: pytest.TestReport) -> dict[str, Any] | None:
    """Remove and return the payload of the report, so that no other plugin sees the attribute."""
    payload: dict[str, Any] | str | None = report.__dict__.pop(_PAYLOAD, None)
    return json.loads(payload) if isinstance(payload, str) else payload


def end_worker(session: pytest.Session, reason: str) -> NoReturn:
    """
    Skip the current item and run no other; the controller ends the run for this reason.

    xdist would take an interruption for a crash and start another worker.
    """
    session.shouldstop = reason
    pytest.skip(STOPPED)


def send(config: pytest.Config, name: str, text: str, *, mark: str = "") -> None:
    """Send a text to the controller at once. Only the first text with the same *mark*, or the same text, arrives."""
    # xdist forwards only collection reports that did not pass, and drops a second one with the same longrepr.
    outcome: Literal["skipped", "failed"] = "failed" if name == REFUSAL else "skipped"
    report = pytest.CollectReport(nodeid="", outcome=outcome, longrepr=mark or text, result=[])
    setattr(report, name, text)
    config.hook.pytest_collectreport(report=report)


def received(report: pytest.CollectReport, name: str) -> str | None:
    """Remove and return the text under the name. The report then passes, so that no other plugin shows it."""
    text: str | None = report.__dict__.pop(name, None)
    if text is not None:
        report.outcome, report.longrepr = "passed", None
    return text
