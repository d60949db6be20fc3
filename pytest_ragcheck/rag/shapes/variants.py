"""`fitting_response` suggests a `rag_response` for a reply, by the keys that RAG systems use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import product
from typing import Any

from pytest_ragcheck.rag.body.json_body import ReplyMismatch
from pytest_ragcheck.rag.shapes.expression import Expression
from pytest_ragcheck.rag.shapes.reading import IdsMismatch, NotFound, Reading, SessionMismatch
from pytest_ragcheck.rag.shapes.reply_search import (
    CONTEXT_PART_NAMES,
    CONTEXTS_NAMES,
    KNOWN_SETTINGS,
    LONGEST,
    MANY,
    PIECE_NAMES,
    Place,
    answer_in,
    contexts_in,
    texts_in,
)
from pytest_ragcheck.rag.shapes.shape import Shape, with_contract_remedy

_ASIDE = re.compile(
    r'(?i)^"[28]"|reason|think|tool|function|verbose|status|source|retriev|document|context|\bdata-|\b(user|human)\b'
)
"""The path, the type or the sender of a text in an event beside the answer."""

NO_CONTEXTS = " contexts=EXPRESSION with an expression that leads to them, or contexts=`[]` if the reply has none."


def with_fitting_setting(mismatch: ReplyMismatch, reply: object, shape: Shape) -> ReplyMismatch:
    if isinstance(mismatch, SessionMismatch):
        return mismatch
    setting = fitting_response(reply, answers=shape.reading.answer is not None)
    if shape.reads_the_contract:
        return _with_both_remedies(mismatch, reply, setting)
    own = shape.reading.session
    if setting and own and _reads(kept := f"{setting} session={own.text}", reply) and own.find(reply):
        setting = kept
    if setting and isinstance(mismatch, IdsMismatch) and "source_ids=" not in setting:
        return ReplyMismatch(mismatch.found, f"{mismatch.to_do} To do without ids, set rag_response = {setting}")
    if setting:
        return ReplyMismatch(mismatch.found, f"Set rag_response = {setting}")
    answer = answer_in(reply)
    # An expression that finds some contexts needs a filter.
    if isinstance(mismatch, NotFound) and mismatch.field == "contexts" and answer and "[?" not in mismatch.to_do:
        return ReplyMismatch(mismatch.found, f"Set rag_response = answer={answer.expression}{NO_CONTEXTS}")
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
        answer, contexts = None, texts_in("[]", reply)
    elif isinstance(reply, list) and len(reply) > 1:
        return _in_array(reply, "", reply)
    else:
        answer = answer_in(reply)
        names = CONTEXTS_NAMES if answers else CONTEXT_PART_NAMES
        contexts = contexts_in(reply, answer.place if answer else Place("", {}), names)
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
    setting = fitting_events([*parts[:MANY], *parts[-MANY:]], {}, path)
    return setting if setting and _reads(setting, reply) else None


def fitting_events(events: Iterable[object], merged: Mapping[str, Any], array: str | None = None) -> str | None:
    """
    A `rag_response` for the events of a stream, which ends with `NO_CONTEXTS` if none has any; None without an answer.

    *merged* has the last value of each key. With the path of an *array* the events are its elements.
    """
    answer = contexts = None
    # The last type says nothing about other texts.
    events = [merged, *events] if {"type", "event"}.isdisjoint(merged) else [*events, merged]
    # A message may be a status.
    for names, event in product(([each for each in PIECE_NAMES if each != "message"], PIECE_NAMES), events):
        keys: Mapping[str, Any] = event if isinstance(event, Mapping) else {}
        found = answer_in(event, names)
        told = found and [
            each.get(key) for each in (keys, found.place.keys) for key in ("type", "event", "role", "sender")
        ]
        if answer is None and found and not _ASIDE.search(f"{found.expression} {told}"):
            # The first of LangGraph's messages is the user's.
            place = found.place if found.place.path.endswith("messages[-1]") else Place("@", keys)
            name = "type" if "type" in place.keys else "event"
            kind = place.keys.get(name)
            if kind == "response.refusal.delta":  # the expression of other answers reads it too
                kind = "response.output_text.delta"
            of_kind = f"[?{name}=='{kind}']" if isinstance(kind, str) and re.fullmatch(r"[\w./-]+", kind) else ""
            answer = found.expression
            if array is not None:
                answer = f"join('', {array}{of_kind or '[]'}.{answer})"
            elif of_kind:
                answer = f"[{place.path}]{of_kind}.{answer.removeprefix(place.path + '.')} | [0]"
        if contexts is None and keys:
            texts = contexts_in(keys, found.place if found else Place("", keys), CONTEXT_PART_NAMES)
            # Events before that of the sources may have an empty array for them.
            if texts and Expression(texts.expression).find(keys):
                contexts = None if found and found.expression.startswith(texts.expression) else texts
    if answer is None or contexts is None:
        return answer and f"answer={answer}{NO_CONTEXTS}"
    paths = list(filter(None, (contexts.expression, contexts.ids)))
    if array is not None:  # the path in those elements that have it
        paths = [f"{array}[?{each.partition('[]')[0]}].{each}{'' if '[]' in each else '[]'}" for each in paths]
    return " ".join(map("{}={}".format, ("answer", "contexts", "source_ids"), (answer, *paths)))


def _reads(setting: str, reply: object) -> bool:
    with suppress(ValueError):  # for example a lone surrogate, which no setting mends
        if len(setting) <= LONGEST:
            Reading.from_text(setting).read(reply)
            return True
    return False
