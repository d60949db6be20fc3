"""The vocabularies list the keys of a question file, their types and other names, and refused names."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Literal, TypeAlias

from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.questions.nodes.node import Entry, ListNode, MappingNode, Scalar, Site, shortened, without_repeats

KeyKind: TypeAlias = Literal[
    "id", "text", "texts", "mentions", "passages", "flag", "reason", "count", "thresholds", "tags", "mapping"
]
"""A type of value in a question, by its name in the schema."""

_NAMES: Mapping[str, Mapping[Any, Sequence[str]]] = json.loads(package_text("questions/fields/key_names.json"))
"""The other names of the keys, the refused names by the end of their error text, and the keys of each kind."""

KINDS: Mapping[str, KeyKind] = {key: kind for kind, keys in _NAMES["kinds"].items() for key in keys}

_REFUSED = {name: why for why, names in _NAMES["refused"].items() for name in names}

_NEGATIONS = ("in", "un", "non")

_SIMILAR = 0.6
"""The smallest similarity of two spellings of one word, 0 to 1."""

TURNS = "turns"
"""The key that makes an entry a conversation."""

_NO_CONVERSATION = {
    # An entry with this key is a conversation, so only the header of a CSV file can have it among a question's keys.
    TURNS: "a CSV file cannot hold. Write conversations in YAML, JSON or JSON Lines.",
    **dict.fromkeys(
        ("turn", "Turns", "messages", "conversation", "dialogue"),
        "begins no conversation. Write its questions as a list under 'turns'.",
    ),
}

INVERTED = frozenset({"is_unanswerable", "unanswerable", "is_impossible"})
"""Other names of `answerable` with the opposite meaning."""


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    aliases: Mapping[str, tuple[str, ...]]
    refused: Mapping[str, str] = field(default_factory=dict)
    """Ambiguous names and names of a system's output, each with the end of its error text."""

    elsewhere: tuple[str, ...] = ()
    """Keys that belong in the entries under `questions`."""

    advice: str = ""
    """The remedy for an unknown key."""

    @cached_property
    def real_names(self) -> Mapping[str, str]:
        return {alias: key for key, aliases in self.aliases.items() for alias in (key, *aliases)}


QUESTION = Vocabulary(
    aliases={key: tuple(names) for key, names in _NAMES["question"].items()},
    refused={**_REFUSED, **_NO_CONVERSATION},
    advice="Put your own data under 'metadata'.",
)

_CONVERSATION_KEYS = ("id", "thresholds", "top_k", "tags", "skip", "xfail", "quarantine")
_BELONGS_TO_TURN = "is a key of a turn. Write it into an entry under 'turns'."
_BELONGS_TO_CONVERSATION = "belongs to the conversation, whose turns are named by their numbers. Delete it."

CONVERSATION = Vocabulary(
    aliases={TURNS: (), **{key: QUESTION.aliases[key] for key in _CONVERSATION_KEYS}},
    refused={name: _BELONGS_TO_TURN for name, key in QUESTION.real_names.items() if key not in _CONVERSATION_KEYS},
    advice="Write what belongs to a single turn into its entry under 'turns'.",
)

TURN = Vocabulary(
    aliases={key: names for key, names in QUESTION.aliases.items() if key != "id"},
    refused={
        **_REFUSED,
        **dict.fromkeys(("id", *QUESTION.aliases["id"]), _BELONGS_TO_CONVERSATION),
        TURNS: "a turn cannot have. Write its turns into the list of the conversation.",
    },
    advice=QUESTION.advice,
)

PASSAGE = Vocabulary(
    aliases={key: tuple(names) for key, names in _NAMES["passage"].items()},
    advice="Put it under the question's 'metadata'.",
)

DEFAULTS = Vocabulary(
    aliases={key: QUESTION.aliases[key] for key in ("top_k", "thresholds", "tags")},
    advice="Write it into the questions.",
)

FILE = Vocabulary(
    aliases=dict.fromkeys(
        ("$schema", "schema_version", "dataset_name", "num_questions", "tier", "ingest", "defaults", "questions"), ()
    ),
    elsewhere=(*QUESTION.real_names, TURNS),
    advice="Delete it, or begin its name with 'x-'.",
)

UNREAD = "x-"
"""The start of the keys of a file that hold an author's own values, such as YAML anchors."""


_MAYBE_QUESTIONS = (
    "Rename it to 'questions' if it holds them, or convert the file of another tool: ragcheck convert FILE."
)


def named_entries(site: Site, node: MappingNode, vocabulary: Vocabulary) -> dict[str, Entry]:
    """The entries with a value by key; an `Entry` keeps the name that the author typed."""
    named: dict[str, Entry] = {}
    for entry in without_repeats(site, node).values():
        key = vocabulary.real_names.get(entry.key)
        is_unread = vocabulary is FILE and entry.key.startswith(UNREAD)
        is_known = key or entry.key in vocabulary.refused
        if is_unread or (is_known and isinstance(entry.value, Scalar) and entry.value.is_null):
            continue
        if key is None:
            _note_foreign_key(site, entry, vocabulary)
        elif key in named:
            other = named[key]
            site.mistake(
                entry.line,
                f"has both {other.key!r} (line {other.line}) and {entry.key!r}, two names of one key. Keep one.",
            )
        else:
            named[key] = entry
    return named


def _note_foreign_key(site: Site, entry: Entry, vocabulary: Vocabulary) -> None:
    if why := vocabulary.refused.get(entry.key) or vocabulary.refused.get(entry.key.lower()):
        what = f"has {entry.key!r}, which {why}"
    elif entry.key in vocabulary.elsewhere:
        what = f"has {entry.key!r}, a key of a question, at its top. Write it into an entry under 'questions'."
    elif near := near_match(entry.key, tuple(vocabulary.real_names)):
        what = f"has the unknown key {shortened(entry.key)}. Rename it to {near!r}."
    else:
        known = ", ".join(vocabulary.aliases)
        advice = _MAYBE_QUESTIONS if vocabulary is FILE and isinstance(entry.value, ListNode) else vocabulary.advice
        what = f"has the unknown key {shortened(entry.key)} (known: {known}). {advice}"
    site.mistake(entry.line, what)


@lru_cache(maxsize=256)  # a file of another tool repeats its unknown keys in thousands of questions
def near_match(name: str, known: tuple[str, ...]) -> str | None:
    plain = name.strip().lower().replace("-", "_").replace(" ", "_")[:100]
    matches = difflib.get_close_matches(plain, known, n=3, cutoff=0.75)
    return next((match for match in matches if _is_typo(plain, match)), None)


def _is_typo(name: str, known: str) -> bool:
    # False for another word, as in `expected_facts`, and for an opposite, such as `incorrect_answers`.
    words, known_words = name.split("_"), known.split("_")
    if len(words) != len(known_words):
        return "".join(words) == "".join(known_words)
    pairs = list(zip(words, known_words, strict=True))
    return all(difflib.SequenceMatcher(None, *pair).ratio() >= _SIMILAR for pair in pairs) and not any(
        word.startswith(_NEGATIONS) and not known_word.startswith(_NEGATIONS) for word, known_word in pairs
    )
