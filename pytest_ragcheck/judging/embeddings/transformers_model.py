"""Loads models with the transformers library, from a folder or the hub."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
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
    with quiet_loading():
        torch, transformers = imported()
        tokenizer = transformers.AutoTokenizer.from_pretrained(name)
        model = transformers.AutoModel.from_pretrained(name)
    model.eval()
    encoder = getattr(model, "encoder", model) if hasattr(model, "decoder") else model
    return Loaded(torch=torch, tokenizer=tokenizer, model=encoder)


def imported() -> tuple[Any, Any]:
    """Torch and transformers, which are extras."""
    return import_module("torch"), import_module("transformers")


@contextmanager
def quiet_loading() -> Iterator[None]:
    """Load within this block without warnings and progress bars, which would go into a user's test output."""
    # The imports warn, and a user's `filterwarnings = error` would make that an error.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging, hub = import_module("transformers.utils.logging"), import_module("huggingface_hub.utils.logging")
        shows_bars, level, hubs_level = logging.is_progress_bar_enabled(), logging.get_verbosity(), hub.get_verbosity()
        logging.disable_progress_bar()
        logging.set_verbosity_error()
        hub.set_verbosity_error()
        try:
            yield
        finally:
            logging.set_verbosity(level)
            hub.set_verbosity(hubs_level)
            if shows_bars:
                logging.enable_progress_bar()
