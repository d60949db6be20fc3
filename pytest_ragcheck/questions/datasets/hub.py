"""The `datasets` library loads the rows of a dataset by name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pytest_ragcheck.errors import DatasetError
from pytest_ragcheck.questions.datasets.standard_dataset import Hub, Row


def is_installed() -> bool:
    """Return whether the `datasets` library is installed, without importing the library."""
    try:
        return find_spec("datasets") is not None
    except ValueError:  # raised for a module in sys.modules that has no spec
        return False


def rows_of_hub(hub: Hub, *, subset: str | None, split: str) -> Iterator[Row]:
    """
    Yield the rows of a split; the library downloads and caches the split.

    Raises:
        DatasetError: The library cannot load the split; the text quotes the library's error.
    """
    # By default, a test run sends no usage statistics.
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    load_dataset: Any = import_module("datasets").load_dataset  # optional, needed for the hub only
    place = f"{hub.repository} ({', '.join(filter(None, (subset or hub.config, split)))})"
    try:
        table = load_dataset(hub.repository, subset or hub.config, split=split, revision=hub.revision)
    except Exception as error:  # the library's errors have no common class
        reason = " ".join(str(error).split())[:300]
        raise DatasetError(
            f"{place}: cannot be loaded from the hub ({type(error).__name__}: {reason}). "
            f"Get the file by other means, and give its path: NAME=PATH."
        ) from error
    for number, columns in enumerate(table, start=1):
        yield Row(f"{place}: row {number}", columns)
