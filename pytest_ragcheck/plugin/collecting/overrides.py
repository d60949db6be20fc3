from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

_FIXTURE: Any = type(pytest.fixture(lambda: None))
"""The class of a fixture in a module."""


def has_fixture(home: object, fixture: str) -> bool:
    """True if a module, class or plugin has an attribute of the fixture's name, or `pytest.fixture(name=...)`."""
    others = getattr(home, "__dict__", {}).values()
    return hasattr(home, fixture) or any(isinstance(each, _FIXTURE) and each.name == fixture for each in others)


def homes_of(config: pytest.Config, fixture: str) -> list[Path]:
    return [
        Path(getattr(plugin, "__file__", None) or "")
        for plugin in config.pluginmanager.get_plugins()
        if has_fixture(plugin, fixture) and getattr(plugin, "__name__", "") != "pytest_ragcheck.plugin"
    ]


def is_overridden(config: pytest.Config, fixture: str) -> bool:
    return bool(homes_of(config, fixture))
