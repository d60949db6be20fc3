"""Loads models with the transformers library, from a folder or the hub."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A model, its tokenizer, and torch."""

    torch: Any
    tokenizer: Any
    model: Any
    """The encoder only, if the model also has a decoder."""

    @property
    def most_pieces(self) -> int | None:
        """The longest input in tokens; None if neither the model nor its tokenizer has a limit."""
        # Some tokenizers without a limit give a number with thirty digits.
        limits = (self.tokenizer.model_max_length, getattr(self.model.config, "max_position_embeddings", None))
        return min((limit for limit in limits if limit and 0 < limit < 10**9), default=None)


def load(name: str) -> Loaded:
    """
    Loads the model from that folder, or of that name from the hub.

    Raises:
        Exception: The libraries are not installed, or the model does not exist.
    """
    # The imports warn, and a user's `filterwarnings = error` would make that an error.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch: Any = import_module("torch")
        transformers: Any = import_module("transformers")
        tokenizer = transformers.AutoTokenizer.from_pretrained(name)
        model = transformers.AutoModel.from_pretrained(name)
    model.eval()
    encoder = getattr(model, "encoder", model) if hasattr(model, "decoder") else model
    return Loaded(torch=torch, tokenizer=tokenizer, model=encoder)
