"""JSON text -> nodes. The standard library's reader keeps no positions, and mistakes need their lines."""

from __future__ import annotations

import json
import re
from json import JSONDecodeError

from pytest_ragcheck.questions.nodes import MAX_DEPTH, Entry, ListNode, MappingNode, Node, Scalar, Unreadable, too_deep
from pytest_ragcheck.questions.values import shortened

# NaN and Infinity are no JSON, but Python's json module writes them: they are taken here and refused by
# the field they stand in, together with the other mistakes of the file.
_TOKEN = re.compile(
    r"""(?P<space>[ \t\n\r]*)(?:
        (?P<mark>[{}\[\],:])
      | (?P<string>"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*")
      | (?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|NaN|-?Infinity)
      | (?P<literal>true|false|null)
    )""",
    re.VERBOSE,
)
_STRAY = re.compile(r"[ \t\n\r]*(?P<found>\"[^\n]{0,20}|[^\s{}\[\],:]{1,20}|.)?")


def compose_json(text: str) -> Node:
    """
    The tree of the one JSON value in *text*.

    Raises:
        Unreadable: It is not JSON, or nests too deep.
    """
    scanner = _Scanner(text)
    node = scanner.value(scanner.next("a value"), depth=1)
    scanner.end()
    return node


class _Scanner:
    """Reads tokens one after another and counts the lines."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._line = 1

    def next(self, wanted: str) -> re.Match[str]:
        """The next token; *wanted* says what may stand here, for the error."""
        token = _TOKEN.match(self._text, self._position)
        if token is None:
            raise self._unexpected(wanted)
        self._line += token["space"].count("\n")
        self._position = token.end()
        return token

    def value(self, token: re.Match[str], *, depth: int) -> Node:
        line = self._line
        if (string := token["string"]) is not None:
            return Scalar(line, self._decode(string), quoted=True)
        if (number := token["number"]) is not None:
            return Scalar(line, number, quoted=False)
        if (literal := token["literal"]) is not None:
            return Scalar(line, literal, quoted=False, literal=literal != "null")
        if depth > MAX_DEPTH:
            raise too_deep(line)
        if token["mark"] == "[":
            return ListNode(line, self._items(depth))
        if token["mark"] == "{":
            return MappingNode(line, self._entries(depth))
        raise self._unexpected("a value", token)

    def _items(self, depth: int) -> list[Node]:
        items: list[Node] = []
        token = self.next("a value or ']'")
        if token["mark"] == "]":
            return items
        while True:
            items.append(self.value(token, depth=depth + 1))
            token = self.next("',' or ']'")
            if token["mark"] == "]":
                return items
            if token["mark"] != ",":
                raise self._unexpected("',' or ']'", token)
            token = self.next("a value")

    def _entries(self, depth: int) -> list[Entry]:
        entries: list[Entry] = []
        token = self.next("a key in quotes or '}'")
        if token["mark"] == "}":
            return entries
        while True:
            if (string := token["string"]) is None:
                raise self._unexpected("a key in quotes", token)
            key, line = self._decode(string), self._line
            colon = self.next("':'")
            if colon["mark"] != ":":
                raise self._unexpected("':'", colon)
            entries.append(Entry(key, line, self.value(self.next("a value"), depth=depth + 1)))
            token = self.next("',' or '}'")
            if token["mark"] == "}":
                return entries
            if token["mark"] != ",":
                raise self._unexpected("',' or '}'", token)
            token = self.next("a key in quotes")

    def end(self) -> None:
        """Raises if anything but white space follows."""
        if self._text[self._position :].strip(" \t\n\r"):
            raise self._unexpected("the end of the file")

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

    def _unexpected(self, wanted: str, token: re.Match[str] | None = None) -> Unreadable:
        if token is not None:
            found, line = shortened(token[0].strip()), self._line
        else:
            stray = _STRAY.match(self._text, self._position)
            assert stray is not None  # noqa: S101 - every part of the pattern is optional
            line = self._line + self._text.count("\n", self._position, stray.start("found"))
            found = repr(stray["found"]) if stray["found"] else "the end of the file"
        return Unreadable(
            line, f"is not JSON: {found} stands where {wanted} belongs. Correct it there or shortly before."
        )
