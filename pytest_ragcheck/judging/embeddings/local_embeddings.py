"""Computes embeddings by a model in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.judging.embeddings.local_model import LocalModel, file_states
from pytest_ragcheck.judging.embeddings.transformers_model import Loaded, load
from pytest_ragcheck.judging.judgement import digest_of

if TYPE_CHECKING:
    from pytest_ragcheck.judging.embeddings.embeds import Vector


class LocalEmbeddings:
    """The mean of the model's last outputs over all tokens of a text, the default of sentence-transformers."""

    def __init__(self, model: str) -> None:
        self.fingerprint = digest_of([model, file_states(Path(model))])
        """Digest of the name and, for a folder, of the names, sizes and times of its files."""

        self._model = LocalModel(model, setting="rag_embedding_model", load=load)

    async def embed(self, texts: Sequence[str]) -> Mapping[str, Vector]:
        """The vector of each text; text beyond the model's limit is cut off."""
        distinct = list(dict.fromkeys(texts))
        vectors = [await self._model.use(partial(_vector, text=text)) for text in distinct]
        return dict(zip(distinct, vectors, strict=True))


def _vector(loaded: Loaded, *, text: str) -> Vector:
    # Tokenizers reject lone surrogates.
    text = text.encode("utf-8", "replace").decode("utf-8").strip()
    most = loaded.longest_input
    ids = loaded.tokenizer.encode(text, truncation=most is not None, max_length=most)
    torch = loaded.torch
    with torch.no_grad():
        output = loaded.model(torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long))
    return tuple(output.last_hidden_state[0].mean(dim=0).tolist())
