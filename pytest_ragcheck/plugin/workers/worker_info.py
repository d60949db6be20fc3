"""Gives each process the id and the folder of the run, its share of the limits, and whether it shares a disk."""

from __future__ import annotations

import json
import os
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.workers.transport import HAS_WORKERS

if TYPE_CHECKING:
    from pytest_ragcheck.config.settings import Settings

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


def runs_everything(config: pytest.Config) -> bool:
    """Return True on the controller of xdist if every worker runs every item."""
    return bool(config.getoption("dist", "no") == "each")


def own_suffix(config: pytest.Config) -> str:
    """The suffix of this process's datasets if every worker runs every question; otherwise empty."""
    worker: dict[str, Any] = getattr(config, "workerinput", {})
    return f"[{worker['workerid']}]" if worker_info(config).runs_everything else ""


def place_of(report: pytest.TestReport, config: pytest.Config) -> str:
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
