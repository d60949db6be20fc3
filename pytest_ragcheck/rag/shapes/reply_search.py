"""Finds answers, contexts and their ids in replies, by the keys under which RAG systems put them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.rag.ask import are_texts
from pytest_ragcheck.rag.body.json_body import named_error, parse_json
from pytest_ragcheck.rag.shapes.expression import written

LONGEST = 400
"""Most characters of a suggested setting."""

MANY = 100
"""Number of pieces, and of texts that may be JSON, whose search takes long."""

_MOST_PLACES = 1_000
"""Most objects that are searched."""

_DEEPEST = 4
"""Most levels between the array of contexts and their texts."""

_ENDS = ("choices", "candidates", "answers", "messages", "response", "2", "8", "generic", "outputs")
"""Arrays with the answer at one end: OpenAI, Gemini, Haystack, LangGraph, Azure, AI SDK 4, watsonx, Langflow."""

_OPAQUE = re.compile(r"(?i)\d*|[\da-f-]{16,}|file-\w{15,}")
"""An id that a user would not write under `must_cite`, if there is a name beside it."""

_STATUS = re.compile(r"(?i)(?:ok|done|.{0,60}(?:success\w*|成功))\W*$")
"""A text that may be the message of an envelope, such as `{"message": "success", "data": {"answer": "..."}}`."""

_LISTS = re.findall("(?m)^[a-z ]+ = (.*(?:\\n .*)*)", package_text("rag/reply_keys.txt"))

# In the order of the file, whose titles explain them.
(
    ANSWER_NAMES, _BEFORE, _AFTER, CONTEXTS_NAMES, _FURTHER, TEXT_NAMES, TEXT_OBJECT_NAMES, DOCUMENT_NAMES, ID_NAMES,
    ID_LIST_NAMES, METADATA_NAMES, _MESSAGES, _PARTS,
) = map(str.split, _LISTS)  # fmt: skip
PIECE_NAMES = [*_BEFORE, *ANSWER_NAMES, *_AFTER]
CONTEXT_PART_NAMES = [*CONTEXTS_NAMES, *_FURTHER]
KNOWN_SETTINGS = list(map(" ".join, zip(*[iter(_PARTS)] * 3, strict=True)))


def keys_among(value: Mapping[Any, Any], names: Sequence[str]) -> Iterator[str]:
    spelled = {re.sub(r"[\W_]", "", key).lower(): key for key in value if isinstance(key, str) and len(key) <= 60}
    return map(spelled.__getitem__, filter(spelled.__contains__, names))


def with_messages(found: str, reply: object) -> str:
    """The text with the words beside the missing part, which may tell of a failure."""
    keys = reply if isinstance(reply, Mapping) else {}
    for key in keys_among(keys, _MESSAGES):
        if isinstance(keys[key], str):
            found += f'; "{key}" is {named_error(keys[key])}'
    return found


@dataclass(frozen=True, slots=True)
class Place:
    """An object within the reply and its path, where `answer_in` and `contexts_in` search."""

    path: str
    keys: Mapping[str, Any]

    def to(self, key: str) -> str:
        return f"{self.path}.{written(key)}" if self.path else written(key)

    def at(self, key: str) -> tuple[str, Any]:
        path, inner = self.to(key), _json_in(self.keys[key])
        return (path, self.keys[key]) if inner is None else (f"from_json({path})", inner)


@dataclass(frozen=True, slots=True)
class FoundAnswer:
    expression: str
    place: Place


@dataclass(frozen=True, slots=True)
class Texts:
    expression: str
    ids: str = ""
    """The expression for an id of each text; empty without ids."""


def answer_in(reply: object, names: Sequence[str] = ANSWER_NAMES, top: str = "") -> FoundAnswer | None:
    last_choice = None
    for place in islice(_places(reply, top), _MOST_PLACES):
        for key in keys_among(place.keys, names):
            path, value = place.to(key), place.keys[key]
            if isinstance(value, list) and len(value) == 1:
                path, value = f"{path}[0]", value[0]
            # A part of a message, such as Gemini's; a plain text elsewhere has priority.
            part = value if isinstance(value, Mapping) else None
            if part:
                path, value = f"{path}.text", part.get("text")
            if not isinstance(value, str) or not (value or names is ANSWER_NAMES):
                continue
            found, is_json = FoundAnswer(path, place), _json_in(value) is not None
            if is_json and (inner := answer_in(value, names, path)):
                return inner
            if not (part or is_json or _STATUS.match(value)):
                return found
            last_choice = last_choice or found
    return last_choice


def contexts_in(reply: object, beside: Place, names: Sequence[str] = CONTEXTS_NAMES) -> Texts | None:
    """The expressions for the contexts and their ids; objects near the answer have priority."""
    places = list(islice(chain([beside], _within(beside), _places(reply)), _MOST_PLACES))
    places += list(islice(chain.from_iterable(map(_within, places)), _MOST_PLACES))
    last_choice = None
    for place in places:
        for key in keys_among(place.keys, names):
            path, value = place.at(key)
            if key in keys_among(place.keys, CONTEXTS_NAMES):
                if isinstance(value, str):
                    return Texts(f"[{path}]")
                if isinstance(value, Mapping) and (in_object := _in_object(path, value)):
                    return in_object
            plain = are_texts(value)
            if plain and all(each.startswith(("http://", "https://")) for each in value):  # an empty one, too
                last_choice = last_choice or Texts(path)
            elif isinstance(value, list):
                found = Texts(path) if plain else texts_in(f"{path}[]", _flat(value)) or _some_texts(path, value)
                if found and not found.ids and are_texts(_flat(value)):
                    found = Texts(found.expression, _ids_beside(place, key))
                if found:
                    return found
    return last_choice


def _some_texts(path: str, values: Sequence[Any]) -> Texts | None:
    # The texts of the objects that have one, by a filter; an empty text has no place in contexts either.
    for key in keys_among(values[0], TEXT_NAMES) if _are(dict, values) else ():
        texts = [value.get(key, 0) for value in values]
        if any(texts) and {*map(type, texts)} <= {str, type(None)}:
            return texts_in(f"{path}[?{written(key)}]", [value for value in values if value.get(key)])
    return None


def _in_object(path: str, texts: Mapping[str, Any]) -> Texts | None:
    # The array of texts under a key, or the texts by id.
    if (found := texts_in(path, [texts], 2)) and "[]" in found.expression:
        return found
    values = list(texts.values())
    is_other = any(keys_among(texts, (*TEXT_NAMES, *ANSWER_NAMES, *CONTEXTS_NAMES)))
    if is_other or not values or list in map(type, values):
        return None
    found = texts_in(f"values({path})[]", values)
    return found and Texts(found.expression, found.ids or f"keys({path})")


def _json_in(value: object) -> Any:
    # The object or the array that a text holds as JSON; None without one.
    with suppress(ValueError):
        if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
            return parse_json(value.encode())
    return None


def _places(reply: object, top: str = "") -> Iterator[Place]:
    # Yield the reply (or its only element), the objects in it, and those at one end of the arrays of `_ENDS`.
    if (inner := _json_in(reply)) is not None:
        top, reply = f"from_json({top or '@'})", inner
    elif isinstance(reply, list) and len(reply) == 1:
        top, reply = f"{top}[0]", reply[0]
    if not isinstance(reply, Mapping):
        return
    place = Place(top, reply)
    yield place
    yield from _within(place)
    yield from _at_ends(place)
    for inner in _within(place):
        yield from _within(inner)
        yield from _at_ends(inner)
        for innermost in _within(inner):
            yield from _at_ends(innermost)


def _at_ends(place: Place) -> Iterator[Place]:
    for key in _ENDS:
        values, index = place.keys.get(key), -1 if key == "messages" else 0
        if isinstance(values, list) and values and isinstance(values[index], Mapping):
            end = Place(f"{place.to(key)}[{index}]", values[index])
            yield from _within(end)
            yield end
            yield from _at_ends(end)


def _within(place: Place) -> Iterator[Place]:
    kinds = Mapping | str if len(place.keys) < MANY else Mapping
    for key, value in place.keys.items():
        # Every path below a long key would be too long.
        # The request that a reply repeats has no answer.
        if isinstance(key, str) and len(key) <= LONGEST and isinstance(value, kinds) and key not in {"query", "input"}:
            path, inner = place.at(key)
            if isinstance(inner, Mapping):
                yield Place(path, inner)


def _ids_beside(beside: Place, contexts: str) -> str:
    # The expression for an array of ids as long as that of the contexts; empty without one.
    texts = beside.keys[contexts]
    for place in (beside, *_within(beside)):
        for key in keys_among(place.keys, ID_LIST_NAMES):
            ids = place.keys[key]
            if ids is texts or not isinstance(ids, list) or not ids or len(ids) != len(texts):
                continue
            nested = isinstance(ids[0], list)
            path, ids = (f"{place.to(key)}[]", _flat(ids)) if nested else (place.to(key), ids)
            if len(ids) != len(_flat(texts)):
                continue
            if are_texts(ids):
                return path
            if _are(int, ids):
                return f"{path}[].to_string(@)"
            if _are(dict, ids):
                return _id_of_each(path if nested else f"{path}[]", ids)
    return ""


def _id_of_each(path: str, values: Sequence[Mapping[str, Any]], text: str = "") -> str:
    # The expression for an id of each object, preferably of its document; empty without one but its *text*.
    places = [(path, values)]
    for at, objects in places:  # grows by the places within
        for key in keys_among(objects[0], METADATA_NAMES):
            inner: list[Any] = [value.get(key) for value in objects]
            if _are(dict, inner):
                places.append((f"{at}.{written(key)}", inner))
    last_choice = ""
    for names in (DOCUMENT_NAMES, ID_NAMES):
        for at, objects in places:
            for key in keys_among(objects[0], names):
                ids, found = [each.get(key) for each in objects], f"{at}.{written(key)}"
                if found == text or not {str, int}.issuperset(map(type, ids)):
                    continue
                if not are_texts(ids):
                    found = f"{at}.to_string({written(key)})"
                if names is DOCUMENT_NAMES and not _are_opaque(ids):
                    return found
                last_choice = last_choice or found
    return last_choice


def _are_opaque(ids: Sequence[object]) -> bool:
    # True for numbers, UUIDs, other long hexadecimal numbers and blanks, and for one word such as "web" for all.
    return all(_OPAQUE.fullmatch(str(each)) for each in ids) or (len({*ids}) == 1 < len(ids) and str(ids[0]).isalpha())


def texts_in(path: str, values: Sequence[Any], deeper: int = _DEEPEST) -> Texts | None:
    """The expressions that extend *path*, the path of *values*, to a text and an id of each value."""
    if are_texts(values):
        return Texts(path)
    if {dict} < {*map(type, values)} <= {dict, float, int}:  # pairs of LangChain's similarity_search_with_score
        pairs = path.removesuffix("[]").removesuffix("[]")
        return texts_in(f"{pairs}[*][0]", [each for each in values if isinstance(each, dict)], deeper)
    if deeper and _are(list, values):
        return texts_in(f"{path}[]", _flat(values), deeper - 1)
    if deeper and _are(dict, values):
        objects = {key: value for key, value in values[0].items() if isinstance(value, Mapping)}
        # A citation of Cohere has a part of the answer as its text.
        is_part = values[0].keys() >= {"start", "end"} and not values[0].keys().isdisjoint(("sources", "document_ids"))
        names = ("sources",) if is_part else TEXT_NAMES
        for key in (*keys_among(values[0], names), *keys_among(objects, TEXT_OBJECT_NAMES)):
            inner, text = [value.get(key) for value in values], f"{path}.{written(key)}"
            found = texts_in(text, inner, deeper - 1)
            ids = _id_of_each(path, values, found.expression if found else text)
            if ids and all(isinstance(each, list) and are_texts(_flat(each)) for each in inner):
                return Texts(f"{path}.join(' ', {written(key)})", ids)
            if found:
                # An id of an object with several texts would be too few.
                is_one = "[]" not in found.expression.removeprefix(path)
                # The title in a hit of Elasticsearch is no better than the id of the hit.
                inner_ids = "" if found.ids.endswith((".title", ".name")) else found.ids
                return Texts(found.expression, inner_ids or (ids if is_one else "") or found.ids)
    return None


def _are(kind: type, values: Sequence[Any]) -> bool:
    return {*map(type, values)} == {kind}


def _flat(values: Sequence[Any]) -> list[Any]:
    # The elements with arrays flattened by one level, like `[]` in JMESPath.
    return [each for value in values for each in (value if isinstance(value, list) else [value])]
