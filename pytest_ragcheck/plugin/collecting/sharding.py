"""Splits the questions of a run over several machines."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from pytest_ragcheck.plugin.collecting.question_items import question_of
from pytest_ragcheck.plugin.configuration import IS_SPLIT, settings_of
from pytest_ragcheck.plugin.question_files import calls_rag_check

if TYPE_CHECKING:
    import pytest


def keep_shard(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the items of other shards. Tests that ask no question stay in every shard."""
    # Dealt in the order of a hash, all machines agree, and the sizes of two shards differ by at most one item.
    # The turns of a conversation stay together and count as one item.
    shard = settings_of(config).run.shard
    if shard is None:
        return
    number, count = shard
    keys = {item: key for item in items if (key := _key(item))}
    ordered = sorted(set(keys.values()), key=lambda key: (hashlib.sha256(key.encode()).digest(), key))
    own = set(ordered[number - 1 :: count])
    others = {item for item, key in keys.items() if key not in own}
    if others:
        config.stash[IS_SPLIT] = True
        config.hook.pytest_deselected(items=[item for item in items if item in others])
        del config.stash[IS_SPLIT]
        items[:] = [item for item in items if item not in others]


def _key(item: pytest.Item) -> str:
    # A key for all machines; empty if the item asks no question.
    question = question_of(item)
    if question is not None:
        if question.turn is not None:
            return f"{question.dataset_name}::{question.conversation}::{item.nodeid.partition('::')[0]}"
        # Several tests can share a question.
        return f"{question.dataset_name}::{question.id}::{item.nodeid}"
    return item.nodeid if calls_rag_check(item) else ""
