"""A model of the transformers library, from a folder or the hub."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A model, its tokenizer and the library that they compute with."""

    torch: Any
    tokenizer: Any
    model: Any
    """The encoder of one that has a decoder, too."""

    @property
    def most_pieces(self) -> int | None:
        """How many pieces of a text the model reads; None where neither it nor its tokenizer says so."""
        # Some tokenizers know no limit, and say so by a number with thirty digits.
        limits = (self.tokenizer.model_max_length, getattr(self.model.config, "max_position_embeddings", None))
        return min((limit for limit in limits if limit and 0 < limit < 10**9), default=None)


def load(name: str) -> Loaded:
    """
    The model of that folder, or of that name on the hub.

    Raises:
        Exception: Whatever the libraries raise, as where they are not installed or there is no such model.
    """
    # They warn of their own parts, which a user's `filterwarnings = error` would make an error.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch: Any = import_module("torch")
        transformers: Any = import_module("transformers")
        tokenizer = transformers.AutoTokenizer.from_pretrained(name)
        model = transformers.AutoModel.from_pretrained(name)
    model.eval()
    encoder = getattr(model, "encoder", model) if hasattr(model, "decoder") else model
    return Loaded(torch=torch, tokenizer=tokenizer, model=encoder)
