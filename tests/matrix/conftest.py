"""Skips the matrix unless all its plugins are installed, as in tox's environment `matrix`."""

from __future__ import annotations

import importlib.util
import os
from typing import TYPE_CHECKING

import pytest

from tests.matrix.rows import PLUGINS
from tests.matrix.sample import run_sample, write_sample

if TYPE_CHECKING:
    from tests.matrix.sample import Facts


@pytest.fixture(scope="session")
def all_plugins() -> None:
    """Skips the test where a plugin is missing, and fails it in the environment that has to have them all."""
    missing = [module for module in PLUGINS if importlib.util.find_spec(module) is None]
    if missing and os.environ.get("RAGCHECK_MATRIX") == "1":
        pytest.fail(f"not installed: {', '.join(missing)}", pytrace=False)
    if missing:
        pytest.skip(f"wants all plugins of the matrix (tox run -e matrix); not installed: {', '.join(missing)}")


@pytest.fixture(scope="session")
def ordinary(all_plugins: None, tmp_path_factory: pytest.TempPathFactory) -> Facts:
    """The run that the others are compared with: all plugins are installed, none is given anything to do."""
    folder = tmp_path_factory.mktemp("ordinary")
    return run_sample(write_sample(folder / "project"), "-p", "no:randomly")
