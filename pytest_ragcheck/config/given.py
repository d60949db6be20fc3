from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pytest_ragcheck.config.metric_readers import read_minimum, read_weight
from pytest_ragcheck.config.readers import URL_READERS, model_and_url, read_embedding_model, read_header, read_identity
from pytest_ragcheck.config.table import Setting
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.redaction import shown_url


@dataclass(frozen=True, slots=True)
class Given:
    value: Any
    """A text, or a native value of TOML or Python: a number, a bool, a list, a mapping."""

    origin: str
    """`--rag-url`, `RAGCHECK_URL`, `rag_url in pytest.ini`, or `Settings: url`."""

    folder: Path | None = None
    """The folder of relative paths, if it is not the run's."""


def read_given(setting: Setting, given: Given, own_metrics: Collection[str] = ()) -> Any:
    """
    The value for `Settings`, the same from a text and from a native value.

    Minimums and weights may name *own_metrics*.

    Raises:
        UsageError: The value cannot be read. The text names its origin and the way out.
    """
    if setting.kind == "lines" and isinstance(given.value, Mapping):
        return setting.collect(given.value.items())
    read: Callable[..., Any] = setting.read
    if read in (read_minimum, read_weight):
        read = partial(read, own=own_metrics)
    values = []
    text = ""
    try:
        texts = _texts(setting, given.value)
        for text in texts:
            values.append(read(text.strip()))
    except ValueError as error:
        raise UsageError(f"{given.origin}: {_shown(setting, text)} {error}") from None
    if setting.kind in ("text", "switch"):
        return values[0]
    return setting.collect(values) if values else setting.default


def _texts(setting: Setting, value: Any) -> list[str]:
    if setting.kind in ("text", "switch"):
        if isinstance(value, Mapping):
            return [json.dumps(dict(value), default=str)]
        return [" ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)]
    if isinstance(value, Mapping):
        return [f"{name}={each}" for name, each in value.items()]
    if isinstance(value, str):
        return shlex.split(value) if setting.kind == "words" else [line for line in value.splitlines() if line.strip()]
    return list(map(str, value)) if isinstance(value, Iterable) else [str(value)]


def _shown(setting: Setting, text: str) -> str:
    if setting.read in (read_header, read_identity):
        return "a line"  # it may hold a secret
    model, url = model_and_url(text) if setting.read is read_embedding_model else ("", None)
    if url is not None:
        return repr(f"{model}@{shown_url(url)}")
    return repr(shown_url(text) if setting.read in URL_READERS else text)
