"""Reads YAML into nodes with lines, and writes a question file as YAML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

from pytest_ragcheck.questions.nodes.node import (
    MAX_DEPTH,
    Entry,
    ListNode,
    MappingNode,
    Node,
    Scalar,
    Unreadable,
    shortened,
    too_deep,
)
from pytest_ragcheck.questions.question_ids import UNPRINTABLE

MAX_ALIASED_SIZE = 64_000_000
"""Maximum size of all aliases, in characters; ample for shared passages, too small for an alias bomb."""

_NODE_SIZE = 64  # the size of a value without its text, in characters
_CORE = "tag:yaml.org,2002:"
_PLAIN_TAGS = frozenset(_CORE + name for name in ("int", "float", "bool", "null", "timestamp", "merge"))
_KNOWN_TAGS = _PLAIN_TAGS | {None, "!", _CORE + "str", _CORE + "seq", _CORE + "map"}

# Characters that YAML forbids; both libyaml and PyYAML stop at the first one.
# The complement of the allowed characters would take ten times as long to compile.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")

# libyaml is ten times faster; PyYAML lacks it on platforms without a wheel.
FAST_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def compose_yaml(text: str, *, loader: Any = FAST_LOADER) -> Node | None:
    """
    The tree of the one YAML document in *text*; None if the text is empty or has only comments.

    Raises:
        Unreadable: The text is not printable YAML, has several documents, or nests or repeats values too much.
    """
    if (odd := _UNPRINTABLE.search(text)) is not None:
        line = text.count("\n", 0, odd.start()) + 1
        raise Unreadable(line, f"has the control character U+{ord(odd[0]):04X}. Delete it.")
    parser = loader(text)
    try:
        return _Composer(parser).document()
    except yaml.MarkedYAMLError as error:
        line, what = _where_and_what(error)
        # The look-ahead of libyaml 0.2.6 may reach a limit of its own before the first event.
        if "maximum nesting depth" in what:
            raise too_deep(line) from error
        begins = error.context_mark.line + 1 if error.context_mark else line
        raise Unreadable(line, f"{what}. {_advice(text, line, begins, what)}") from error
    finally:
        parser.dispose()


def _where_and_what(error: yaml.MarkedYAMLError) -> tuple[int, str]:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else 1
    text = f"is not YAML: {error.problem or error.context}"
    if error.problem and error.context:
        text += f" ({error.context}"
        text += f" from line {error.context_mark.line + 1})" if error.context_mark else ")"
    return line, text


def _advice(text: str, line: int, begins: int, what: str) -> str:
    # The remedy for a syntax error on *line*, in a value that begins on the line *begins*, both from 1.
    # Not `splitlines`, which splits at more characters than YAML.
    lines = text.split("\n")
    if _TAB.match(lines[line - 1] if line <= len(lines) else ""):
        return "The line is indented by a tab. Indent it by spaces."
    for wrong in (line, begins):
        if _EXPRESSION.search(lines[wrong - 1] if wrong <= len(lines) else ""):
            place = "The line" if wrong == line else f"Line {wrong}"
            return f"{place} has a regular expression without quotes. Put the expression in quotes, such as '/3[4-6]/'."
    return _COLON if "mapping values" in what else "Correct it there or shortly before."


_COLON = "Put a text that contains ': ' in quotes, and give the keys of a question the same indent."
_TAB = re.compile(r"[ -]*\t")
_EXPRESSION = re.compile(r"[\[:,-]\s*/\S.*/")


class _Composer:
    def __init__(self, parser: Any) -> None:
        self._parser = parser
        self._anchors: dict[str, tuple[Node, int] | None] = {}  # None: its value is still being read
        self._size = 0
        self._aliased_size = 0

    def document(self) -> Node | None:
        next_event = self._parser.get_event
        next_event()  # the start of the stream
        if isinstance(next_event(), yaml.StreamEndEvent):
            return None
        node = self._node(next_event(), depth=1)
        next_event()  # the end of the document
        if not isinstance(event := next_event(), yaml.StreamEndEvent):
            raise Unreadable(
                event.start_mark.line + 1, "holds a second YAML document after '---'. Make it a file of its own."
            )
        return node

    def _node(self, event: Any, *, depth: int) -> Node:
        if isinstance(event, yaml.AliasEvent):
            return self._aliased(event)
        line = event.start_mark.line + 1
        if event.tag not in _KNOWN_TAGS:
            raise Unreadable(line, f"has the YAML tag {shortened(event.tag)}, which is not read. Delete the tag.")
        before = self._size
        self._size += _NODE_SIZE
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        node: Node
        if isinstance(event, yaml.ScalarEvent):
            node = self._scalar(event, line)
        elif depth > MAX_DEPTH:
            raise too_deep(line)
        elif isinstance(event, yaml.SequenceStartEvent):
            node = ListNode(line, self._items(depth))
        else:
            node = MappingNode(line, self._entries(depth))
        if event.anchor is not None:
            self._anchors[event.anchor] = (node, self._size - before)
        return node

    def _scalar(self, event: Any, line: int) -> Scalar:
        text: str = event.value
        self._size += len(text)
        if event.style in {"|", ">"}:
            # The final newline belongs to the block notation, not to the text.
            return Scalar(line, text.removesuffix("\n"), quoted=True)
        plain = event.implicit[0] or event.tag in _PLAIN_TAGS
        return Scalar(line, text, quoted=not plain)

    def _aliased(self, event: Any) -> Node:
        line = event.start_mark.line + 1
        alias = f"has the alias {shortened('*' + event.anchor)}"
        if event.anchor not in self._anchors:
            raise Unreadable(line, f"{alias} without its anchor before it. Add the anchor.")
        anchored = self._anchors[event.anchor]
        if anchored is None:
            raise Unreadable(line, f"{alias} inside its own anchor. Write the value out.")
        node, size = anchored
        self._size += size
        self._aliased_size += size
        if self._aliased_size > MAX_ALIASED_SIZE:
            raise Unreadable(
                line, f"grows by more than {MAX_ALIASED_SIZE:,} characters through YAML aliases. Use fewer of them."
            )
        return node

    def _items(self, depth: int) -> list[Node]:
        items: list[Node] = []
        while not isinstance(event := self._parser.get_event(), yaml.SequenceEndEvent):
            items.append(self._node(event, depth=depth + 1))
        return items

    def _entries(self, depth: int) -> list[Entry]:
        entries: list[Entry] = []
        merged: list[Entry] = []
        while not isinstance(event := self._parser.get_event(), yaml.MappingEndEvent):
            line = event.start_mark.line + 1
            key = self._node(event, depth=depth + 1)
            value = self._node(self._parser.get_event(), depth=depth + 1)
            if not isinstance(key, Scalar):
                raise Unreadable(line, "has a list or a mapping as a key. Write a plain word there.")
            if key.text == "<<" and not key.quoted:
                merged += _to_merge(line, value)
            else:
                entries.append(Entry(key.text, line, value))
        own = {entry.key for entry in entries}
        for entry in merged:
            if entry.key not in own:
                own.add(entry.key)
                entries.append(entry)
        return entries


def _to_merge(line: int, value: Node) -> list[Entry]:
    sources = value.items if isinstance(value, ListNode) else [value]
    entries: list[Entry] = []
    for source in sources:
        if not isinstance(source, MappingNode):
            raise Unreadable(line, "merges something other than a mapping by '<<'. Give it an alias of a mapping.")
        entries += source.entries
    return entries


_INVISIBLE = re.compile(rf"(?![\n ])[{UNPRINTABLE}]")


class _Dumper(yaml.SafeDumper):
    """Writes texts with invisible characters in double quotes, in which they can be escaped."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = '"' if _INVISIBLE.search(text) else "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def yaml_text(document: Mapping[str, Any]) -> str:
    """The document as YAML with its keys in their order, in which no character is invisible."""
    text = yaml.dump(dict(document), Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=2**31)
    return _INVISIBLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
