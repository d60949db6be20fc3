"""Defines the protocol of embeddings, those of a server, and the use of models in this process."""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from pytest_ragcheck.concurrency.tasks import in_thread
from pytest_ragcheck.errors import JudgeError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.model.completion import OtherContent, check_for_error, member, note_use, reported_use
from pytest_ragcheck.scores import LOCAL_PACKAGES

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


T = TypeVar("T")
M = TypeVar("M")

INSTALL_LOCAL = 'pip install "pytest-ragcheck[local]"'

_LONGEST_WAIT_SECONDS = 60.0
"""Longest wait at the end of the process for a model that is being loaded or used."""


def missing_packages() -> str:
    """The packages of local models that are not installed, joined by "and"; empty if none."""
    return " and ".join(package for package in LOCAL_PACKAGES if find_spec(package) is None)


def missing_packages_error() -> str:
    """The error text about missing packages of the local judge; empty if all are installed."""
    missing = missing_packages()
    return missing and f"the local judge needs {missing}, not installed here: {INSTALL_LOCAL}"


def file_states(folder: Path) -> list[tuple[str, int, int]]:
    """The names, sizes and times of the folder's files; empty if there is no such folder."""
    if not folder.is_dir():
        return []
    stats = ((path.name, path.stat()) for path in sorted(folder.rglob("*")))
    return [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats]


class LocalModel(Generic[M]):
    """
    A model that is loaded on first use. If loading fails, every use fails with the same `JudgeError`.

    The error text names the *setting* that has the name.
    """

    def __init__(self, name: str, *, setting: str, load: Callable[[str], M]) -> None:
        self._name = name
        self._setting = setting
        self._load = load
        self._turn = threading.Lock()
        self._loaded: M | None = None
        self._problem = ""
        # A thread that is in torch when the interpreter ends would abort the process.
        weakref.finalize(self, self._turn.acquire, timeout=_LONGEST_WAIT_SECONDS)

    async def use(self, function: Callable[[M], T]) -> T:
        """The result of `in_turn`, computed in a thread."""
        return await in_thread(partial(self.in_turn, function))

    def in_turn(self, function: Callable[[M], T]) -> T:
        """The result of the function with the model, computed in this thread after other callers."""
        with self._turn:
            return function(self._loaded_model())

    def _loaded_model(self) -> M:
        if self._problem:
            # Not loaded again, because the hub may take minutes to fail.
            raise JudgeError(self._problem)
        if self._loaded is None:
            try:
                self._loaded = self._load(self._name)
            except Exception as error:
                self._problem = (
                    f"the model {self._name!r} of {self._setting} cannot be loaded: "
                    f"{' '.join(str(error).split())[:300]}"
                )
                raise JudgeError(self._problem) from error
        return self._loaded
