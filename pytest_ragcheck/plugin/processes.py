"""What the processes of one run tell each other: which run it is, and whether they share a disk."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.plugin.keys import RUN_ID

if TYPE_CHECKING:
    import pytest

_INPUT = "ragcheck"
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one process has to do with the run."""

    run_id: str
    """The same in all processes."""

    share: int = 1
    """How many processes share the run's concurrency, >= 1."""

    is_worker: bool = False
    runs_everything: bool = False
    """Whether every other worker runs every question too, as under `--dist each`."""

    shares_disk: bool = True
    """Whether what this process writes below its root is there for the others too."""


def part_of(config: pytest.Config) -> Part:
    """What this process has to do with the run."""
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    if worker is None:
        return Part(run_id=run_id(config))
    told = json.loads(worker[_INPUT])
    return Part(
        run_id=told["run_id"],
        share=int(worker["workercount"]),
        is_worker=True,
        runs_everything=told["each"],
        shares_disk=told["disk"] == _disk(config.rootpath),
    )


def tell_worker(node: Any) -> None:
    """Gives a worker of xdist what `part_of` reads there."""
    config: pytest.Config = node.config
    told = {"run_id": run_id(config), "each": runs_everything(config), "disk": _disk(config.rootpath)}
    node.workerinput[_INPUT] = json.dumps(told)


def run_id(config: pytest.Config) -> str:
    """The name of the run, which sorts after those of all earlier ones."""
    new = f"{datetime.now(timezone.utc):%Y%m%dT%H%M%S.%f}-{os.urandom(3).hex()}"
    return config.stash.setdefault(RUN_ID, new)


def runs_everything(config: pytest.Config) -> bool:
    """On the controller of xdist: whether every worker runs every item."""
    return bool(config.getoption("dist", "no") == "each")


def own_suffix(config: pytest.Config) -> str:
    """What tells this process's questions from those of other workers that run the same; empty where none do."""
    worker: dict[str, Any] = getattr(config, "workerinput", {})
    return _suffix(worker["workerid"]) if worker and json.loads(worker[_INPUT])["each"] else ""


def place_of(report: pytest.TestReport, config: pytest.Config) -> str:
    """On the controller the report's node id; where several workers run the same item, with the worker's suffix."""
    node = getattr(report, "node", None)
    return report.nodeid + (_suffix(node.gateway.id) if node is not None and runs_everything(config) else "")


def _suffix(worker_id: str) -> str:
    return f"[{worker_id}]"


def _disk(root: Path) -> list[Any]:
    """
    Equal in two processes if and only if they see the same folder under the path: it stays there when nobody writes.

    A copy of the tree, another machine, and another folder mounted there all differ in something.
    """
    found = root.stat()
    return [
        os.environ.get("COMPUTERNAME") or os.uname().nodename,
        _BOOT.read_text(encoding="ascii").strip() if _BOOT.exists() else "",
        str(root),
        found.st_dev,
        found.st_ino,
    ]
