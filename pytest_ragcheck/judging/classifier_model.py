"""Loads a token classifier with the transformers library, refuses other models, and makes their inputs."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.errors import JudgeError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.local_model import (
    CONFIG,
    INDEX,
    WEIGHTS,
    Loaded,
    downloaded,
    imported,
    missing_weights,
    quiet_loading,
)
from pytest_ragcheck.package_text import package_text

if TYPE_CHECKING:
    Offsets = Callable[[str], Sequence[tuple[int, int]]]
    """Returns the first and the last character of each token of a text."""

# Share of a context's piece that the next piece repeats, so that a sentence is whole in one of them.
_REPEATED = 8
# `passage 12: ` and the line break.
_TOKENS_OF_A_LINE = 6
_SENTENCE_END = re.compile(r"[.!?]\s+|[。！？]|\n")
_SPACE = re.compile(r"\s+")


@frozen
class ClaimedAnswer:
    """An answer, and the texts that may support it, as a classifier reads them."""

    question: str
    contexts: Sequence[str]
    """At least one."""

    answer: str


@frozen
class Window:
    """One input of the model: all or a part of the answer, with all or some of the contexts."""

    prompt: str
    part: str
    start: int
    """Where the part starts in the answer."""


def classifier_prompt(question: str, passages: Sequence[str]) -> str:
    """
    Source: the prompt for question answering in RAGTruth (Niu et al., 2024), whose contexts LettuceDetect numbers. The
    models are trained on this text.
    """
    numbered = "\n".join(f"passage {number}: {text}" for number, text in enumerate(passages, 1))
    prompt = package_text("judging/prompts/local.txt").rstrip()
    return prompt.format(question=question, number=len(passages), passages=numbered)


def windows(claimed: ClaimedAnswer, offsets: Offsets, *, room: int) -> list[Window]:
    """
    Windows that combine each part of the answer with each part of the contexts.

    Contexts that do not fit together are spread over several windows, and one that is too long alone is cut into
    overlapping pieces. An answer that would take more than half of the room is cut too, at ends of sentences if
    possible. Nothing is left out. *room* is the most tokens of a window, without special tokens.

    Raises:
        JudgeError: The question leaves too little room.
    """
    taken = len(offsets(classifier_prompt(claimed.question, [""])))
    left = room - taken
    if left < room // 4:
        raise JudgeError(
            f"the local judge cannot read a question of {len(offsets(claimed.question))} tokens: its model takes "
            f"{room} tokens at once, and the prompt with the question has {taken}, but answer and contexts need a "
            "quarter. Choose a model with a longer input as rag_judge_model"
        )
    found = []
    for start, end in _pieces(claimed.answer, offsets, most=max(1, left // 2), repeated=0):
        part = claimed.answer[start:end]
        for group in _groups(claimed.contexts, offsets, most=max(1, left - len(offsets(part)))):
            prompt = classifier_prompt(claimed.question, group)
            found.append(Window(prompt=prompt, part=part, start=start))
    return found


def _groups(contexts: Sequence[str], offsets: Offsets, *, most: int) -> Iterator[list[str]]:
    # Whole contexts, or pieces of them, with at most that many tokens.
    group: list[str] = []
    taken = 0
    longest = max(1, most - _TOKENS_OF_A_LINE)
    for context in contexts:
        for start, end in _pieces(context, offsets, most=longest, repeated=longest // _REPEATED):
            text = context[start:end]
            size = len(offsets(text)) + _TOKENS_OF_A_LINE
            if group and taken + size > most:
                yield group
                group, taken = [], 0
            group.append(text)
            taken += size
    if group:
        yield group


def _pieces(text: str, offsets: Offsets, *, most: int, repeated: int) -> Iterator[tuple[int, int]]:
    # Each piece repeats the last *repeated* tokens of the one before.
    starts = [start for start, _ in offsets(text)]
    first = start = 0
    while first + most < len(starts):
        end = _cut(text, starts[first + most // 2], starts[first + most])
        if end > start:  # several tokens may make up one character
            yield start, end
        first = max(first + 1, bisect_left(starts, end) - repeated)
        start = min(end, starts[first]) if repeated else end
    yield start, len(text)


def _cut(text: str, earliest: int, latest: int) -> int:
    for pattern in (_SENTENCE_END, _SPACE):
        ends = [match.end() for match in pattern.finditer(text, earliest, latest)]
        if ends:
            return ends[-1]
    return latest


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
