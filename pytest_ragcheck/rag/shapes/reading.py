"""`Reading` turns a reply into a `RagAnswer`, by expressions for the answer, the contexts and the source ids."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.rag.body.json_body import ReplyMismatch, excerpt, named
from pytest_ragcheck.rag.shapes.expression import Expression


class ObjectFields(Mapping[str, Any]):
    """The attributes and properties of an object, without its methods, each read when an expression needs it."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __getitem__(self, name: str) -> Any:
        try:
            found = getattr(self._value, name)
        except AttributeError:
            raise KeyError(name) from None
        if inspect.isroutine(found):
            raise KeyError(name)
        return readable(found)

    def __iter__(self) -> Iterator[str]:
        kind = type(self._value)
        own = (*getattr(self._value, "__dict__", ()), *getattr(kind, "__dataclass_fields__", ()))
        of_kind = (name for name in dir(kind) if not callable(getattr(kind, name, None)))
        return (name for name in dict.fromkeys((*own, *of_kind)) if not name.startswith("_"))

    def __len__(self) -> int:
        return len(list(iter(self)))


def readable(value: Any) -> Any:
    """The value with mappings as dicts, sequences as lists, and other objects as `ObjectFields`."""
    read: dict[int, Any] = {}
    # Each part once: a value may contain itself, or occur often. The list keeps the parts, and so their ids.
    parts: list[tuple[object, Any]] = []

    def part(value: Any) -> Any:
        if value is None or isinstance(value, str | int | float | bytes):
            return value
        fields = getattr(value, "_asdict", lambda: value)() if isinstance(value, tuple) else value
        if not isinstance(fields, Mapping | Sequence):
            return ObjectFields(value)
        if id(value) not in read:
            read[id(value)] = {} if isinstance(fields, Mapping) else []
            parts.append((value, fields))
        return read[id(value)]

    whole = part(value)
    for each, fields in parts:  # grows
        if isinstance(fields, Mapping):
            read[id(each)].update((key, part(value)) for key, value in fields.items())
        else:
            read[id(each)].extend(map(part, fields))
    return whole


FIELDS = ("answer", "contexts", "source_ids", "session")
EXAMPLE = "answer=result.text contexts=result.sources[].text"

LATER = "Settings ask once. Wait for the answer in a function: ragcheck docs how-to/own-endpoint-shape."
FIX_THE_CAUSE = "Fix its cause in the RAG system, and report such failures with status 500."

