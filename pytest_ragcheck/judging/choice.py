"""`Settings` -> the judge that they name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.errors import UsageError

if TYPE_CHECKING:
    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.settings import Settings


def choose_judge(settings: Settings) -> Judge | None:
    """
    The judge; None for `none`.

    Raises:
        UsageError: Something that the judge needs is missing.
    """
    if settings.judge == "none":
        return None
    if settings.judge == "offline":
        from pytest_ragcheck.judging.offline import OfflineJudge  # noqa: PLC0415 - one of several

        return OfflineJudge()
    if problem := missing_for_openai(settings):
        raise UsageError(problem)
    from pytest_ragcheck.judging.openai import OpenAIJudge  # noqa: PLC0415 - one of several
    from pytest_ragcheck.judging.prompt import load_prompt  # noqa: PLC0415 - as above

    return OpenAIJudge(
        model=settings.judge_model or "",
        api_key=settings.judge_api_key or "",
        base_url=settings.judge_url,
        prompt=load_prompt(settings.judge_prompt),
        timeout_seconds=settings.judge_timeout_seconds,
        # The engine repeats what may succeed, for it knows how many requests are under way.
        max_retries=0,
    )


def missing_for_openai(settings: Settings) -> str:
    """What the `openai` judge lacks, and how to give it; empty where it has all it needs."""
    if not settings.judge_model:
        return "the openai judge needs a model: give --rag-judge-model=MODEL, or set RAGCHECK_JUDGE_MODEL"
    if not settings.judge_api_key:
        return (
            "the openai judge needs a key: set OPENAI_API_KEY, or give --rag-judge-url=URL of a server of your own "
            "(its key, if it needs one, is read from RAGCHECK_JUDGE_API_KEY)"
        )
    return ""
