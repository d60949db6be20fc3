"""Finds the folder that the processes of a pytest run share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.engine.store.run_folder import FOLDER
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.workers.worker_info import worker_info
from pytest_ragcheck.report.files.file_names import safe_name

if TYPE_CHECKING:
    import pytest

    from pytest_ragcheck.config.settings import Settings


def home_of(settings: Settings) -> Path:
    return settings.run.output / FOLDER / safe_name(settings.run.agent)


def run_folder(config: pytest.Config) -> Path:
    """The folder of this run, which may not exist."""
    return home_of(settings_of(config)) / worker_info(config).run_id
