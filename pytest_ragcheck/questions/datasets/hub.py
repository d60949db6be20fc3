"""A dataset's rows by its name, through the `datasets` library."""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.errors import DatasetError
from pytest_ragcheck.questions.datasets.row import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_ragcheck.questions.datasets.dataset import Hub


def is_installed() -> bool:
    """Whether there is a `datasets` library; it is not imported."""
    try:
        return find_spec("datasets") is not None
    except ValueError:  # somebody put a module of the name into sys.modules that has no spec
        return False


def rows_of_hub(hub: Hub, *, subset: str | None, split: str) -> Iterator[Row]:
    """
    The rows of a split, which the library downloads where it has not yet.

    Raises:
        DatasetError: The library cannot load it; the text has the library's own words.
    """
    # What a test run loads is nobody's business.
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    load_dataset: Any = import_module("datasets").load_dataset  # only for whoever loads from the hub
    place = f"{hub.repository} ({', '.join(filter(None, (subset or hub.config, split)))})"
    table: Any
    try:
        table = load_dataset(hub.repository, subset or hub.config, split=split, revision=hub.revision)
    except Exception as error:  # its errors have no common class
        said = " ".join(str(error).split())[:300]
        raise DatasetError(
            f"{place}: cannot be loaded from the hub ({type(error).__name__}: {said}). "
            f"Get the file by other means, and give its path: NAME=PATH."
        ) from error
    for number, columns in enumerate(table, start=1):
        yield Row(f"{place}: row {number}", columns)
