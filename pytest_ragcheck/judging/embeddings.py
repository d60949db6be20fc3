"""Texts -> vectors, by whatever OpenAI-compatible server makes them, or by a local model."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from pytest_ragcheck.errors import JudgeError, UsageError
from pytest_ragcheck.judging.completion import OtherContent, member
from pytest_ragcheck.judging.model_server import ModelServer
from pytest_ragcheck.judging.role import EMBEDDING_MODEL
from pytest_ragcheck.judging.usage import note_use, use_of
from pytest_ragcheck.metrics.catalogue import NO_EMBEDDING_MODEL
from pytest_ragcheck.option_values import LOCAL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_ragcheck.settings import Settings

Vector = tuple[float, ...]

_LARGEST = sys.float_info.max


class Embeds(Protocol):
    """The seam to embeddings."""

    async def embed(self, texts: Sequence[str]) -> Mapping[str, Vector]:
        """The vector of every text, or a `JudgeError`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIEmbeddings:
    """Asks `/embeddings` of one server for the vectors of one model."""

    server: ModelServer

    @property
    def fingerprint(self) -> str:
        """Digest of model and address."""
        return self.server.fingerprint

    async def embed(self, texts: Sequence[str]) -> Mapping[str, Vector]:
        """
        The vector of every text, by one request; a text that is given twice is sent once.

        Raises:
            JudgeUnavailable: the server gave no embeddings, or not one finite vector of one length for each text.
        """
        distinct = list(dict.fromkeys(texts))
        vectors = await self.server.call(partial(self._ask, distinct))
        return dict(zip(distinct, vectors, strict=True))

    async def aclose(self) -> None:
        """Closes the connections."""
        await self.server.aclose()

    async def _ask(self, texts: list[str]) -> list[Vector]:
        # The format is said since the openai package would ask for base64, which not every server knows.
        body = {"model": self.server.model, "input": texts, "encoding_format": "float"}
        reply = await self.server.embed(body)
        use = use_of(reply, model=self.server.model, url=self.server.shown_url)
        note_use(replace(use, output_tokens=0))  # there is no completion to count
        return _vectors(reply, len(texts))


@dataclass(frozen=True, slots=True, kw_only=True)
class NoEmbeddings:
    """What stands where there are none, and says why."""

    reason: str

    async def embed(self, texts: Sequence[str]) -> Mapping[str, Vector]:  # noqa: ARG002 - of the seam
        """Raises the reason as a `JudgeError`."""
        raise JudgeError(self.reason)


def choose_embeddings(settings: Settings) -> Embeds:
    """The embeddings that the settings name: a local model's, or on the judge's server unless they name another."""
    if not settings.embedding_model:
        return NoEmbeddings(reason=NO_EMBEDDING_MODEL)
    if settings.embedding_model.startswith(LOCAL):
        from pytest_ragcheck.judging.local_embeddings import LocalEmbeddings  # noqa: PLC0415 - one kind of several

        return LocalEmbeddings(settings.embedding_model.removeprefix(LOCAL))
    own_server = settings.embedding_url is not None
    try:
        server = ModelServer(
            model=settings.embedding_model,
            api_key=settings.embedding_api_key or ("" if own_server else settings.judge_api_key or ""),
            base_url=settings.embedding_url if own_server else settings.judge_url,
            timeout_seconds=settings.judge_timeout_seconds,
            # Here, and not by the engine: what the judge found meanwhile is not to be asked for again.
            max_retries=settings.retries,
            role=EMBEDDING_MODEL,
        )
    except UsageError as error:
        return NoEmbeddings(reason=str(error))
    return OpenAIEmbeddings(server=server)


def _vectors(reply: Any, expected: int) -> list[Vector]:
    """The vectors in the order of the texts."""
    if isinstance(reply, str):
        raise OtherContent("text", sent=reply)
    rows = member(reply, "data")
    if not isinstance(rows, list):
        raise OtherContent("JSON that holds no embeddings")
    if len(rows) != expected:
        raise OtherContent(f"{len(rows)} embeddings for {expected} texts")
    # Some servers leave the index out, and keep the order.
    indices = [member(row, "index") for row in rows]
    if sorted(index for index in indices if isinstance(index, int)) == list(range(expected)):
        rows = sorted(rows, key=lambda row: int(member(row, "index")))
    vectors = [_vector(member(row, "embedding")) for row in rows]
    if len(set(map(len, vectors))) > 1:
        raise OtherContent("embeddings of different lengths")
    return vectors


def _vector(given: Any) -> Vector:
    numbers: list[Any] = given if isinstance(given, list) and given else [None]
    # Not by math.isfinite, which fails for a whole number of more digits than a float has room for.
    if not all(isinstance(x, int | float) and not isinstance(x, bool) and abs(x) <= _LARGEST for x in numbers):
        raise OtherContent("an embedding that is no list of numbers")
    return tuple(map(float, numbers))
