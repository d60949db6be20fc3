"""`question_file_schema` builds the JSON Schema (draft 2020-12) of question files, for editors and other programs."""

# The schema is built from the reader's vocabularies, and a test checks that schema and reader accept the same files.
# Values with several types are a list of types, since editors report a failed `anyOf` only as "no alternative matches".
# The language servers of YAML and JSON show `errorMessage` and `patternErrorMessage`; other validators ignore both.

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.questions.fields.entry import SCHEMA_VERSION
from pytest_ragcheck.questions.fields.field_readers import ANSWERS, MARKER_OPERATORS, TAG
from pytest_ragcheck.questions.fields.key_names import (
    CONVERSATION,
    DEFAULTS,
    FILE,
    INVERTED,
    KINDS,
    PASSAGE,
    QUESTION,
    TURN,
    TURNS,
    UNREAD,
    KeyKind,
    Vocabulary,
)
from pytest_ragcheck.questions.mention import FLAGS
from pytest_ragcheck.questions.nodes.node import MAX_COUNT
from pytest_ragcheck.questions.question import TIERS
from pytest_ragcheck.questions.question_ids import UNPRINTABLE
from pytest_ragcheck.scores import ASSERTABLE, BOUNDED

Schema = dict[str, Any]

_DESCRIPTIONS: Mapping[str, Mapping[str, str]] = json.loads(package_text("questions/fields/descriptions.json"))
_GIVEN: Schema = {"not": {"type": "null"}}
# The characters that `str.strip` leaves.
_SOME_TEXT = r"[^\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
# A lone surrogate, also for readers that see surrogate pairs.
_LONE_SURROGATE = r"[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]"
# In Python and other languages `$` also matches before a final line break.
_END = r"(?![\s\S])"
_NAME = rf"^(?! )[^{UNPRINTABLE}]+(?<! ){_END}"
_ID = rf"^(?! )(?:(?!::)[^\[\]{UNPRINTABLE}])+(?<! ){_END}"
_TAG = f"^(?!(?:{'|'.join(sorted(MARKER_OPERATORS))}){_END}){TAG}{_END}"
_MENTION = rf"^(?!/[\s\S]+/(?!i?{_END})[{FLAGS}]+{_END})[\s\S]*{_SOME_TEXT}"


