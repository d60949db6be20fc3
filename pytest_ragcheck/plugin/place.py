"""Where the processes of a pytest run leave each other word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.engine.place import FOLDER, stop
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.processes import run_id
from pytest_ragcheck.report.file_names import safe_name

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from pytest_ragcheck.settings import Settings


def home_of(settings: Settings) -> Path:
    """Where the runs of the agent have their folders."""
    return settings.output / FOLDER / safe_name(settings.agent)


def run_folder(config: pytest.Config) -> Path:
    """The folder of this run, whether or not it is there."""
    return home_of(settings_of(config)) / run_id(config)


def stop_workers(config: pytest.Config) -> None:
    """On the controller of xdist: tells the workers that nobody wants further records."""
    stop(run_folder(config))
