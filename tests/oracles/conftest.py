"""Provides a model for the comparisons that need one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.oracles.tiny_model import make_tiny_model

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny model."""
    return make_tiny_model(tmp_path_factory.mktemp("models") / "tiny")
