"""A run that asks no system: its answers, and where they are of the same judge its verdicts, are recorded ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.engine.replay_judge import missing_for_replay
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.plugin.keys import RECORDING
from pytest_ragcheck.plugin.place import home_of
from pytest_ragcheck.report.files import is_result_of
from pytest_ragcheck.summary.recording import read_recording

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from pytest_ragcheck.engine.replay import Recording
    from pytest_ragcheck.settings import Settings


def recording_of(config: pytest.Config, path: Path) -> Recording:
    """
    The run that is replayed; it is read once.

    Raises:
        UsageError: The file cannot be replayed.
    """
    if RECORDING not in config.stash:
        config.stash[RECORDING] = read_recording(path, name=shown_name(path, config.rootpath))
    return config.stash[RECORDING]


def shown_name(path: Path, root: Path) -> str:
    """How texts call the recording."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def check_replay(config: pytest.Config, settings: Settings, path: Path) -> None:
    """
    Returns if the replay can be.

    Raises:
        UsageError: The recording cannot be read, would be written over, or nobody can judge its answers.
    """
    recording = recording_of(config, path)
    if is_result_of(path, settings.output, settings.agent):
        raise UsageError(
            f"--rag-replay: {recording.name} is where this run writes its own results. "
            "Give the run another --rag-agent or --rag-output."
        )
    if path.resolve().is_relative_to(home_of(settings).resolve()):
        raise UsageError(
            f"--rag-replay: {recording.name} is of an earlier run, whose folder this run takes away. "
            "Give a copy of the folder, or give the run another --rag-agent or --rag-output."
        )
    if problem := missing_for_replay(settings, recording):
        raise UsageError(problem)
