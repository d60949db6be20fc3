"""Loads models with the transformers library, from a folder or the hub, and computes embeddings by one."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.embeds import LocalModel, Vector, file_states
from pytest_ragcheck.judging.judgement import digest_of

CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"


@frozen
class Loaded:
    torch: Any
    tokenizer: Any
    model: Any
    """The encoder only, if the model also has a decoder."""

    @property
    def longest_input(self) -> int | None:
        """The longest input in tokens; None if neither the model nor its tokenizer has a limit."""
        limits = [self.tokenizer.model_max_length, getattr(self.model.config, "max_position_embeddings", None)]
        # RoBERTa's positions begin after the padding index, so that only 512 of 514 are for tokens.
        for name, module in self.model.named_modules():
            if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
                limits.append(module.num_embeddings - module.padding_idx - 1)
        # Without a limit, some tokenizers have a number of thirty digits, and some models -1.
        return min((int(limit) for limit in limits if limit and 0 < limit < 10**9), default=None)


def load(name: str) -> Loaded:
    """The model in the folder *name*, or of this name on the hub; all errors of the libraries propagate."""
    with quiet_loading():
        torch, transformers = imported()
        # Given a name, transformers requests each file from the hub again, for minutes without a network.
        place = downloaded(name) or name
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, trust_remote_code=False)
        model = transformers.AutoModel.from_pretrained(place, trust_remote_code=False)
    # Without the tokenizer's files, transformers makes a tokenizer without words.
    if len(tokenizer) <= len(set(tokenizer.all_special_tokens)):
        raise ValueError("it has no tokenizer. Save tokenizer.json beside its config.json")
    model.eval()
    encoder = getattr(model, "encoder", model) if hasattr(model, "decoder") else model
    return Loaded(torch=torch, tokenizer=tokenizer, model=encoder)


def imported() -> tuple[Any, Any]:
    """Torch and transformers, which are extras; a worker of pytest-xdist takes its share of the CPUs."""
    torch = import_module("torch")
    limit_threads(torch)
    return torch, import_module("transformers")


def limit_threads(torch: Any) -> None:
    """
    Lower torch's threads to the share of this worker of pytest-xdist, at least one.

    The number is kept if the user chose it, by `OMP_NUM_THREADS`, `MKL_NUM_THREADS` or `torch.set_num_threads`.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    cpus = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    # Torch's default is the number of CPUs, or of cores, each of up to two CPUs.
    is_default = torch.get_num_threads() in (cpus, cpus // 2)
    if workers > 1 and is_default and os.environ.keys().isdisjoint(("OMP_NUM_THREADS", "MKL_NUM_THREADS")):
        torch.set_num_threads(min(torch.get_num_threads(), max(1, cpus // workers)))


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
        config = hub.try_to_load_from_cache(name, CONFIG)
    except import_module("huggingface_hub.errors").HFValidationError:
        return None
    if not isinstance(config, str):
        return None
    folder = Path(config).parent
    try:
        return None if missing_weights(folder) else folder
    except ValueError:
        return folder  # loading reports why the index cannot be read


def missing_weights(folder: Path) -> list[str]:
    """
    The names of weight files that the folder lacks: `model.safetensors`, or shards of its index.

    Raises:
        ValueError: The index cannot be read, or names a file outside of the folder or of another kind.
    """
    if (folder / WEIGHTS).is_file():
        return []
    if not (folder / INDEX).is_file():
        return [WEIGHTS]
    try:
        shards = sorted({*map(str, json.loads((folder / INDEX).read_bytes())["weight_map"].values())})
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"its {INDEX} has no readable weight_map ({error!r}). Download the model again") from error
    for shard in shards:
        # Weights of other kinds are pickles, which can run code.
        if Path(shard).name != shard or not shard.endswith(".safetensors"):
            raise ValueError(
                f"its {INDEX} names {shard!r}, not a file of the folder whose name ends in .safetensors. "
                "Choose another model"
            )
    return [shard for shard in shards if not (folder / shard).is_file()]


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
