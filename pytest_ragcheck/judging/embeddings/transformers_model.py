"""Loads models with the transformers library, from a folder or the hub."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

CONFIG, WEIGHTS = "config.json", "model.safetensors"


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
        # By its name, transformers asks the hub about every file again, for minutes if there is no network.
        place = downloaded(name) or name
        tokenizer = transformers.AutoTokenizer.from_pretrained(place)
        model = transformers.AutoModel.from_pretrained(place)
    # Without a tokenizer's files, transformers makes one that knows no words.
    if len(tokenizer) <= len(set(tokenizer.all_special_tokens)):
        raise ValueError("it has no tokenizer. Save tokenizer.json beside its config.json")
    model.eval()
    encoder = getattr(model, "encoder", model) if hasattr(model, "decoder") else model
    return Loaded(torch=torch, tokenizer=tokenizer, model=encoder)


def imported() -> tuple[Any, Any]:
    """Torch and transformers, which are extras."""
    return import_module("torch"), import_module("transformers")


def downloaded(name: str) -> Path | None:
    """
    The folder of the model, on its own or in the hub's cache; None if it has to be downloaded.

    A model is used as it was downloaded, without a request, until it is deleted from the cache.
    """
    folder = Path(name)
    if folder.is_dir():
        return folder
    hub = import_module("huggingface_hub")
    try:
        found = [hub.try_to_load_from_cache(name, file) for file in (CONFIG, WEIGHTS)]
    except import_module("huggingface_hub.errors").HFValidationError:
        return None
    return Path(str(found[0])).parent if all(isinstance(path, str) for path in found) else None


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
