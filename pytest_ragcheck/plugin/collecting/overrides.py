"""Finds the plugins and conftest.py files that override a fixture of this package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def is_overridden(config: pytest.Config, fixture: str, *, below: Path | None = None) -> bool:
    """
    True if another plugin or a conftest.py has an attribute of the fixture's name.

    With *below*, only conftest.py files that apply to this path are considered.
    """
    homes = (
        Path(getattr(plugin, "__file__", None) or "")
        for plugin in config.pluginmanager.get_plugins()
        if hasattr(plugin, fixture) and getattr(plugin, "__name__", "") != "pytest_ragcheck.plugin"
    )
    return any(below is None or home.name != "conftest.py" or below.is_relative_to(home.parent) for home in homes)
