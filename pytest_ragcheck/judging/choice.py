"""`Settings` -> the judge that they name."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from pytest_ragcheck.errors import UsageError

if TYPE_CHECKING:
    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.settings import Settings


NO_RAGAS = "the ragas judge needs the ragas library, which is an extra: pip install 'pytest-ragcheck[ragas]'"


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
    if problem := missing_for(settings):
        raise UsageError(problem)
    if settings.judge == "ragas":
        return _ragas(settings)
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


def _ragas(settings: Settings) -> Judge:
    from pytest_ragcheck.judging.chat import Chat  # noqa: PLC0415 - one judge of several
    from pytest_ragcheck.judging.embeddings import choose_embeddings  # noqa: PLC0415 - as above
    from pytest_ragcheck.judging.model_server import ModelServer  # noqa: PLC0415 - as above
    from pytest_ragcheck.judging.ragas import RagasJudge  # noqa: PLC0415 - as above

    server = ModelServer(
        model=settings.judge_model or "",
        api_key=settings.judge_api_key or "",
        base_url=settings.judge_url,
        timeout_seconds=settings.judge_timeout_seconds,
        # Here: the engine would repeat all the requests of a judgement, and not the one that failed.
        max_retries=settings.retries,
    )
    return RagasJudge(Chat(server), choose_embeddings(settings))


def missing_for(settings: Settings) -> str:
    """What the judge that the settings name lacks, and how to give it; empty where it has all it needs."""
    if settings.judge not in {"openai", "ragas"}:
        return ""
    if not settings.judge_model:
        return f"the {settings.judge} judge needs a model: give --rag-judge-model=MODEL, or set RAGCHECK_JUDGE_MODEL"
    if settings.judge == "ragas" and not settings.embedding_model:
        return "the ragas judge needs an embedding model: set rag_embedding_model, or RAGCHECK_EMBEDDING_MODEL"
    if not settings.judge_api_key:
        return (
            f"the {settings.judge} judge needs a key: set OPENAI_API_KEY, or give --rag-judge-url=URL of a server of "
            "your own (its key, if it needs one, is read from RAGCHECK_JUDGE_API_KEY)"
        )
    if settings.judge == "ragas" and find_spec("ragas") is None:
        return NO_RAGAS
    return ""
