"""`Settings` and a recording -> the judge of a replay, which needs no key for what is recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_ragcheck.engine.replay import Unasked
from pytest_ragcheck.judging.choice import choose_judge, missing_for
from pytest_ragcheck.settings import DUMMY_API_KEY

if TYPE_CHECKING:
    from pytest_ragcheck.engine.replay import Recording
    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.settings import Settings

CHOOSE = "no judge was chosen to judge anew. Give --rag-judge, or record anew: run once without --rag-replay."


def choose_replay_judge(settings: Settings, recording: Recording) -> Judge | None:
    """
    The chosen judge; where it cannot be asked, or none was chosen, one that is known by its recorded verdicts.

    Raises:
        UsageError: Something other than its key is missing.
    """
    if not settings.chooses_judge:
        return Unasked(None, CHOOSE, is_model=any(judge and judge.model for judge in recording.judges))
    if settings.judge == "openai" and missing_for(settings):
        return _judge_without_key(settings)
    return choose_judge(settings)


def missing_for_replay(settings: Settings, recording: Recording) -> str:
    """Why nobody could judge what is recorded, and what to give; empty where somebody can, or did."""
    problem = missing_for(settings) if settings.judge == "openai" and settings.chooses_judge else ""
    if not problem or _judge_without_key(settings).identity in recording.judges:
        return ""
    return f"{recording.name} was judged by another judge, and {problem}."


def _judge_without_key(settings: Settings) -> Unasked:
    # Its recorded verdicts can be found without the key, and it cannot give any.
    known = choose_judge(replace(settings, judge_api_key=DUMMY_API_KEY))
    return Unasked(getattr(known, "identity", None), f"{missing_for(settings)}.", is_model=True)
