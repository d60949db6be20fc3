"""A run that asks no system: its answers, and where they are of the same judge its verdicts, are recorded ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_ragcheck.engine.replay import Unasked
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.judging.choice import choose_judge, missing_for
from pytest_ragcheck.plugin.keys import RECORDING
from pytest_ragcheck.report.files import predictions_names
from pytest_ragcheck.settings import DUMMY_API_KEY
from pytest_ragcheck.summary.recording import read_recording

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from pytest_ragcheck.engine.replay import Recording
    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.settings import Settings

CHOOSE = "no judge was chosen to judge anew. Give --rag-judge, or record anew: run once without --rag-replay."


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
    targets = [settings.output / name for name in predictions_names(settings.agent)]
    if path.resolve() in {target.resolve() for target in targets}:
        raise UsageError(
            f"--rag-replay: {recording.name} is where this run writes its own results. "
            "Give the run another --rag-agent or --rag-output."
        )
    problem = missing_for(settings) if settings.judge == "openai" and settings.chooses_judge else ""
    if problem and _judge_without_key(settings).identity not in recording.judges:
        raise UsageError(f"{recording.name} was judged by another judge, and {problem}.")


def judge_for_replay(settings: Settings, recording: Recording) -> Judge | None:
    """The chosen judge; where it cannot be asked, or none was chosen, one that is known by its recorded verdicts."""
    if not settings.chooses_judge:
        return Unasked(None, CHOOSE, is_model=any(judge and judge.model for judge in recording.judges))
    if settings.judge == "openai" and missing_for(settings):
        return _judge_without_key(settings)
    return choose_judge(settings)


def _judge_without_key(settings: Settings) -> Unasked:
    # Its recorded verdicts can be found without the key, and it cannot give any.
    problem = missing_for(settings)
    known = choose_judge(replace(settings, judge_api_key=DUMMY_API_KEY))
    return Unasked(getattr(known, "identity", None), f"{problem}.", is_model=True)