def question_file_schema() -> Schema:
    """The schema of a whole file; `$defs/question` is the schema of a line of JSON Lines."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A question file of pytest-ragcheck",
        "description": "The questions, or a mapping with the questions and their common settings.",
        "type": ["object", "array"],
        # Keep list and mapping apart, else editors propose the keys of a file within the questions of a list.
        "if": {"type": "array"},
        "then": _questions(),
        "else": {
            **_mapping(FILE, _file_parts(), _DESCRIPTIONS["file"]),
            "patternProperties": {f"^{UNREAD}": {"description": "Your own values, such as YAML anchors; not read."}},
            "required": ["questions"],
        },
        "$defs": {
            "question": _entry(),
            "conversation": _conversation(),
            "turn": {"title": "A turn", **_question(TURN)},
            **_kinds(),
            "passage": _passage(),
            "mention": _mention("string", "number"),
            "tag": _tag("string"),
            "value": _value(),
            "broken": {"type": "string", "pattern": _LONE_SURROGATE},
            "repeated": {
                "type": "null",
                "errorMessage": "This is another name of a key that is given too. Keep one.",
            },
            "noAnswer": {
                "type": ["null", "array"],
                "maxItems": 0,
                "errorMessage": "An unanswerable question has no expected answer. Delete one of the two.",
            },
        },
    }


def _file_parts() -> dict[str, Schema]:
    defaults = {key: _ref(KINDS[key]) for key in DEFAULTS.aliases}
    return {
        "$schema": {},
        "schema_version": {"enum": [SCHEMA_VERSION, int(SCHEMA_VERSION), None]},
        "dataset_name": _text("string", "number", "null", pattern=_NAME, message="a name without line breaks"),
        "num_questions": {"type": ["integer", "null"], "minimum": 0, "maximum": MAX_COUNT},
        "tier": {"enum": [*TIERS, None]},
        "ingest": {"enum": [True, False, None]},
        "defaults": {"type": ["object", "null"], **_mapping(DEFAULTS, defaults, _DESCRIPTIONS["defaults"])},
        "questions": {"type": "array", **_questions()},
    }


def _questions() -> Schema:
    return {"minItems": 1, "items": _ref("question")}


def _entry() -> Schema:
    return {
        "title": "A question",
        "description": "A question, or a conversation, which is a mapping with the key turns.",
        "properties": {TURNS: {"description": _DESCRIPTIONS["conversation"][TURNS]}},
        "if": {"type": "object", "required": [TURNS], "properties": {TURNS: _GIVEN}},
        "then": _ref("conversation"),
        "else": _question(QUESTION),
    }


def _question(vocabulary: Vocabulary) -> Schema:
    keys = {key: _ref(KINDS[key]) for key in vocabulary.aliases}
    schema = _mapping(vocabulary, keys, _DESCRIPTIONS["question"], needed=("question",))
    schema["allOf"].append(_unanswerable_without_answers())
    return {
        "description": "A mapping with the key question, or nothing but the text to ask.",
        **_text("object", "string", "number"),
        **schema,
    }


def _conversation() -> Schema:
    turns: Schema = {"type": "array", "minItems": 1, "items": _ref("turn")}
    keys = {key: _ref(KINDS[key]) for key in CONVERSATION.aliases if key != TURNS}
    return {
        "title": "A conversation",
        "type": "object",
        **_mapping(CONVERSATION, {TURNS: turns, **keys}, _DESCRIPTIONS["conversation"]),
        "required": [TURNS],
    }


def _passage(*more_types: str) -> Schema:
    keys = dict.fromkeys(PASSAGE.aliases, _text("string", "number", "null"))
    schema = _mapping(PASSAGE, keys, _DESCRIPTIONS["passage"], needed=("text", "doc_id"))
    return {"title": "A passage", **_text(*more_types, "string", "object", "number"), **schema}


def _kinds() -> dict[KeyKind, Schema]:
    # The schema of each kind of value by the kind's name; null is equivalent to a missing key.
    share = {"minimum": 0, "maximum": 1}
    metrics = {
        metric: {"type": "number", **share, "description": f"The least {metric} that passes, 0 to 1."}
        for metric in ASSERTABLE
    }
    metrics |= {
        metric: {"type": "number", "exclusiveMinimum": 0, "description": f"The greatest {metric} that passes."}
        for metric in BOUNDED
    }
    several = ("array", "string", "number", "null")
    return {
        "id": _text("string", "number", "null", pattern=_ID, message="a text without ::, [, ] and line breaks"),
        "text": _text("string", "number", "null"),
        "texts": {**_text(*several), "items": _text("string", "number")},
        "mentions": {**_mention(*several), "items": _ref("mention")},
        "passages": {**_passage("array", "null"), "items": _ref("passage")},
        "flag": {"type": ["boolean", "null"]},
        "reason": _text("string", "boolean", "null"),
        "count": {"type": ["integer", "null"], "minimum": 1, "maximum": MAX_COUNT},
        "thresholds": {
            "type": ["number", "object", "null"], **share, "properties": metrics, "additionalProperties": False,
        },
        "tags": {**_tag("array", "string", "null"), "items": _ref("tag")},
        "mapping": {**_value(), "type": ["object", "null"]},
    }  # fmt: skip


def _text(*types: str, pattern: str = _SOME_TEXT, message: str = "a text that is not blank") -> Schema:
    return {
        "type": list(types),
        "pattern": pattern,
        "patternErrorMessage": f"Write {message}.",
        "not": _ref("broken"),
    }


def _mention(*types: str) -> Schema:
    return _text(*types, pattern=_MENTION, message="a text, or /.../ with no flag but i")


def _tag(*types: str) -> Schema:
    return _text(
        *types,
        pattern=_TAG,
        message="a letter from A to Z, then such letters, digits, _ and -; not 'and', 'or' or 'not'",
    )


def _value() -> Schema:
    whole = {"not": _ref("broken")}
    return {**whole, "items": _ref("value"), "propertyNames": whole, "additionalProperties": _ref("value")}


def _mapping(
    vocabulary: Vocabulary, keys: Mapping[str, Schema], descriptions: Mapping[str, str], *, needed: Sequence[str] = ()
) -> Schema:
    # The schema of a mapping with these *keys*, each under one of its names; one of *needed* is required.
    properties = {key: {"description": descriptions[key], **keys[key]} for key in vocabulary.aliases}
    # Aliases are patterns, which editors do not propose, so that authors prefer the key's own name.
    aliases: Schema = {}
    rules: list[Schema] = []
    for key, names in vocabulary.aliases.items():
        same = [name for name in names if name not in INVERTED]
        opposite = [name for name in names if name in INVERTED]
        aliases |= _any_of(same, {"description": f"Same as {key}.", **keys[key]})
        aliases |= _any_of(opposite, {"description": f"The opposite of {key}.", **keys[key]})
        rules += _one_name_only((key, *names))
    no_key = {"type": "null", "errorMessage": "There is no key of this name."}
    aliases |= _any_of([*vocabulary.refused], no_key)
    if needed:
        first, *further = needed
        names = (*vocabulary.aliases[first], *further, *(name for key in further for name in vocabulary.aliases[key]))
        others = {"patternProperties": _any_of(names, {"type": "null"})}
        rules.append({"if": others, "then": {"required": [first], "properties": {first: _GIVEN}}})
    optional = {"patternProperties": aliases, "allOf": rules}
    return {
        "properties": properties,
        **{keyword: value for keyword, value in optional.items() if value},
        "additionalProperties": False,
    }


def _one_name_only(names: Sequence[str]) -> Iterable[Schema]:
    for number, name in enumerate(names[:-1], start=1):
        others = _any_of(names[number:], _ref("repeated"))
        yield {"if": {"required": [name], "properties": {name: _GIVEN}}, "then": {"patternProperties": others}}


def _unanswerable_without_answers() -> Schema:
    flags = ("answerable", *QUESTION.aliases["answerable"])
    says_so = [{"required": [name], "properties": {name: {"const": name in INVERTED}}} for name in flags]
    answers = [name for name, key in QUESTION.real_names.items() if key in ANSWERS]
    return {"if": {"anyOf": says_so}, "then": {"patternProperties": _any_of(answers, _ref("noAnswer"))}}


def _any_of(names: Sequence[str], schema: Schema) -> Schema:
    # The *schema* under one pattern that matches all *names*, which are words; empty without names.
    return {f"^(?:{'|'.join(names)}){_END}": schema} if names else {}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}
