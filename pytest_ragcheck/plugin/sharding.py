"""One part of the questions of a run for each of several machines."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from pytest_ragcheck.plugin.collection import question_of
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.keys import SHARDING

if TYPE_CHECKING:
    import pytest


def keep_shard(config: pytest.Config, items: list[pytest.Item]) -> None:
    """
    Deselects the items that belong to other shards; tests that ask no question stay in every shard.

    All machines come to the same split without knowing of each other: items go to the shards in turn, in the order of
    a hash of what they ask, so that no shard has more than one more than another.
    """
    shard = settings_of(config).shard
    if shard is None:
        return
    number, count = shard
    keys = {item: key for item in items if (key := _key(item))}
    ordered = sorted(keys, key=lambda item: (hashlib.sha256(keys[item].encode()).digest(), keys[item]))
    others = {item for place, item in enumerate(ordered) if place % count != number - 1}
    if others:
        config.stash[SHARDING] = True
        config.hook.pytest_deselected(items=[item for item in items if item in others])
        config.stash[SHARDING] = False
        items[:] = [item for item in items if item not in others]


def _key(item: pytest.Item) -> str:
    """What the item asks, whichever file or process it stands in; empty where it asks nothing."""
    question = question_of(item)
    if question is not None:
        # Several tests may ask the same question.
        return f"{question.dataset_name}::{question.id}::{item.nodeid}"
    return item.nodeid if "rag_check" in getattr(item, "fixturenames", ()) else ""
