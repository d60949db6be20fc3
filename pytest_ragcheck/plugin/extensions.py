"""Declares the hooks that a conftest.py or another plugin can implement, and finds their overrides of fixtures."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_ragcheck.metrics.metric import OwnMetric

OWN_METRICS: pytest.StashKey[dict[object, tuple[OwnMetric, ...]]] = pytest.StashKey()
"""The metrics by the conftest.py or plugin that returned them."""


def pytest_ragcheck_datasets() -> list[Any]:  # type: ignore[empty-body]
    """
    Return your own datasets, each a `pytest_ragcheck.Dataset`, so that `--rag-dataset` can name them.

    pytest calls the hook before the collection, in the conftest.py of the root folder, of the folders on the command
    line, and of their `test*` folders.
    """


def pytest_ragcheck_metrics() -> list[Any]:  # type: ignore[empty-body]
    """
    Return your own metrics, which are measured for every answer; those of a conftest.py, for its folder.

    A metric is a function of (question, answer), or an object with a `name` and a method `score` of (question,
    answer). It returns a number, or None if it does not apply.
    """


def own_metrics(config: pytest.Config, hook: Any = None) -> tuple[OwnMetric, ...]:
    """
    The metrics of all `pytest_ragcheck_metrics` registered so far; with the *hook* of a node, those of its folder.

    Each implementation is called once. A `pytest.UsageError` if one returned an object that is not a metric, or two of
    a folder share a name.
    """
    implementations = (hook or config.hook).pytest_ragcheck_metrics.get_hookimpls()
    if not implementations:
        return ()
    from pytest_ragcheck.errors import UsageError
    from pytest_ragcheck.metrics.metric import distinct, read_own

    found = config.stash.setdefault(OWN_METRICS, {})
    try:
        for implementation in implementations:
            if implementation.plugin not in found:
                found[implementation.plugin] = distinct(read_own(implementation.function()))
        plugins = {implementation.plugin for implementation in implementations}
        metrics = tuple(metric for plugin, each in found.items() if plugin in plugins for metric in each)
        return metrics if hook is None else distinct(metrics)
    except UsageError as error:
        raise pytest.UsageError(f"ragcheck: {error}") from None


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
