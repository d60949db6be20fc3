"""JSON documents as question files: good ones, and good ones with mistakes."""

from __future__ import annotations

import copy
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from pytest_ragcheck.questions.fields.field_readers import ANSWERS
from pytest_ragcheck.questions.fields.key_names import INVERTED, KINDS, PASSAGE, QUESTION, KeyKind

from .reading import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator

Document = Any

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
TEXTS = WORDS.filter(str.strip)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
ATOMS = TEXTS | NUMBERS
SHARES = st.integers(0, 1) | st.floats(0, 1)
COUNTS = st.integers(1, 999_999_999)
IDS = st.text("aZ09 -:.()é話'\\/#", min_size=1, max_size=8).filter(lambda id_: "::" not in id_ and id_ == id_.strip())
TAGS = st.from_regex(r"\A[A-Za-z][A-Za-z0-9_]{0,4}\Z").filter(
    lambda tag: tag not in {"and", "or", "not", "slow", "skipif"}
)
MENTIONS = ATOMS.filter(lambda text: not str(text).startswith("/")) | st.sampled_from(
    ["/a+/", "/a|b/i", "/", "//", "a/g"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=4,
)


def _several(items: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return items | st.lists(items, max_size=3)


@st.composite
def _named(draw: st.DrawFn, aliases: Any, values: dict[str, Any]) -> dict[str, Any]:
    """The *values*, each under one of its key's names, and now and then null under another."""
    named: dict[str, Any] = {}
    for key, value in values.items():
        names = (key, *aliases[key])
        for name in draw(st.lists(st.sampled_from(names), max_size=1)):
            named[name] = None
        named[draw(st.sampled_from(names))] = value
    return named


@st.composite
def _passages(draw: st.DrawFn) -> Any:
    # One text for a document's id, as a file demands: here the text is made from the id.
    ids = draw(st.lists(st.none() | TEXTS, max_size=2))
    passages = [
        draw(TEXTS)
        if doc_id is None
        else draw(_named(PASSAGE.aliases, {"doc_id": doc_id, "text": f"text of {doc_id}"}))
        for doc_id in ids
    ]
    return passages[0] if len(passages) == 1 and draw(st.booleans()) else passages


BY_KIND: dict[KeyKind, st.SearchStrategy[Any]] = {
    "id": IDS | NUMBERS,
    "text": ATOMS,
    "texts": _several(ATOMS),
    "mentions": _several(MENTIONS),
    "passages": _passages(),
    "flag": st.booleans(),
    "reason": TEXTS | st.booleans(),
    "count": COUNTS,
    "thresholds": SHARES | st.dictionaries(st.sampled_from(METRICS), SHARES),
    "tags": _several(TAGS),
    "mapping": st.dictionaries(WORDS, VALUES, max_size=3),
}


@st.composite
def questions(draw: st.DrawFn) -> Any:
    """An entry that is read."""
    if not draw(st.integers(0, 4)):
        return draw(ATOMS)
    keys = draw(st.lists(st.sampled_from([key for key in KINDS if key != "question"]), max_size=5, unique=True))
    entry = draw(_named(QUESTION.aliases, {key: draw(BY_KIND[KINDS[key]]) for key in ("question", *keys)}))
    flag = next((name for name in entry if QUESTION.real_names[name] == "answerable" and entry[name] is not None), None)
    if flag is not None and entry[flag] is (flag in INVERTED):
        for name, key in QUESTION.real_names.items():
            if key in ANSWERS and entry.get(name) is not None:
                nothing: list[Any] = [None] if key == "expected_answer" else [None, []]
                entry[name] = draw(st.sampled_from(nothing))
    return entry


@st.composite
def files(draw: st.DrawFn) -> Document:
    """A document that is read, unless two of its questions meet in an id."""
    entries = draw(st.lists(questions(), min_size=1, max_size=3))
    if draw(st.booleans()):
        ids = {"id", *QUESTION.aliases["id"]}
        nameless = questions().filter(lambda entry: not isinstance(entry, dict) or not ids & entry.keys())
        entries.append({"turns": draw(st.lists(nameless, min_size=1, max_size=3))})
    if draw(st.booleans()):
        return entries
    count = sum(len(entry["turns"]) if isinstance(entry, dict) and "turns" in entry else 1 for entry in entries)
    top = {
        "$schema": VALUES,
        "x-common": VALUES,
        "schema_version": st.sampled_from(["1", 1, 1.0, None]),
        "dataset_name": IDS,
        "num_questions": st.sampled_from([count, float(count), None]),
        "tier": st.sampled_from(["end_to_end", "generation", None]),
        "ingest": st.sampled_from([True, False, None]),
        "defaults": st.fixed_dictionaries(
            {}, optional={"topk": COUNTS, "thresholds": BY_KIND["thresholds"], "markers": BY_KIND["tags"]}
        ),
    }
    return {**draw(st.fixed_dictionaries({}, optional=top)), "questions": entries}


ODD: list[Any] = [
    None, True, False, 0, 1, -1, 1.0, 2.5, -0.0, 10**9, 1e300, 0.5, "", " ", "\x1f\u3000", "a", "1", "a\n", " a", "a ",
    "a::b", "a[", "a\u200bb", "a\U000e0041b", "\ud83d\ude00", "\ud83d", "a\ude00", "and", "or\n", "x-y", "a_1", "slow",
    "/a/g", "/a/i", "/a/ii", "/a/i\n", "/(/", "/a//b/x", "//g", "end_to_end", "generation", "no", "true", "0.7", "1.0",
    [], [[]], ["a"], [None], ["a", 1, True], [""], {}, {"a": 1}, {"text": "t"}, {"doc_id": "d"},
    {"text": None, "content": "t"}, {"text": "t", "content": "t"}, {"f1": 1}, {"f1": None}, {"f2": 1},
    {"groundedness": "1"}, {"\ud800": 1}, {"a": [{"b": "\udfff"}]}, ["\ud83d"], {"top_k": 1},
    {"tags": ["x"], "markers": None}, {"top_k": 1, "topk": 2}, {"skip": True}, {"question": "a"}, [{"query": "a"}],
]  # fmt: skip
"""Values that are right under some keys and wrong under others, and nearly right ones."""

ODD_VALUES = st.sampled_from(ODD).map(copy.deepcopy) | VALUES
ODD_KEYS = (
    st.sampled_from([*QUESTION.real_names, *QUESTION.refused, *PASSAGE.real_names, *METRICS])
    | st.sampled_from(["$schema", "schema_version", "dataset_name", "num_questions", "tier", "ingest", "defaults"])
    | st.sampled_from(["questions", "turns", "question\n", "Question", "", "x"])
)


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every list and mapping in *value* with each of its indices and keys."""
    found: list[tuple[Any, Any]] = []
    if isinstance(value, (list, dict)):
        for key in range(len(value)) if isinstance(value, list) else value:
            found += [(value, key), *_places(value[key])]
    return found


@st.composite
def changed_files(draw: st.DrawFn) -> Document:
    """A document that was read before one to three changes."""
    holder = [copy.deepcopy(draw(files()))]
    for _ in range(draw(st.integers(1, 3))):
        parent, key = draw(st.sampled_from(_places(holder)))
        change = draw(st.sampled_from(["replace", "replace", "add", "rename", "delete", "wrap"]))
        if change == "replace":
            parent[key] = draw(ODD_VALUES)
        elif change == "wrap":
            parent[key] = [parent[key]]
        elif change == "add" and isinstance(parent[key], dict):
            parent[key][draw(ODD_KEYS)] = draw(ODD_VALUES)
        elif change == "rename" and isinstance(parent, dict):
            parent[draw(ODD_KEYS)] = parent.pop(key)
        elif change == "delete" and parent is not holder:
            del parent[key]
    return holder[0]


RIGHT: dict[KeyKind, Any] = {
    "id": "a", "text": "a", "texts": ["a"], "mentions": ["a"], "passages": ["a"],
    "flag": True, "reason": "a", "count": 1, "thresholds": 0.5, "tags": ["a"],
    "mapping": {},
}  # fmt: skip


def one_key() -> Iterator[Any]:
    """Questions with each key, under its own name and, with fewer values, under the others."""
    yield from ODD
    for name, key in QUESTION.real_names.items():
        for value in ODD if name == key else ODD[::6]:
            yield {name: value} if key == "question" else {"question": "Why?", name: value}
    for name in (*QUESTION.refused, "unknown", "tags\n"):
        yield {"question": "Why?", name: None}


def two_names() -> Iterator[Any]:
    """Questions with two names of a key, and with all of them but one null."""
    for key, aliases in QUESTION.aliases.items():
        value = RIGHT[KINDS[key]]
        names = (key, *aliases)
        for one, other in combinations(names, 2):
            yield {"question": "Why?", one: value, other: value} if key != "question" else {one: value, other: value}
        for name in names:
            yield {"question": "Why?", **dict.fromkeys(names), name: value}


def passages() -> Iterator[Any]:
    """Questions with a passage, alone and in a list, of each key under each name, and under two names."""
    made: list[Any] = [{}, {"unknown": "a", "text": "a"}]
    for key, aliases in PASSAGE.aliases.items():
        names = (key, *aliases)
        text = {} if key == "text" else {"text": "a"}
        made += [{**text, name: value} for name in names for value in ODD]
        made += [{**text, one: "a", other: "a"} for one, other in combinations(names, 2)]
        made += [{**text, **dict.fromkeys(names), name: "a"} for name in names]
    for passage in made:
        yield {"question": "Why?", "gold_passages": passage}
        yield {"question": "Why?", "distractors": [passage]}


def answers_of_the_unanswerable() -> Iterator[Any]:
    """Questions with each name of `answerable`, true and false, beside each name of an answer."""
    for flag, answer in product(QUESTION.real_names, QUESTION.real_names):
        if QUESTION.real_names[flag] == "answerable" and QUESTION.real_names[answer] in ANSWERS:
            yield from ({"question": "Why?", flag: says, answer: "a"} for says in (True, False))
            yield {"question": "Why?", flag: flag in INVERTED, answer: None}
            yield {"question": "Why?", flag: flag in INVERTED, answer: []}


def conversations() -> Iterator[Any]:
    """Conversations with each odd value as their turns, as a turn, and under keys of both."""
    turns = ["Who?", {"question": "Why?", "top_k": 2}]
    names = [*QUESTION.real_names, *QUESTION.refused, "turns", "unknown"]
    for value in ODD:
        yield {"turns": value}
        yield {"turns": ["Who?", value]}
        for name in names[:: 1 if value in (1, "a", None) else 9]:
            yield {"turns": turns, name: value} if name != "turns" else {"id": "a", name: value}
            yield {"turns": [{"question": "Who?", name: value}]}


def minimums() -> Iterator[Any]:
    """Questions with a minimum for each metric, and for none that there is."""
    values: list[Any] = [0, 1.0, -0.1, 1.1, True, "0.5", None, []]
    for metric, value in product((*METRICS, "abstained", "F1"), values):
        yield {"question": "Why?", "thresholds": {metric: value}}
