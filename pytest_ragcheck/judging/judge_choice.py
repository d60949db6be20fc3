"""Chooses the judge and the embeddings that the settings name."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from pytest_ragcheck.config.readers import LOCAL, WITH_MODEL, model_and_url
from pytest_ragcheck.config.settings import DUMMY_API_KEY, Settings
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.judging.embeds import Embeds, LocalEmbeddings, NoEmbeddings, OpenAIEmbeddings
from pytest_ragcheck.judging.judgement import Judge
from pytest_ragcheck.judging.local_model import missing_packages_error
from pytest_ragcheck.scores import NO_EMBEDDING_MODEL

NO_RAGAS = 'the ragas judge needs the ragas library, which is an extra: pip install "pytest-ragcheck[ragas]"'


def choose_judge(settings: Settings) -> Judge | None:
    """None for `none`; a `UsageError` if the judge lacks a model, a key or a package."""
    if settings.judge.name == "none":
        return None
    if settings.judge.name == "offline":
        from pytest_ragcheck.judging.offline.offline_judge import OfflineJudge

        return OfflineJudge()
    if problem := missing_for(settings):
        raise UsageError(problem)
    if settings.judge.name == "local":
        from pytest_ragcheck.judging.local_judge import LocalJudge

        return LocalJudge(settings.judge.model or "")
    server: dict[str, Any] = {
        "model": settings.judge.model or "",
        "api_key": settings.judge.api_key or DUMMY_API_KEY,
        "base_url": settings.judge.url,
        "timeout_seconds": settings.endpoint.timeout_seconds,
        "headers": settings.judge.headers,
        "parameters": settings.judge.parameters,
        "secrets": settings.secrets,
    }
    if settings.judge.name == "ragas":
        from pytest_ragcheck.judging.model.chat import Chat
        from pytest_ragcheck.judging.model.model_server import ModelServer
        from pytest_ragcheck.judging.ragas_judge import RagasJudge

        # Retried here: the engine would repeat all requests of the judgement, not only the failed one.
        chat = Chat(ModelServer(**server, max_retries=settings.endpoint.retries))
        return RagasJudge(chat, choose_embeddings(settings))
    from pytest_ragcheck.judging.judge_prompt import load_prompt
    from pytest_ragcheck.judging.model.openai_judge import OpenAIJudge

    # The engine retries, because it limits the requests in flight.
    return OpenAIJudge(**server, prompt=load_prompt(settings.judge.prompt), max_retries=0)


def choose_embeddings(settings: Settings) -> Embeds:
    """A model that is neither local nor has a URL of its own is on the judge's server."""
    if not settings.judge.embedding_model:
        return NoEmbeddings(reason=NO_EMBEDDING_MODEL)
    if settings.judge.embedding_model.startswith(LOCAL):
        return LocalEmbeddings(settings.judge.embedding_model.removeprefix(LOCAL))
    from pytest_ragcheck.judging.model.model_server import ModelServer
    from pytest_ragcheck.judging.model.server_address import EMBEDDING_MODEL

    model, url = model_and_url(settings.judge.embedding_model)
    try:
        server = ModelServer(
            model=model,
            api_key=settings.judge.embedding_api_key or (settings.judge.api_key or "" if url is None else ""),
            base_url=settings.judge.url if url is None else url,
            headers=settings.judge.headers if url is None else None,
            secrets=settings.secrets,
            timeout_seconds=settings.endpoint.timeout_seconds,
            # Retried here, because the engine would also repeat the judge's requests of the same metric.
            max_retries=settings.endpoint.retries,
            kind=EMBEDDING_MODEL,
        )
    except UsageError as error:
        return NoEmbeddings(reason=str(error))
    return OpenAIEmbeddings(server=server)


def missing_for(settings: Settings) -> str:
    """The error about what the chosen judge lacks; empty if nothing."""
    name = settings.judge.name
    if name not in WITH_MODEL:
        return ""
    if not settings.judge.model:
        where = " to a folder or a name on the hub" if name == "local" else ""
        return f"the {name} judge needs a model: set rag_judge_model or RAGCHECK_JUDGE_MODEL{where}"
    if name == "local":
        return missing_packages_error()
    if name == "ragas" and not settings.judge.embedding_model:
        return "the ragas judge needs an embedding model: set rag_embedding_model, or RAGCHECK_EMBEDDING_MODEL"
    if not (settings.judge.api_key or settings.judge.url):
        return (
            f"the {name} judge needs a key: set OPENAI_API_KEY or Settings.of(judge_api_key=...), or rag_judge_url to "
            "a server of your own (its key, if it needs one, is read from RAGCHECK_JUDGE_API_KEY)"
        )
    return NO_RAGAS if name == "ragas" and find_spec("ragas") is None else ""
