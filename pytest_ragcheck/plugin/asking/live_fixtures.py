"""Tracks the items and the fixtures of a run with questions."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import pytest

BACKEND_FIXTURES = ("rag_client", "rag_judge", "rag_settings")

_PLUGIN = "ragcheck-fixtures"


class LiveFixtures:
    """Tracks which fixtures of `BACKEND_FIXTURES` are set up, and whether the last item runs."""

    def __init__(self) -> None:
        self.values: dict[pytest.FixtureDef[Any], int] = {}
        """The fixtures that are set up, each with the id of its value."""

        self.in_last_item = False
        """True while the last item of this process runs."""

        self.before_item: Callable[[pytest.Item], None] | None = None
        """Called before each item, outside of the time of that item."""

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, object, object]:
        self.in_last_item = nextitem is None
        if self.before_item is not None:
            self.before_item(item)
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, object, object]:
        __tracebackhide__ = True  # for users' own fixtures
        value = yield
        if fixturedef.argname in BACKEND_FIXTURES:
            self.values[fixturedef] = id(value)
        return value

    def pytest_fixture_post_finalizer(self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> None:
        self.values.pop(fixturedef, None)
        if fixturedef.argname in BACKEND_FIXTURES and fixturedef.cached_result:
            from pytest_ragcheck.plugin.asking.session_loop import close_backend

            close_backend(fixturedef.cached_result[0], request.config, lasting=fixturedef.scope == "session")


def live_fixtures(config: pytest.Config) -> LiveFixtures:
    """Return the tracker of the process, and register it at the first call."""
    plugins = config.pluginmanager
    found: LiveFixtures | None = plugins.get_plugin(_PLUGIN)
    if found is None:
        plugins.register(found := LiveFixtures(), _PLUGIN)
    return found
