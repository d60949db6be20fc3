from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

_FIXTURE: Any = type(pytest.fixture(lambda: None))
"""The class of a fixture in a module."""


def has_fixture(home: object, fixture: str) -> bool:
    """True if a module, class or plugin has an attribute of the fixture's name, or `pytest.fixture(name=...)`."""
    return hasattr(home, fixture) or any(each.name == fixture for each in _fixtures(home).values())


def homes_of(config: pytest.Config, fixture: str) -> list[Path]:
    return [
        Path(getattr(plugin, "__file__", None) or "")
        for plugin in config.pluginmanager.get_plugins()
        if has_fixture(plugin, fixture) and getattr(plugin, "__name__", "") != "pytest_ragcheck.plugin"
    ]


def is_overridden(config: pytest.Config, fixture: str) -> bool:
    return bool(homes_of(config, fixture))


def keep_overrides(manager: pytest.PytestPluginManager, own: Any) -> None:
    """Register the overrides of earlier plugins again, because pytest uses the last fixture."""
    for name, plugin in manager.list_name_plugin():
        overrides = {key: each for key, each in _fixtures(plugin).items() if each.name in own.__all__}
        if overrides and plugin is not own and not name.endswith("conftest.py"):
            vars(again := ModuleType(name)).update(overrides)
            manager.register(again, f"{name}-again")


def _fixtures(home: object) -> dict[str, Any]:
    return {key: each for key, each in getattr(home, "__dict__", {}).items() if isinstance(each, _FIXTURE)}
