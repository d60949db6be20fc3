"""The names of judges in a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.config.readers import WITH_MODEL

if TYPE_CHECKING:
    from pytest_ragcheck.config.settings import Settings
    from pytest_ragcheck.judging.judgement import JudgeIdentity


def judge_words(judge: JudgeIdentity) -> str:
    """A judge in a few words, such as `offline (offline-4)` or `openai (gpt-5-mini, en-2)`."""
    details = ", ".join(filter(None, (judge.model, judge.prompt_version, judge.url)))
    note = " - word matching, no language model" if judge.kind == "offline" else ""
    return f"{judge.kind}{f' ({details})' if details else ''}{note}"


def judge_name(settings: Settings) -> str:
    """The judge that the settings name, with its model; empty if they name none."""
    if settings.run.replay and not settings.judge.is_chosen:
        return "as recorded"
    model = settings.judge.model if settings.judge.name in WITH_MODEL else None
    return " ".join(filter(None, (settings.judge.name, model)))
