"""Reads JSON and JSON Lines into nodes with lines, which the standard library's reader does not keep."""

from __future__ import annotations

import json
import re
from json import JSONDecodeError

from pytest_ragcheck.questions.nodes.node import (
    MAX_DEPTH,
    Entry,
    ListNode,
    MappingNode,
    Mistakes,
    Node,
    Scalar,
    Site,
    Unreadable,
    shortened,
    too_deep,
)

_SPACE = r"[ \t\n\r]*"
_STRING = r'"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"'
# Python's json module writes NaN and Infinity. The reader of the field adds them to the mistakes of the file.
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|NaN|-?Infinity"

_VALUE = re.compile(rf"{_SPACE}(?:({_STRING})|({_NUMBER}|true|false|null)|([\[{{]))")
_KEY = re.compile(rf"{_SPACE}({_STRING}){_SPACE}:")
_KEY_ALONE = re.compile(_SPACE + _STRING)
_MARK = re.compile(rf"{_SPACE}([,\]}}])")
_FOUND = re.compile(rf"{_SPACE}({_STRING}|{_NUMBER}|true|false|null|\"[^\n]{{0,20}}|[^\s{{}}\[\],:]{{1,20}}|.)")


def compose_json(text: str, *, line: int = 1, whole: str = "file") -> Node:
    """
    The tree of the one JSON value in *text*, which begins on *line* of the file.

    `Unreadable` is raised for a text that is not JSON; an error at the end of the text calls it *whole*.
    """
    scanner = _Scanner(text, line, whole)
    node = scanner.value("a value", depth=1)
    scanner.end()
    return node


class _Scanner:
    def __init__(self, text: str, line: int, whole: str) -> None:
        self._text = text
        self._whole = whole
        self._position = 0
        self._line = line
        self._counted = 0  # the lines are counted up to here

    def value(self, wanted: str, *, depth: int) -> Node:
        # An error describes the value as *wanted*.
        token = _VALUE.match(self._text, self._position)
        if token is None:
            raise self._unexpected(wanted)
        self._position = token.end()
        index = token.lastindex or 0
        line = self._line_at(token.start(index))
        if index == 1:
            return Scalar(line, self._decode(token[1]), quoted=True)
        if index == 2:
            return Scalar(line, token[2], quoted=False, literal=token[2][-1].isalpha() and token[2] != "null")
        if depth > MAX_DEPTH:
            raise too_deep(line)
        if token[3] == "[":
            return ListNode(line, self._items(depth + 1))
        return MappingNode(line, self._entries(depth + 1))

    def _items(self, depth: int) -> list[Node]:
        items: list[Node] = []
        closed = self._closes("]")
        while not closed:
            items.append(self.value("a value" if items else "a value or ']'", depth=depth))
            closed = self._closes("]", separated=True)
        return items

    def _entries(self, depth: int) -> list[Entry]:
        entries: list[Entry] = []
        closed = self._closes("}")
        while not closed:
            token = _KEY.match(self._text, self._position)
            if token is None:
                wanted = "a key in quotes" if entries else "a key in quotes or '}'"
                if alone := _KEY_ALONE.match(self._text, self._position):
                    self._position, wanted = alone.end(), "':'"
                raise self._unexpected(wanted)
            self._position = token.end()
            line = self._line_at(token.start(1))
            key = self._decode(token[1])
            entries.append(Entry(key, line, self.value("a value", depth=depth)))
            closed = self._closes("}", separated=True)
        return entries

    def _closes(self, mark: str, *, separated: bool = False) -> bool:
        # Skip *mark*, or a comma if *separated*, where one of them must be next; return True for *mark*.
        token = _MARK.match(self._text, self._position)
        found = token[1] if token else None
        if token and (found == mark or (separated and found == ",")):
            self._position = token.end()
        elif separated:
            raise self._unexpected(f"',' or {mark!r}")
        return found == mark

    def end(self) -> None:
        if self._text[self._position :].strip(" \t\n\r"):
            raise self._unexpected(f"the end of the {self._whole}")

    def _line_at(self, position: int) -> int:
        self._line += self._text.count("\n", self._counted, position)
        self._counted = position
        return self._line

    def _decode(self, string: str) -> str:
        if "\\" not in string:
            return string[1:-1]
        try:
            decoded: str = json.loads(string)
        except JSONDecodeError as error:
            raise Unreadable(
                self._line,
                f"is not JSON: {string:.60} has an escape that JSON does not know. Write \\\\ for a backslash.",
            ) from error
        return decoded

    def _unexpected(self, wanted: str) -> Unreadable:
        found = _FOUND.match(self._text, self._position)
        shown = shortened(found[1]) if found else f"the end of the {self._whole}"
        line = self._line_at(found.start(1) if found else len(self._text.rstrip()))
        return Unreadable(line, f"is not JSON: found {shown}, expected {wanted}. Correct it there or shortly before.")


_ONE_DOCUMENT = (
    "holds one JSON value, and JSON Lines have a question on each line. "
    "Rename it to end in '.rag.json', or write each question on one line."
)


def compose_jsonl(text: str, mistakes: Mistakes) -> ListNode | None:
    """
    The values of the lines of *text*; those that are not JSON are added to the mistakes.

    Raises:
        Unreadable: The file is JSON, but not JSON Lines.
    """
    nodes: list[Node] = []
    broken: list[Unreadable] = []
    # Not `splitlines`: JSON strings may contain U+2028 and similar characters.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip(" \t\r"):
            try:
                nodes.append(compose_json(line, line=number, whole="line"))
            except Unreadable as error:
                broken.append(error)
    if (len(nodes) == 1 and not broken and _holds_questions(nodes[0])) or (broken and _is_one_value(text)):
        raise Unreadable(min(part.line for part in (*nodes[:1], *broken[:1])), _ONE_DOCUMENT)
    site = Site(mistakes, "the line")
    for what in broken:
        site.mistake(what.line, what.text)
    return ListNode(nodes[0].line, nodes) if nodes else None


def _holds_questions(node: Node) -> bool:
    return isinstance(node, ListNode) or (
        isinstance(node, MappingNode) and any(entry.key == "questions" for entry in node.entries)
    )


def _is_one_value(text: str) -> bool:
    try:
        compose_json(text)
    except Unreadable:
        return False
    return True
