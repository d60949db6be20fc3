"""The baseline of a pytest run: read once in each process that needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.baseline_place import BaselinePlace
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.plugin.configuration import given_options, settings_of
from pytest_ragcheck.plugin.keys import BASELINE
from pytest_ragcheck.summary.baseline import read_baseline
from pytest_ragcheck.summary.in_git import InGit

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_ragcheck.summary.baseline import Baseline


def baseline_of(config: pytest.Config) -> Baseline:
    """
    What the run is compared with.

    Raises:
        pytest.UsageError: It is no baseline.
    """
    if BASELINE not in config.stash:
        path, rev = path_of(config), settings_of(config).baseline_rev
        try:
            config.stash[BASELINE] = read_baseline(
                path if rev is None else InGit(rev=rev, path=path), name=baseline_name(config)
            )
        except UsageError as error:
            origin = given_options(config)["rag_baseline"].origin
            raise pytest.UsageError(f"ragcheck: {origin}: {error}") from None
    return config.stash[BASELINE]


def path_of(config: pytest.Config) -> Path:
    """Where the baseline is."""
    path = settings_of(config).baseline
    assert path is not None, "asked only where a baseline is given"  # noqa: S101 - for type checkers
    return path


def baseline_name(config: pytest.Config) -> str:
    """How texts call the baseline."""
    path, root, rev = path_of(config), config.rootpath, settings_of(config).baseline_rev
    shown = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
    return str(BaselinePlace(path=shown, rev=rev))
