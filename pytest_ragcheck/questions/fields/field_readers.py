"""Reads the fields of a question, and notes their mistakes."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any, TypedDict

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.questions.fields.key_names import INVERTED, PASSAGE, named_entries
from pytest_ragcheck.questions.mention import compile_mention, is_regex
from pytest_ragcheck.questions.nodes.node import (
    Entry,
    MappingNode,
    Scalar,
    Site,
    is_flag,
    json_mapping,
    number_in,
    one_or_more,
    read_flag,
    read_text,
    read_threshold,
    read_whole_number,
    shortened,
    without_repeats,
    wrong_value,
)
from pytest_ragcheck.questions.question import GoldPassage
from pytest_ragcheck.scores import BOUNDED, JUDGED, listed

ANSWERS = ("expected_answer", "all_acceptable_answers")
"""The keys that an unanswerable question cannot have."""

TAG = "[A-Za-z][A-Za-z0-9_-]*"
"""A regular expression."""

MARKER_OPERATORS = frozenset({"and", "or", "not"})
"""Words that are operators in `pytest -m`."""

_TAG = re.compile(TAG)

_GENERAL_REASONS = {
    "skip": "skipped by its question file",
    "xfail": "expected to fail by its question file",
    "quarantine": "by its question file",
}


def read_answerable(site: Site, entries: Mapping[str, Entry]) -> bool:
    if (entry := entries.get("answerable")) is None:
        return True
    flag = read_flag(site, entry)
    answerable = flag is None or flag != (entry.key in INVERTED)
    has_answers = any(one_or_more(entries.get(key)) for key in ANSWERS)
    if has_answers and not answerable:
        site.mistake(
            entry.line,
            f"is unanswerable by {entry.key!r} and has an expected answer. It passes when the system abstains: "
            f"delete its answers, or delete {entry.key!r}.",
        )
    return answerable


def read_mentions(site: Site, entry: Entry | None) -> tuple[str, ...]:
    mentions: list[str] = []
    for item in one_or_more(entry):
        text = read_text(site, item, "a text, or a regular expression in slashes")
        if text is None:
            continue
        if _is_rest_of(mentions, item, text):
            site.mistake(
                item.line,
                f"has a regular expression with a comma under {item.key!r}. Put it in quotes, such as '/10,000/'.",
            )
        mentions.append(text)
        try:
            if is_regex(text):
                compile_mention(text)
        except ValueError as error:
            site.mistake(item.line, f"has a mistake under {item.key!r}: {error}")
    return tuple(mentions)


def _is_rest_of(mentions: list[str], item: Entry, text: str) -> bool:
    # True if YAML has cut an unquoted regular expression at a comma, and *text* is its end.
    if not isinstance(item.value, Scalar) or item.value.quoted or text.count("/") != 1:
        return False
    return text.endswith(("/", "/i")) and any(each.startswith("/") and each.count("/") == 1 for each in mentions)


def read_passages(site: Site, entry: Entry | None) -> tuple[GoldPassage, ...]:
    read = (_read_passage(site, item) for item in one_or_more(entry))
    return tuple(passage for passage in read if passage is not None)


def _read_passage(site: Site, item: Entry) -> GoldPassage | None:
    if not isinstance(item.value, MappingNode):
        text = read_text(site, item, "a text, a mapping {doc_id, text}, or a list of them")
        return None if text is None else GoldPassage(text=text)
    parts = named_entries(site, item.value, PASSAGE)
    if not parts.keys() & {"text", "doc_id"}:
        site.mistake(item.line, f"has a passage without 'text' under {item.key!r}. Write its text, or its 'doc_id'.")
    return GoldPassage(
        doc_id=read_text(site, parts.get("doc_id")),
        identity=read_text(site, parts.get("as")) or "",
        text=read_text(site, parts.get("text")) or "",
    )


class QuestionSettings(TypedDict):
    """The arguments of a `Question` that a turn inherits from its conversation, and both inherit from their file."""

    thresholds: Mapping[str, float]
    top_k: int | None
    tags: tuple[str, ...]
    skip: str | None
    xfail: str | None
    quarantine: str | None


NO_SETTINGS = QuestionSettings(thresholds={}, top_k=None, tags=(), skip=None, xfail=None, quarantine=None)


@frozen
class SettingsReader:
    known_metrics: Collection[str]

    reserved_tags: Collection[str]
    """Names of existing pytest markers, which cannot be tags."""

    def read(self, site: Site, entries: Mapping[str, Entry], inherited: QuestionSettings) -> QuestionSettings:
        """The *inherited* settings, except for those in the entries; thresholds and tags are added."""
        return QuestionSettings(
            thresholds=self._thresholds(site, entries.get("thresholds"), inherited["thresholds"]),
            top_k=read_whole_number(site, entries["top_k"], minimum=1) if "top_k" in entries else inherited["top_k"],
            tags=self._tags(site, entries.get("tags"), inherited["tags"]),
            skip=_read_reason(site, entries, "skip", inherited["skip"]),
            xfail=_read_reason(site, entries, "xfail", inherited["xfail"]),
            quarantine=_read_reason(site, entries, "quarantine", inherited["quarantine"]),
        )

    def _thresholds(self, site: Site, entry: Entry | None, inherited: Mapping[str, float]) -> Mapping[str, float]:
        if entry is None:
            return inherited
        own: dict[str, float] = {}
        if isinstance(entry.value, MappingNode):
            for part in without_repeats(site, entry.value).values():
                minimum = read_threshold(site, part, is_maximum=part.key in BOUNDED)
                if part.key not in self.known_metrics and part.key not in BOUNDED:
                    known = (*sorted(self.known_metrics), *BOUNDED)
                    near = get_close_matches(part.key[:100], known, n=1)
                    to_do = f"Rename it to {near[0]!r}." if near else f"Choose from: {listed(known)}."
                    site.mistake(part.line, f"has a threshold for the unknown metric {shortened(part.key)}. {to_do}")
                elif minimum is not None:
                    own[part.key] = minimum
        elif isinstance(entry.value, Scalar):
            minimum = read_threshold(site, entry)
            own = {} if minimum is None else dict.fromkeys(JUDGED, minimum)
        else:
            wrong_value(site, entry, 'a number from 0 to 1, or a mapping such as {"groundedness": 0.9}')
        return {**inherited, **own}

    def _tags(self, site: Site, entry: Entry | None, inherited: tuple[str, ...]) -> tuple[str, ...]:
        tags = list(inherited)
        for item in one_or_more(entry):
            tag = read_text(site, item, "a tag or a list of tags")
            if tag is None:
                continue
            tags.append(tag)
            if not _TAG.fullmatch(tag) or tag in MARKER_OPERATORS:
                site.mistake(
                    item.line,
                    f"has the tag {shortened(tag)}, which cannot be a pytest marker. Begin it with a letter from A "
                    "to Z, and continue with such letters, digits, '_' and '-'; 'and', 'or' and 'not' are taken, and "
                    """several tags are a list, such as ["a", "b"].""",
                )
            elif tag in self.reserved_tags:
                site.mistake(
                    item.line,
                    f"has the tag {tag!r}, which is the name of an existing pytest marker. Choose another name.",
                )
        return tuple(dict.fromkeys(tags))


def _read_reason(site: Site, entries: Mapping[str, Entry], key: str, inherited: str | None) -> str | None:
    # The reason under *key* (`skip`, `xfail` or `quarantine`); true is a general one, false none.
    if (entry := entries.get(key)) is None:
        return inherited
    if is_flag(entry.value):
        return _GENERAL_REASONS[key] if read_flag(site, entry) else None
    wanted = "the reason, or true or false"
    if number_in(entry.value) is not None:  # 0 is meant as false
        wrong_value(site, entry, wanted)
    return read_text(site, entry, wanted)


def read_metadata(site: Site, entry: Entry | None) -> Mapping[str, Any]:
    if entry is None:
        return {}
    if not isinstance(entry.value, MappingNode):
        wrong_value(site, entry, 'a mapping, such as {"team": "billing"}')
        return {}
    return json_mapping(site, entry.value)
