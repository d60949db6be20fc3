"""Loads a token classifier with the transformers library, and refuses other models."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from pytest_ragcheck.judging.embeddings.transformers_model import (
    CONFIG,
    INDEX,
    WEIGHTS,
    Loaded,
    downloaded,
    imported,
    missing_weights,
    quiet_loading,
)

EXAMPLE = "KRLabsOrg/lettucedect-base-modernbert-en-v1"
_TOKENIZER, _TOKENIZER_CONFIG = "tokenizer.json", "tokenizer_config.json"


def load_classifier(name: str) -> Loaded:
    """
    Loads the model from the folder *name*, or by this name from the hub.

    Code from the model's folder is never run, and weights are read from safetensors only.

    Raises:
        ValueError: The model is not a token classifier with two labels, or its files cannot be read.
        OSError: There is no such folder, and the hub has no model of that name or cannot be reached.
    """
    with quiet_loading():
        torch, transformers = imported()
        folder = _folder(name)
        config = _config(transformers, folder)
        tokenizer = _tokenizer(transformers, folder)
        # With half precision a probability would depend on the padding.
        model = _model(transformers, folder, config, dtype=torch.float32)
    return Loaded(torch=torch, tokenizer=tokenizer, model=model.eval())


def _folder(name: str) -> Path:
    folder = downloaded(name)
    if folder is not None and (folder == Path(name) or (folder / _TOKENIZER).is_file()):
        return folder
    if Path(name).is_absolute() or name.startswith((".", "~")) or name.count("/") > 1:
        raise OSError(f"there is no such folder. Name a folder, or a model on the hub such as {EXAMPLE}")
    hub = import_module("huggingface_hub")
    files = [CONFIG, WEIGHTS, INDEX, "model-*.safetensors", "*token*", "vocab*", "merges.txt"]
    try:
        return Path(hub.snapshot_download(name, allow_patterns=files))
    except Exception as error:
        raise OSError(
            f"there is no such folder, and the hub gave no such model ({type(error).__name__}: {_words(error)[:80]}). "
            f"Name a folder, or download a model such as {EXAMPLE} once with a network"
        ) from error


def _config(transformers: Any, folder: Path) -> Any:
    # The configuration, checked before weights are loaded.
    missing = [file for file in (CONFIG, _TOKENIZER) if not (folder / file).is_file()]
    # Without the tokenizer's file, transformers makes a tokenizer without words.
    if missing := missing or missing_weights(folder):
        raise ValueError(
            f"its folder has no {missing[0]}. Name a token classifier with that file, such as {EXAMPLE} (pickled "
            "weights are not read)"
        )
    written = _read_object(folder / CONFIG)
    if (kind := written.get("model_type")) not in list(transformers.CONFIG_MAPPING):
        raise ValueError(
            f"transformers {transformers.__version__} does not have its model_type {kind!r}, and "
            "code from a model's folder is never run. Choose another model, or install a newer transformers"
        )
    kinds = written.get("architectures") or ["none"]
    kinds = list(map(str, kinds if isinstance(kinds, list) else [kinds]))
    if not any(kind.endswith("ForTokenClassification") for kind in kinds):
        raise ValueError(
            f"it is not a token classifier (its architectures: {', '.join(kinds)}). "
            f"Choose one that marks unsupported words, such as {EXAMPLE}"
        )
    if written.get("quantization_config"):
        raise ValueError("its weights are quantized, which the local judge does not read. Choose the original model")
    config = _read(CONFIG, lambda: transformers.AutoConfig.from_pretrained(folder, trust_remote_code=False))
    if config.num_labels != 2:
        raise ValueError(
            f"it has {config.num_labels} labels, not the two of a model that marks unsupported words (0 supported, "
            f"1 not). Choose a model such as {EXAMPLE}"
        )
    # A configuration may name attention code on the hub, or a file of pickled weights.
    config._attn_implementation = config.transformers_weights = None
    return config


def _tokenizer(transformers: Any, folder: Path) -> Any:
    settings = _read_object(folder / _TOKENIZER_CONFIG) if (folder / _TOKENIZER_CONFIG).is_file() else {}
    if settings.get("auto_map"):
        raise ValueError("its tokenizer needs code from its folder, which is never run. Choose another model")
    tokenizer = _read(_TOKENIZER, lambda: transformers.AutoTokenizer.from_pretrained(folder, trust_remote_code=False))
    if not tokenizer.is_fast:
        raise ValueError(
            f"its tokenizer {type(tokenizer).__name__} does not map tokens to characters. Choose a model with a fast "
            f"tokenizer, such as {EXAMPLE}"
        )
    return tokenizer


def _model(transformers: Any, folder: Path, config: Any, *, dtype: Any) -> Any:
    model, report = _read(
        WEIGHTS,
        lambda: transformers.AutoModelForTokenClassification.from_pretrained(
            folder,
            config=config,
            dtype=dtype,
            use_safetensors=True,
            ignore_mismatched_sizes=True,  # reported below with their names, which transformers only logs
            output_loading_info=True,
            trust_remote_code=False,
        ),
    )
    if missing := sorted(report["missing_keys"]):
        raise ValueError(f"its weights lack {', '.join(missing[:3])}, so it is not a trained token classifier")
    if report["mismatched_keys"]:
        key = min(each if isinstance(each, str) else each[0] for each in report["mismatched_keys"])
        raise ValueError(f"its weights {key} do not have the shape that {CONFIG} says. Download the model again")
    return model


def _read(file: str, read: Callable[[], Any]) -> Any:
    try:
        return read()
    except Exception as error:
        raise ValueError(
            f"its {file} cannot be read: {type(error).__name__}: {_words(error)[:130]}. Download the model again (a "
            "clone by git needs git-lfs)"
        ) from error


def _read_object(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = _read(path.name, lambda: dict(json.loads(path.read_bytes())))
    return found


def _words(error: Exception) -> str:
    return " ".join(str(error).split())
