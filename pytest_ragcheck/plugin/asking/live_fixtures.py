"""Tracks the fixtures that a question is evaluated with, while they are set up."""

from __future__ import annotations

from typing import Any

import pytest

EVALUATED_WITH = ("rag_client", "rag_judge", "rag_settings")

_LIVE: pytest.StashKey[dict[pytest.FixtureDef[Any], int]] = pytest.StashKey()


def live_fixtures(config: pytest.Config) -> dict[pytest.FixtureDef[Any], int]:
    """Return the fixtures of `EVALUATED_WITH` between setup and teardown, each with the id of its value."""
    return config.stash.setdefault(_LIVE, {})
