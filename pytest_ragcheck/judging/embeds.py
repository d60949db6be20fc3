"""Defines the protocol of embeddings, and those of a server and of a local model."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pytest_ragcheck.errors import JudgeError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.judgement import digest_of
from pytest_ragcheck.judging.local_model import Loaded, LocalModel, file_states, load
from pytest_ragcheck.judging.model.completion import OtherContent, check_for_error, member, note_use, reported_use

if TYPE_CHECKING:
    from pytest_ragcheck.judging.model.model_server import ModelServer

_LARGEST = sys.float_info.max

Vector = tuple[float, ...]


class Embeds(Protocol):
    async def embed(self, texts: Sequence[str]) -> Mapping[str, Vector]:
        """
        The vector of each text.

        Raises:
            JudgeError: The backend returned no vectors.
        """
        ...


@frozen
class NoEmbeddings:
    """Replaces the embeddings if none are configured: every call fails with the same reason."""

    reason: str

    async def embed(self, texts: Sequence[str]) -> Mapping[str, Vector]:  # noqa: ARG002 - the protocol's argument
        raise JudgeError(self.reason)


@frozen
class OpenAIEmbeddings:
    server: ModelServer

    @property
    def fingerprint(self) -> str:
        return self.server.fingerprint

    async def embed(self, texts: Sequence[str]) -> Mapping[str, Vector]:
        """By one request without repeated texts; the vectors are finite and of equal length."""
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


class LocalEmbeddings:
    """The mean of the model's last outputs over all tokens of a text, the default of sentence-transformers."""

    def __init__(self, model: str) -> None:
        self.fingerprint = digest_of([model, file_states(Path(model))])
        """Digest of the name and, for a folder, of the names, sizes and times of its files."""

        self._model = LocalModel(model, setting="rag_embedding_model", load=load)

    async def embed(self, texts: Sequence[str]) -> Mapping[str, Vector]:
        """Text beyond the model's limit is cut off."""
        distinct = list(dict.fromkeys(texts))
        vectors = [await self._model.use(partial(_mean_vector, text=text)) for text in distinct]
        return dict(zip(distinct, vectors, strict=True))


def _mean_vector(loaded: Loaded, *, text: str) -> Vector:
    # Tokenizers reject lone surrogates.
    text = text.encode("utf-8", "replace").decode("utf-8").strip()
    most = loaded.longest_input
    ids = loaded.tokenizer.encode(text, truncation=most is not None, max_length=most)
    torch = loaded.torch
    with torch.no_grad():
        output = loaded.model(torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long))
    return tuple(output.last_hidden_state[0].mean(dim=0).tolist())
