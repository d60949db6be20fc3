"""Loads models that run in this process, and lets one caller at a time use each."""

from __future__ import annotations

import json
import os
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, TypeVar

from pytest_ragcheck.concurrency.tasks import in_thread
from pytest_ragcheck.errors import JudgeError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.scores import LOCAL_PACKAGES

T = TypeVar("T")
M = TypeVar("M")

INSTALL_LOCAL = 'pip install "pytest-ragcheck[local]"'

_LONGEST_WAIT_SECONDS = 60.0
"""Longest wait at the end of the process for a model that is being loaded or used."""


def missing_packages() -> str:
    """Those of local models, joined by "and"; empty if all are installed."""
    return " and ".join(package for package in LOCAL_PACKAGES if find_spec(package) is None)


def missing_packages_error() -> str:
    """The text of an error about them; empty if all are installed."""
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
