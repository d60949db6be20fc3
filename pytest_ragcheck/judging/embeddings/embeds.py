"""Defines the protocol of embeddings, which map texts to vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from pytest_ragcheck.errors import JudgeError
from pytest_ragcheck.frozen import frozen

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
