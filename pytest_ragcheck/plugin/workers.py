"""Gives each process of pytest-xdist its place in the run, and sends data from a worker to the controller."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import pytest

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.plugin.configuration import is_dry_run, settings_of

if TYPE_CHECKING:
    from pytest_ragcheck.config.settings import Settings

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


RUN_ID: pytest.StashKey[str] = pytest.StashKey()

_INPUT = "ragcheck"
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@frozen
class WorkerInfo:
    """The place of one process, a worker of xdist or not, in the run."""

    run_id: str
    """Equal in all processes of the run."""

    share: int = 1
    """The number of processes that share the run's concurrency, >= 1."""

    is_worker: bool = False
    runs_everything: bool = False
    """True if every other worker runs every question too, as under `--dist each`."""

    shares_disk: bool = True
    """True if the other processes see the files that this one writes below its root."""


def worker_info(config: pytest.Config) -> WorkerInfo:
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    if worker is None:
        return WorkerInfo(run_id=run_id(config))
    sent = json.loads(worker[_INPUT])
    return WorkerInfo(
        run_id=sent["run_id"],
        share=int(worker["workercount"]),
        is_worker=True,
        runs_everything=sent["each"],
        shares_disk=sent["disk"] == _disk(config.rootpath),
    )


def send_worker_info(node: Any) -> None:
    config: pytest.Config = node.config
    config.stash[HAS_WORKERS] = True
    sent = {"run_id": run_id(config), "each": runs_everything(config), "disk": _disk(config.rootpath)}
    node.workerinput[_INPUT] = json.dumps(sent)


def run_id(config: pytest.Config) -> str:
    """The name of the run, which sorts after those of all earlier runs."""
    new = f"{datetime.now(timezone.utc):%Y%m%dT%H%M%S.%f}-{os.urandom(3).hex()}"
    return config.stash.setdefault(RUN_ID, new)


def home_of(settings: Settings) -> Path:
    # Every run with xdist imports this module, with or without questions.
    from pytest_ragcheck.engine.store.run_folder import FOLDER
    from pytest_ragcheck.report.files.output_folder import safe_name

    return settings.run.output / FOLDER / safe_name(settings.run.agent)


def run_folder(config: pytest.Config) -> Path:
    return home_of(settings_of(config)) / worker_info(config).run_id


def mark_run(config: pytest.Config) -> None:
    """Mark that the run began; `forget_begun` removes the mark of a run that needed no answer."""
    if not (config.option.collectonly or is_dry_run(config)) and worker_info(config).shares_disk:
        from pytest_ragcheck.engine.store.run_folder import mark_begun

        with suppress(pytest.UsageError):  # wrong settings name no folder
            mark_begun(run_folder(config), resumes=settings_of(config).run.resume)


def runs_everything(config: pytest.Config) -> bool:
    """Return True on the controller of xdist if every worker runs every item."""
    return bool(config.getoption("dist", "no") == "each")


def own_suffix(config: pytest.Config) -> str:
    """The suffix of this process's datasets if every worker runs every question; otherwise empty."""
    worker: dict[str, Any] = getattr(config, "workerinput", {})
    return f"[{worker['workerid']}]" if worker_info(config).runs_everything else ""


def node_id_of(report: pytest.TestReport, config: pytest.Config) -> str:
    """The report's node id on the controller, with the worker's suffix if several workers run the item."""
    node = getattr(report, "node", None)
    return report.nodeid + (f"[{node.gateway.id}]" if node is not None and runs_everything(config) else "")


def _disk(root: Path) -> list[Any]:
    # A value that is equal in two processes if the path is the same folder in both.
    # It differs for a copy of the tree, another machine, and another folder mounted there.
    import socket

    found = root.stat()
    return [
        socket.gethostname(),
        _BOOT.read_text(encoding="ascii").strip() if _BOOT.exists() else "",
        str(root),
        found.st_dev,
        found.st_ino,
    ]
