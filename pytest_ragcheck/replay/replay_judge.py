"""Chooses the judge of a replay, which needs no key for recorded judgements."""

from __future__ import annotations

from pytest_ragcheck.config.settings import DUMMY_API_KEY, Settings
from pytest_ragcheck.judging.judge_choice import choose_judge, missing_for
from pytest_ragcheck.judging.judgement import Judge
from pytest_ragcheck.replay.recorded_run import Recording, UnavailableJudge

_NOT_CHOSEN = "no judge was chosen for new verdicts. Give --rag-judge, or record again: run once without --rag-replay."


def choose_replay_judge(settings: Settings, recording: Recording) -> Judge | None:
    """
    The chosen judge, or a stand-in if none was chosen or its key is missing.

    Raises:
        UsageError: The judge lacks a setting other than its key.
    """
    if not settings.judge.is_chosen:
        return UnavailableJudge(None, _NOT_CHOSEN, is_model=any(judge and judge.model for judge in recording.judges))
    if settings.judge.name == "openai" and missing_for(settings):
        return _judge_without_key(settings)
    return choose_judge(settings)


def missing_for_replay(settings: Settings, recording: Recording) -> str:
    """The reason why the recording cannot be judged, and the remedy; empty if it can."""
    problem = missing_for(settings) if settings.judge.name == "openai" and settings.judge.is_chosen else ""
    if not problem or _judge_without_key(settings).identity in recording.judges:
        return ""
    return f"{recording.name} was judged by another judge, and {problem}."


def _judge_without_key(settings: Settings) -> UnavailableJudge:
    # The recorded verdicts need no key, but new ones do.
    known = choose_judge(settings.replace(judge_api_key=DUMMY_API_KEY))
    return UnavailableJudge(getattr(known, "identity", None), f"{missing_for(settings)}.", is_model=True)
