"""Chooses the embeddings that the settings name, and asks a server for them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.config.readers import LOCAL, model_and_url
from pytest_ragcheck.config.settings import Settings
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.embeddings.embeds import Embeds, NoEmbeddings, Vector
from pytest_ragcheck.judging.model.completion import OtherContent, check_for_error, member
from pytest_ragcheck.judging.model.usage import note_use, reported_use
from pytest_ragcheck.scores.catalogue import NO_EMBEDDING_MODEL

if TYPE_CHECKING:
    from pytest_ragcheck.judging.model.model_server import ModelServer


_LARGEST = sys.float_info.max


def choose_embeddings(settings: Settings) -> Embeds:
    """
    The embeddings that the settings name.

    A local model runs in this process. Any other model is on the server that the setting names, or else on the judge's.
    """
    if not settings.judge.embedding_model:
        return NoEmbeddings(reason=NO_EMBEDDING_MODEL)
    if settings.judge.embedding_model.startswith(LOCAL):
        from pytest_ragcheck.judging.embeddings.transformers_model import LocalEmbeddings

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


@frozen
class OpenAIEmbeddings:
    server: ModelServer

    @property
    def fingerprint(self) -> str:
        return self.server.fingerprint

    async def embed(self, texts: Sequence[str]) -> Mapping[str, Vector]:
        """The vector of each text, all finite and of equal length, by one request without repeated texts."""
        distinct = list(dict.fromkeys(texts))
        vectors = await self.server.call(partial(self._ask, distinct))
        return dict(zip(distinct, vectors, strict=True))

    async def aclose(self) -> None:
        await self.server.aclose()

    async def _ask(self, texts: list[str]) -> list[Vector]:
        reply = await self.server.post({"model": self.server.model, "input": texts, "encoding_format": "float"})
        use = reported_use(reply, model=self.server.model, url=self.server.shown_url)
        note_use(replace(use, output_tokens=0))  # embeddings have no completion tokens
        check_for_error(reply)
        return _vectors(reply, len(texts))


def _vectors(reply: Any, expected: int) -> list[Vector]:
    rows = member(reply, "data")
    if not isinstance(rows, list):
        raise OtherContent("JSON without embeddings")
    if len(rows) != expected:
        raise OtherContent(f"{len(rows)} embeddings for {expected} texts")
    # Some servers leave out the index and keep the order.
    indices = [member(row, "index") for row in rows]
    if sorted(index for index in indices if isinstance(index, int)) == list(range(expected)):
        rows = sorted(rows, key=lambda row: int(member(row, "index")))
    vectors = [_vector(member(row, "embedding")) for row in rows]
    if len(set(map(len, vectors))) > 1:
        raise OtherContent("embeddings of different lengths")
    return vectors


def _vector(given: Any) -> Vector:
    numbers: list[Any] = given if isinstance(given, list) and given else [None]
    # math.isfinite raises on integers that are too large for a float.
    if not all(isinstance(x, int | float) and not isinstance(x, bool) and abs(x) <= _LARGEST for x in numbers):
        raise OtherContent("an embedding that is not a list of numbers")
    return tuple(map(float, numbers))
