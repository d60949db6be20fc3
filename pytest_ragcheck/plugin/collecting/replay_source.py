from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.plugin.workers import home_of
from pytest_ragcheck.replay.recorded_run import missing_for_replay
from pytest_ragcheck.replay.recording_reader import read_recording
from pytest_ragcheck.report.files.output_folder import without_links
from pytest_ragcheck.report.files.result_files import is_result_of
from pytest_ragcheck.report.files.results_reader import predictions_path

if TYPE_CHECKING:
    from pytest_ragcheck.config.settings import Settings
    from pytest_ragcheck.replay.recorded_run import Recording

RECORDING: pytest.StashKey[Recording] = pytest.StashKey()


def recording_of(config: pytest.Config, path: Path) -> Recording:
    """The recording, read at the first call; raises a `UsageError` if the file, or that of the folder, is none."""
    if RECORDING not in config.stash:
        path = _file_of(path)
        config.stash[RECORDING] = read_recording(path, name=shown_name(path, config.rootpath))
    return config.stash[RECORDING]


def _file_of(path: Path) -> Path:
    return predictions_path(path) if path.is_dir() else path


def shown_name(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def check_replay(config: pytest.Config, settings: Settings, path: Path) -> None:
    """Raise a `UsageError` if the file is no recording, would be overwritten, or needs a judge that the run lacks."""
    recording = recording_of(config, path)
    if is_result_of(_file_of(path), settings.run.output, settings.run.agent):
        raise UsageError(
            f"--rag-replay: {recording.name} is where this run writes its own results. "
            "Give the run another --rag-agent or --rag-output."
        )
    if without_links(path).is_relative_to(without_links(home_of(settings))):
        raise UsageError(
            f"--rag-replay: {recording.name} is in the folder of an earlier run, which this run deletes. "
            "Give a copy of the folder, or give the run another --rag-agent or --rag-output."
        )
    if problem := missing_for_replay(settings, recording):
        raise UsageError(problem)
