"""`read_top` reads the keys of a question file outside of its questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.questions.fields.field_readers import NO_SETTINGS, QuestionSettings, SettingsReader
from pytest_ragcheck.questions.fields.key_names import DEFAULTS, FILE, TURNS, named_entries
from pytest_ragcheck.questions.nodes.node import Entry, ListNode, MappingNode, Node, Site
from pytest_ragcheck.questions.nodes.node_values import (
    described,
    number_in,
    read_flag,
    read_text,
    read_whole_number,
    shortened,
    wrong_value,
)
from pytest_ragcheck.questions.question import TIERS
from pytest_ragcheck.questions.question_ids import unprintable_in

SCHEMA_VERSION = "1"
"""Version of the questions document that `question_rows` writes and `reader` reads."""


@frozen
class Top:
    nodes: tuple[Node, ...] = ()
    """The unread entries under `questions`."""

    dataset_name: str | None = None
    defaults: QuestionSettings = field(default_factory=lambda: NO_SETTINGS)
    tier: str | None = None
    ingest: bool | None = None


def read_top(site: Site, node: Node, settings: SettingsReader) -> Top:
    if isinstance(node, ListNode):
        return Top(nodes=_some_questions(site, node))
    if not isinstance(node, MappingNode):
        site.mistake(node.line, f"holds {described(node)} and no questions. Write a list of questions.")
        return Top()
    entries = named_entries(site, node, FILE)
    _check_version(site, entries)
    nodes = _read_questions(site, node, entries)
    if nodes:
        _check_count(site, entries, sum(map(_count, nodes)))
    return Top(
        nodes=nodes,
        dataset_name=_read_dataset_name(site, entries),
        defaults=_read_defaults(site, entries, settings),
        tier=_read_tier(site, entries),
        ingest=read_flag(site, entries.get("ingest")),
    )


def _some_questions(site: Site, node: ListNode) -> tuple[Node, ...]:
    if not node.items:
        site.mistake(node.line, "has an empty list of questions. Write at least one, or delete the file.")
    return tuple(node.items)


def _read_questions(site: Site, node: MappingNode, entries: Mapping[str, Entry]) -> tuple[Node, ...]:
    if (entry := entries.get("questions")) is None:
        site.mistake(node.line, "has no questions. Write them as a list under 'questions'.")
        return ()
    if not isinstance(entry.value, ListNode):
        wrong_value(site, entry, "a list of questions")
        return ()
    return _some_questions(site, entry.value)


def _check_version(site: Site, entries: Mapping[str, Entry]) -> None:
    if (entry := entries.get("schema_version")) is None:
        return
    version = read_text(site, entry)
    # In JSON, and so in the schema, 1 and 1.0 are the same number.
    if version is not None and version != SCHEMA_VERSION and number_in(entry.value) != float(SCHEMA_VERSION):
        site.mistake(
            entry.line,
            f"has the schema_version {shortened(version)}, and this version of pytest-ragcheck reads "
            f"{SCHEMA_VERSION!r}. Update pytest-ragcheck, or delete the key from a file of your own.",
        )


def _count(node: Node) -> int:
    turns = [e.value for e in node.entries if e.key == TURNS] if isinstance(node, MappingNode) else []
    return len(turns[0].items) if turns and isinstance(turns[0], ListNode) else 1


def _read_tier(site: Site, entries: Mapping[str, Entry]) -> str | None:
    tier = read_text(site, entries.get("tier"), " or ".join(TIERS))
    if tier is not None and tier not in TIERS:
        known = " or ".join(map(repr, TIERS))
        site.mistake(entries["tier"].line, f"has the unknown tier {shortened(tier)}. Write {known}.")
        return None
    return tier


def _check_count(site: Site, entries: Mapping[str, Entry], count: int) -> None:
    if (entry := entries.get("num_questions")) is None:
        return
    stated = read_whole_number(site, entry, minimum=0)
    if stated is not None and stated != count:
        site.mistake(
            entry.line, f"says {stated} under 'num_questions', and has {count}. Correct the number, or delete it."
        )


def _read_dataset_name(site: Site, entries: Mapping[str, Entry]) -> str | None:
    name = read_text(site, entries.get("dataset_name"))
    if name is not None and (name != name.strip() or unprintable_in(name) is not None):
        site.mistake(
            entries["dataset_name"].line,
            f"has the dataset_name {shortened(name)}, with white space around it or unprintable characters in it. "
            "Delete them.",
        )
    return name


def _read_defaults(site: Site, entries: Mapping[str, Entry], settings: SettingsReader) -> QuestionSettings:
    if (entry := entries.get("defaults")) is None:
        return NO_SETTINGS
    if not isinstance(entry.value, MappingNode):
        wrong_value(site, entry, 'a mapping, such as {"top_k": 5}')
        return NO_SETTINGS
    return settings.read(site, named_entries(site, entry.value, DEFAULTS), NO_SETTINGS)
