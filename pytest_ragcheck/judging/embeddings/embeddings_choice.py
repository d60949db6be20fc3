"""Chooses the embeddings that the settings name."""

from __future__ import annotations

from pytest_ragcheck.config.readers import LOCAL, model_and_url
from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.judging.embeddings.embeds import Embeds, NoEmbeddings
from pytest_ragcheck.scores.catalogue import NO_EMBEDDING_MODEL


def choose_embeddings(settings: Settings) -> Embeds:
    """
    The embeddings that the settings name.

    A local model runs in this process. Any other model is on the server that the setting names, or else on the judge's.
    """
    if not settings.judge.embedding_model:
        return NoEmbeddings(reason=NO_EMBEDDING_MODEL)
    if settings.judge.embedding_model.startswith(LOCAL):
        from pytest_ragcheck.judging.embeddings.local_embeddings import LocalEmbeddings

        return LocalEmbeddings(settings.judge.embedding_model.removeprefix(LOCAL))
    from pytest_ragcheck.judging.embeddings.server_embeddings import OpenAIEmbeddings
    from pytest_ragcheck.judging.model.model_kind import EMBEDDING_MODEL
    from pytest_ragcheck.judging.model.model_server import ModelServer

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