# Skip quoted text, which may contain the name of a field, and the comparison `==`.
_FIELD = re.compile(
    r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:\\.|[^`\\])*`|(?<!\S)(?P<name>[A-Za-z_]\w*)\s*=(?!=)""", re.ASCII
)


class NotFound(ReplyMismatch):
    """An expression finds nothing in the reply; `with_fitting_setting` suggests another expression."""

    def __init__(self, field: str, found: str, to_do: str) -> None:
        super().__init__(found, to_do)
        self.field = field


class IdsMismatch(ReplyMismatch):
    """The reply has answer and contexts, but no id for each context; `with_fitting_setting` suggests a setting."""


class SessionMismatch(ReplyMismatch):
    """The session is not a text or a number; another setting for answer and contexts does not help."""


@frozen
class Reading:
    contexts: Expression
    answer: Expression | None = None
    """None if no answer is read, as in the tier `retrieval`."""

    source_ids: Expression | None = None
    """None if the reply names no sources; an expression without a value in the reply has the same effect."""

    session: Expression | None = None
    """None if the reply names no session; otherwise as `source_ids`."""

    @classmethod
    def from_text(cls, text: str) -> Reading:
        """
        The reading of `answer=EXPRESSION contexts=EXPRESSION source_ids=EXPRESSION session=EXPRESSION`.

        Without an answer the reading works in the tier `retrieval` only. A field starts with its name and `=`, after
        white space or at the start.

        Raises:
            ValueError: The text is invalid; the message continues a sentence that starts with the text.
        """
        expressions: dict[str, Expression] = {}
        for name, expression in _split(text):
            if name not in FIELDS:
                raise ValueError(f"names {name!r}, which is not part of an answer; write {', '.join(FIELDS)}")
            if name in expressions:
                raise ValueError(f"gives {name} twice; give it once")
            try:
                expressions[name] = Expression(expression)
            except ValueError as error:
                raise ValueError(f"has a mistake: {name}={expression} {error}") from None
        if "contexts" not in expressions:
            raise ValueError(
                "does not say where the contexts are; write contexts=EXPRESSION, or contexts=`[]` if the reply has none"
            )
        return cls(**expressions)

    def read(self, reply: object) -> RagAnswer:
        """
        The answer in the reply; top-level keys other than those of the expressions go to `extra`.

        Answer and contexts may be empty. The text is empty if no answer is read.

        Raises:
            ReplyMismatch: An expression finds nothing, or a value of another type.
        """
        field, wanted = ("contexts", self.contexts) if self.answer is None else ("answer", self.answer)
        found = {field: _find(field, wanted, reply)}
        # Empty without an error, an answer is an abstention, and contexts are a search without a hit.
        has_text = bool(str(found[field] or "").strip())
        if error := wanted.error_in(reply, beside_text=has_text, unfinished=not has_text):
            label = _label(field, wanted)
            raise ReplyMismatch(f"the reply has no {field} in {label} but an error: {error}", FIX_THE_CAUSE)
        if not has_text and (pending := wanted.pending_in(reply)):
            raise ReplyMismatch(f"the reply has no {field} yet: {pending}", LATER)
        if self.answer is not None:
            found["contexts"] = _find("contexts", self.contexts, reply)
        found.update({field: self.part(field, reply) for field in ("source_ids", "session")})
        # The attributes of an object may be slow properties.
        beside = reply if isinstance(reply, Mapping) and not isinstance(reply, ObjectFields) else {}
        found["unfinished"] = wanted.error_in(reply, beside_text=True, unfinished=True)
        return self.assemble(found, beside, reply)

    def part(self, field: str, reply: object) -> Any:
        """The value of one of `FIELDS` in the reply; None if it has none."""
        expression: Expression | None = getattr(self, field)
        return None if expression is None else _found(field, expression, reply)

    def assemble(self, found: Mapping[str, Any], beside: Mapping[str, Any], reply: object = None) -> RagAnswer:
        """
        The answer that consists of the parts in *found*, by field.

        The keys *beside* the parts, except those of the expressions, go to `extra`. Error texts describe the *reply*.
        """
        text = "" if self.answer is None else _text(found["answer"], _label("answer", self.answer))
        contexts = _contexts(found["contexts"], _label("contexts", self.contexts))
        taken = {each.text for each in (self.answer, self.contexts, self.source_ids, self.session) if each}
        extra = {key: value for key, value in beside.items() if key not in taken}
        ids = self._ids(found.get("source_ids"), len(contexts), reply)
        session = None if self.session is None else _session(found.get("session"), _label("session", self.session))
        return RagAnswer(
            text=text, contexts=contexts, source_ids=ids, session=session, extra=extra, unfinished=found["unfinished"]
        )

    def _ids(self, ids: object, contexts: int, reply: object) -> tuple[str, ...] | None:
        if self.source_ids is None or ids is None:
            return None
        label = _label("source_ids", self.source_ids)
        if not isinstance(ids, Sequence) or isinstance(ids, str):
            raise IdsMismatch(f"{label} is {named(ids)}, not an array of strings", "Name an id for each context.")
        for index, each in enumerate(ids):
            if not isinstance(each, str):
                found = f"{_element(label, index)} is {named(each)}, not a string"
                raise IdsMismatch(found, f"Make numbers texts in the expression, as in {_as_texts(self.source_ids)}.")
        if len(ids) != contexts:
            missing = self.source_ids.dead_end(reply) if reply is not None else ""
            found = f"{label} has {len(ids)} for {contexts} contexts" + (f": {missing}" if missing else "")
            raise IdsMismatch(found, "Make it return one id for each context, in their order.")
        return tuple(ids)


def _split(text: str) -> Iterator[tuple[str, str]]:
    fields = [match for match in _FIELD.finditer(text) if match["name"]]
    before = text[: fields[0].start()] if fields else text
    if before.strip():
        raise ValueError(f"does not begin with a field; write, for example, {EXAMPLE}")
    for match, following in zip_longest(fields, fields[1:]):
        yield match["name"], text[match.end() : following.start() if following else None].strip()


def _find(field: str, expression: Expression, reply: object) -> Any:
    # The value of the expression; its path has to exist in every element.
    value = _found(field, expression, reply)
    key, part = expression.text, f"{field}={expression.text}"
    if expression.is_key and (value is not None or (isinstance(reply, Mapping) and key in reply)):
        return value
    # JMESPath skips elements that lack a key; a missing context must not go unnoticed.
    if found := expression.dead_end(reply):
        to_do = f'Return "{key}", or correct {part}.' if expression.is_key else f"Correct {part}, or fix the reply."
        if error := expression.error_in(reply, unfinished=field == "answer"):
            lacks = f'the reply has no "{key}" but' if expression.is_key else f"{part} finds nothing: the reply is"
            raise ReplyMismatch(f"{lacks} an error: {error}", FIX_THE_CAUSE)
        if value:
            to_do += " To skip elements without it, use a filter, as in items[?text].text."
        if not expression.is_key:
            from pytest_ragcheck.rag.shapes.reply_search import with_messages

            found = with_messages(f"{part} finds nothing: {found}", reply)
        raise NotFound(field, found, to_do)
    if value is None:
        raise NotFound(field, f"{part} finds nothing in the reply, which is {named(reply)}", f"Correct {part}.")
    return value


def _found(field: str, expression: Expression, reply: object) -> Any:
    try:
        return expression.find(reply)
    except ValueError as error:  # raised by a function, such as length() of a number
        found = f"{field}={expression.text} cannot be evaluated for this reply: {excerpt(str(error))}"
        raise ReplyMismatch(found, f"Correct {field}={expression.text}.") from None


def _label(field: str, expression: Expression) -> str:
    return f'"{expression.text}"' if expression.is_key else f"{field}={expression.text}"


def _as_texts(expression: Expression) -> str:
    path, dot, key = expression.text.rpartition(".")
    # A quoted key may contain a dot.
    return f"source_ids={path}.to_string({key})" if dot and key.isidentifier() else "sources[].to_string(id)"


def _element(label: str, index: int) -> str:
    return f"{label}[{index}]" if label.startswith('"') else f"element {index} of {label}"


def _text(value: object, label: str) -> str:
    if not isinstance(value, str):
        found = f"{label} is {named(value)}, not a string"
        if value is None:
            raise ReplyMismatch(found, 'Return "" where the system declines to answer.')
        key = _key_of_text(value)
        raise ReplyMismatch(found, f'Return the text that "{key}" holds.' if key else "Return the text of the answer.")
    _refuse_lone_surrogates(value, label)
    return value


def _contexts(value: object, label: str) -> tuple[str, ...]:
    if isinstance(value, str | bytes):
        raise ReplyMismatch(f"{label} is one string, not an array", 'Return ["...", "..."], each passage a string.')
    if not isinstance(value, Sequence):
        found = f"{label} is {named(value)}, not an array of strings"
        raise ReplyMismatch(found, "Return the retrieved texts, or [] where nothing was retrieved.")
    for index, context in enumerate(value):
        where = _element(label, index)
        if not isinstance(context, str):
            key = _key_of_text(context)
            to_do = f'Return the "{key}" of each; further keys of the reply may hold the rest.' if key else ""
            found = f"{where} is {named(context)}, not a string"
            raise ReplyMismatch(found, to_do or "Return the text of each passage.")
        _refuse_lone_surrogates(context, where)
    return tuple(value)


def _session(value: object, label: str) -> str | float | None:
    # The session as the reply has it, since a server may check its type; None if the reply names none.
    if isinstance(value, bool) or not isinstance(value, str | int | float | None):
        found = f"{label} is {named(value)}, not a string or a number"
        raise SessionMismatch(found, "Name the id of the conversation.")
    if isinstance(value, str):
        _refuse_lone_surrogates(value, label)
    return None if value == "" else value


def _key_of_text(value: object) -> str | None:
    if not isinstance(value, Mapping):
        return None
    from pytest_ragcheck.rag.shapes.reply_search import TEXT_NAMES, keys_among

    return next((key for key in keys_among(value, TEXT_NAMES) if isinstance(value[key], str)), None)


def _refuse_lone_surrogates(text: str, where: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        code = ord(text[error.start])
        raise ReplyMismatch(
            f"{where} holds half a character, \\u{code:04x}, at position {error.start}",
            "Cut texts between characters: in UTF-16, as in JavaScript, an emoji counts as two.",
        ) from None
