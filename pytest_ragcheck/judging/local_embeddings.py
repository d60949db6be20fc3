"""Texts -> vectors, by a model in this process: no server, no key."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.errors import JudgeError, MeasurementError
from pytest_ragcheck.judging.local_model import LocalModel
from pytest_ragcheck.judging.material import digest_of
from pytest_ragcheck.judging.transformers_model import load

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_ragcheck.judging.embeddings import Vector


class LocalEmbeddings:
    """
    The mean of the model's last outputs over all pieces of a text, as sentence-transformers has it by default.

    Args:
        model: A folder or a name on the hub.
    """

    def __init__(self, model: str) -> None:
        self.fingerprint = digest_of([model, _state_of(Path(model))])
        """Digest of the name and, of a folder, of its files' names, sizes and times."""

        self._model = LocalModel(model, setting="rag_embedding_model", load=_Reader)

    async def embed(self, texts: Sequence[str]) -> Mapping[str, Vector]:
        """
        The vector of every text; what is longer than the model reads is cut off.

        Raises:
            JudgeError: The model cannot be loaded.
        """
        distinct = list(dict.fromkeys(texts))
        try:
            vectors = [await self._model.use(partial(_Reader.vector, text=text)) for text in distinct]
        except MeasurementError as error:
            raise JudgeError(str(error)) from error
        return dict(zip(distinct, vectors, strict=True))


def _state_of(folder: Path) -> list[tuple[str, int, int]]:
    if not folder.is_dir():
        return []
    stats = ((path.name, path.stat()) for path in sorted(folder.rglob("*")))
    return [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats]


class _Reader:
    """A model's last outputs."""

    def __init__(self, name: str) -> None:
        self._loaded = load(name)

    def vector(self, text: str) -> Vector:
        torch = self._loaded.torch
        # A lone surrogate is no text to a tokenizer.
        text = text.encode("utf-8", "replace").decode("utf-8").strip()
        most = self._loaded.most_pieces
        ids = self._loaded.tokenizer.encode(text, truncation=most is not None, max_length=most)
        with torch.no_grad():
            output = self._loaded.model(torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long))
        return tuple(output.last_hidden_state[0].mean(dim=0).tolist())
