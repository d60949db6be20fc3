"""`fitting_response` suggests a `rag_response` for a reply, by the keys that RAG systems use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from pytest_ragcheck.rag.ask import are_texts
from pytest_ragcheck.rag.body.json_body import ReplyMismatch, parse_json
from pytest_ragcheck.rag.body.reply_keys import (
    ANSWER_NAMES,
    CONTEXT_PART_NAMES,
    CONTEXTS_NAMES,
    DOCUMENT_NAMES,
    ID_LIST_NAMES,
    ID_NAMES,
    KNOWN_SETTINGS,
    METADATA_NAMES,
    PIECE_NAMES,
    TEXT_NAMES,
    TEXT_OBJECT_NAMES,
    keys_among,
)
from pytest_ragcheck.rag.shapes.contract_reply import with_contract_remedy
from pytest_ragcheck.rag.shapes.expression import Expression, written
from pytest_ragcheck.rag.shapes.reading import IdsMismatch, NotFound, Reading, SessionMismatch
from pytest_ragcheck.rag.shapes.shape import Shape

_LONGEST = 400
"""Most characters of a suggested setting."""

_MANY = 100
"""Number of pieces, and of texts that may be JSON, whose search takes long."""

_MOST_PLACES = 1_000
"""Most objects that are searched."""

_DEEPEST = 4
"""Most levels between the array of contexts and their texts."""

_ENDS = {"choices": 0, "candidates": 0, "answers": 0, "messages": -1, "response": 0, "2": 0, "8": 0}
"""Arrays with the answer at one end, of OpenAI, Gemini, Haystack, LangGraph, Azure AI Search; data of AI SDK 4."""

_ASIDE = re.compile(r'^"[28]"|reason|think|tool|status|source|retriev|document|context|\bdata-')
"""The path or the type of a text in an event beside the answer."""

_STATUS = re.compile(r"(?i)(?:ok|done|.{0,60}(?:success\w*|成功))\W*$")
"""A text that may be the message of an envelope, such as `{"message": "success", "data": {"answer": "..."}}`."""


def with_fitting_setting(mismatch: ReplyMismatch, reply: object, shape: Shape) -> ReplyMismatch:
    if isinstance(mismatch, SessionMismatch):
        return mismatch
    setting = fitting_response(reply, answers=shape.reading.answer is not None)
    if shape.reads_the_contract:
        return _with_both_remedies(mismatch, reply, setting)
    if setting and isinstance(mismatch, IdsMismatch) and "source_ids=" not in setting:
        return ReplyMismatch(mismatch.found, f"{mismatch.to_do} To do without ids, set rag_response = {setting}")
    if setting:
        return ReplyMismatch(mismatch.found, f"Set rag_response = {setting}")
    answer = _answer(reply)
    if isinstance(mismatch, NotFound) and mismatch.field == "contexts" and answer:
        to_do = (
            f"Set rag_response = answer={answer.expression} contexts=EXPRESSION with an expression that leads to them, "
            "or contexts=`[]` if the reply has none."
        )
        return ReplyMismatch(mismatch.found, to_do)
    return mismatch


def _with_both_remedies(mismatch: ReplyMismatch, reply: object, setting: str | None) -> ReplyMismatch:
    missing = isinstance(mismatch, NotFound)
    mismatch = with_contract_remedy(mismatch, reply)
    keys = reply if isinstance(reply, Mapping) else {}
    is_of_a_server = isinstance(keys.get("answer"), str) and isinstance(keys.get("sources"), list)
    if is_of_a_server and not {"session_id", "citations"}.isdisjoint(keys):
        to_do = "set rag_shape = server"
    elif setting:
        to_do = f"set rag_response = {setting}"
    elif missing and keys:
        to_do = "say by rag_response where answer and contexts are."
    else:
        return mismatch
    return ReplyMismatch(mismatch.found, f"{mismatch.to_do} Or leave the endpoint as it is, and {to_do}")


def fitting_response(reply: object, *, answers: bool = True) -> str | None:
    """
    A `rag_response` that reads answer, contexts and ids, if any; None if no known form fits the reply.

    Without *answers*, as in the tier `retrieval`, the reply needs none.
    """
    if not answers and isinstance(reply, list):
        answer, contexts = None, _texts("[]", reply, _DEEPEST)
    elif isinstance(reply, list) and len(reply) > 1:
        return _in_array(reply, "", reply)
    else:
        answer = _answer(reply)
        names = CONTEXTS_NAMES if answers else CONTEXT_PART_NAMES
        contexts = _contexts(reply, answer.place if answer else _Place("", {}), names)
    if contexts is None or (answers and answer is None):
        for setting in KNOWN_SETTINGS:
            if _reads(setting, reply):
                return setting
        keys = reply if isinstance(reply, Mapping) else {}
        # Of OpenAI's Responses API, and of Anthropic's Messages
        path = "output" if "output" in keys else "content"
        return _in_array(reply, path, keys[path]) if isinstance(keys.get(path), list) else None
    setting = f"{f'answer={answer.expression} ' if answer else ''}contexts={contexts.expression}"
    with_ids = f"{setting} source_ids={contexts.ids}"
    if contexts.ids and _reads(with_ids, reply):
        return with_ids
    return setting if _reads(setting, reply) else None


def _in_array(reply: object, path: str, parts: list[Any]) -> str | None:
    setting = fitting_events([*parts[:_MANY], *parts[-_MANY:]], {}, path)
    return setting if setting and _reads(setting, reply) else None


def fitting_events(events: Iterable[object], merged: Mapping[str, Any], array: str | None = None) -> str | None:
    """
    A `rag_response` for the events of a stream; None if none has an answer, or none has contexts.

    *merged* has the last value of each key. With the path of an *array* the events are its elements.
    """
    answer = contexts = None
    # The type of the last event says nothing about the texts of others.
    for event in [merged, *events] if {"type", "event"}.isdisjoint(merged) else [*events, merged]:
        keys: Mapping[str, Any] = event if isinstance(event, Mapping) else {}
        name = "type" if "type" in keys else "event"
        kind = keys.get(name)
        found = _answer(event, PIECE_NAMES)
        if answer is None and found and not _ASIDE.search(f"{found.expression} {kind}"):
            of_kind = f"[?{name}=='{kind}']" if isinstance(kind, str) and re.fullmatch(r"[\w.-]+", kind) else ""
            answer = found.expression
            if array is not None:
                answer = f"join('', {array}{of_kind or '[]'}.{answer})"
            elif of_kind:
                answer = f"[@]{of_kind}.{answer} | [0]"
        if contexts is None and keys:
            texts = _contexts(keys, found.place if found else _Place("", keys), CONTEXT_PART_NAMES)
            # Events before that of the sources may have an empty array for them.
            contexts = texts if texts and Expression(texts.expression).find(keys) else None
    if answer is None or contexts is None:
        return None
    paths = list(filter(None, (contexts.expression, contexts.ids)))
    if array is not None:  # the path in those elements that have it
        paths = [f"{array}[?{each.partition('[]')[0]}].{each}{'' if '[]' in each else '[]'}" for each in paths]
    return " ".join(map("{}={}".format, ("answer", "contexts", "source_ids"), (answer, *paths)))


def _reads(setting: str, reply: object) -> bool:
    with suppress(ReplyMismatch):  # for example a lone surrogate, which no setting mends
        if len(setting) <= _LONGEST:
            Reading.from_text(setting).read(reply)
            return True
    return False


@dataclass(frozen=True, slots=True)
class _Place:
    """An object within the reply and its path, where `_answer` and `_contexts` search."""

    path: str
    keys: Mapping[str, Any]

    def to(self, key: str) -> str:
        return f"{self.path}.{written(key)}" if self.path else written(key)

    def at(self, key: str) -> tuple[str, Any]:
        path, inner = self.to(key), _json_in(self.keys[key])
        return (path, self.keys[key]) if inner is None else (f"from_json({path})", inner)


@dataclass(frozen=True, slots=True)
class _Answer:
    expression: str
    place: _Place


@dataclass(frozen=True, slots=True)
class _Texts:
    expression: str
    ids: str = ""
    """The expression for an id of each text; empty without ids."""


def _answer(reply: object, names: Sequence[str] = ANSWER_NAMES, top: str = "") -> _Answer | None:
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
            found, is_json = _Answer(path, place), _json_in(value) is not None
            if is_json and (inner := _answer(value, names, path)):
                return inner
            if not (part or is_json or _STATUS.match(value)):
                return found
            last_choice = last_choice or found
    return last_choice


def _contexts(reply: object, beside: _Place, names: Sequence[str] = CONTEXTS_NAMES) -> _Texts | None:
    """The expressions for the contexts and their ids; objects near the answer have priority."""
    places = list(islice(chain([beside], _within(beside), _places(reply)), _MOST_PLACES))
    places += list(islice(chain.from_iterable(map(_within, places)), _MOST_PLACES))
    last_choice = None
    for place in places:
        for key in keys_among(place.keys, names):
            path, value = place.at(key)
            if key in keys_among(place.keys, CONTEXTS_NAMES):
                if isinstance(value, str):
                    return _Texts(f"[{path}]")
                if isinstance(value, Mapping) and (in_object := _in_object(path, value)):
                    return in_object
            plain = are_texts(value)
            if plain and all(each.startswith(("http://", "https://")) for each in value):  # an empty one, too
                last_choice = last_choice or _Texts(path)
            elif isinstance(value, list):
                found = _Texts(path) if plain else _texts(f"{path}[]", _flat(value), _DEEPEST)
                if found and not found.ids and are_texts(_flat(value)):
                    found = _Texts(found.expression, _ids_beside(place, key))
                if found:
                    return found
    return last_choice


def _in_object(path: str, texts: Mapping[str, Any]) -> _Texts | None:
    """The array of texts under a key, or the texts by id."""
    if (found := _texts(path, [texts], 2)) and "[]" in found.expression:
        return found
    values = list(texts.values())
    is_other = any(keys_among(texts, (*TEXT_NAMES, *ANSWER_NAMES, *CONTEXTS_NAMES)))
    if is_other or not values or list in map(type, values):
        return None
    found = _texts(f"values({path})[]", values, _DEEPEST)
    return found and _Texts(found.expression, found.ids or f"keys({path})")


def _json_in(value: object) -> Any:
    # The object or the array that a text holds as JSON; None without one.
    with suppress(ValueError):
        if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
            return parse_json(value.encode())
    return None


def _places(reply: object, top: str = "") -> Iterator[_Place]:
    """Yield the reply (or its only element), the objects in it, and those at one end of the arrays of `_ENDS`."""
    if (inner := _json_in(reply)) is not None:
        top, reply = f"from_json({top or '@'})", inner
    if isinstance(reply, list) and len(reply) == 1:
        top, reply = f"{top}[0]", reply[0]
    if not isinstance(reply, Mapping):
        return
    place = _Place(top, reply)
    yield place
    yield from _within(place)
    for key, index in _ENDS.items():
        values = reply.get(key)
        if isinstance(values, list) and values and isinstance(values[index], Mapping):
            end = _Place(f"{place.to(key)}[{index}]", values[index])
            yield from _within(end)
            yield end
    for inner in _within(place):
        yield from _within(inner)


def _within(place: _Place) -> Iterator[_Place]:
    kinds = Mapping | str if len(place.keys) < _MANY else Mapping
    for key, value in place.keys.items():
        # Every path below a long key would be too long.
        # The request that a reply repeats has no answer.
        if isinstance(key, str) and len(key) <= _LONGEST and isinstance(value, kinds) and key not in {"query", "input"}:
            path, inner = place.at(key)
            if isinstance(inner, Mapping):
                yield _Place(path, inner)


def _ids_beside(beside: _Place, contexts: str) -> str:
    """The expression for an array of ids as long as that of the contexts; empty without one."""
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
            if _are(dict, ids):
                return _id_of_each(path if nested else f"{path}[]", ids)
    return ""


def _id_of_each(path: str, values: Sequence[Mapping[str, Any]], text: str = "") -> str:
    """The expression for an id of each object, preferably of its document; empty without one but its *text*."""
    places = [(path, values)]
    for at, objects in places:  # grows by the places within
        for key in keys_among(objects[0], METADATA_NAMES):
            inner: list[Any] = [value.get(key) for value in objects]
            if _are(dict, inner):
                places.append((f"{at}.{written(key)}", inner))
    for names in (DOCUMENT_NAMES, ID_NAMES):
        for at, objects in places:
            for key in keys_among(objects[0], names):
                ids, found = [each.get(key) for each in objects], f"{at}.{written(key)}"
                if found == text:
                    continue
                if are_texts(ids):
                    return found
                if {str, int}.issuperset(map(type, ids)):
                    return f"{at}.to_string({written(key)})"
    return ""


def _texts(path: str, values: Sequence[Any], deeper: int) -> _Texts | None:
    """The expressions that extend *path*, the path of *values*, to a text and an id of each value."""
    if are_texts(values):
        return _Texts(path)
    if {dict} < {*map(type, values)} <= {dict, float, int}:  # pairs of LangChain's similarity_search_with_score
        pairs = path.removesuffix("[]").removesuffix("[]")
        return _texts(f"{pairs}[*][0]", [each for each in values if isinstance(each, dict)], deeper)
    if deeper and _are(list, values):
        return _texts(f"{path}[]", _flat(values), deeper - 1)
    if deeper and _are(dict, values):
        objects = {key: value for key, value in values[0].items() if isinstance(value, Mapping)}
        # A citation of Cohere has a part of the answer as its text.
        is_part = values[0].keys() >= {"start", "end"} and not values[0].keys().isdisjoint(("sources", "document_ids"))
        names = ("sources",) if is_part else TEXT_NAMES
        for key in (*keys_among(values[0], names), *keys_among(objects, TEXT_OBJECT_NAMES)):
            inner, text = [value.get(key) for value in values], f"{path}.{written(key)}"
            found = _texts(text, inner, deeper - 1)
            ids = _id_of_each(path, values, found.expression if found else text)
            if ids and all(isinstance(each, list) and are_texts(_flat(each)) for each in inner):
                return _Texts(f"{path}.join(' ', {written(key)})", ids)
            if found:
                # An id of an object with several texts would be too few.
                is_one = "[]" not in found.expression.removeprefix(path)
                # The title in a hit of Elasticsearch is no better than the id of the hit.
                inner_ids = "" if found.ids.endswith((".title", ".name")) else found.ids
                return _Texts(found.expression, inner_ids or (ids if is_one else "") or found.ids)
    return None


def _are(kind: type, values: Sequence[Any]) -> bool:
    return {*map(type, values)} == {kind}


def _flat(values: Sequence[Any]) -> list[Any]:
    # The elements with arrays flattened by one level, like `[]` in JMESPath.
    return [each for value in values for each in (value if isinstance(value, list) else [value])]
