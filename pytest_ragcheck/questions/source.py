"""The bytes of a question file -> nodes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_ragcheck.questions.json_nodes import compose_json
from pytest_ragcheck.questions.nodes import Node, Scalar, Unreadable

if TYPE_CHECKING:
    from pathlib import Path

_SUFFIXES = frozenset({".json", ".yaml", ".yml"})

# What YAML calls printable, and neither libyaml nor PyYAML reads on behind anything else.
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def compose_file(path: Path) -> Node:
    """
    The tree of the file at *path*, whose name says whether it is JSON or YAML.

    Raises:
        Unreadable: It is empty, no UTF-8 text, or not what its name says.
        OSError: It cannot be read.
    """
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise Unreadable(1, f"ends in {suffix!r}, and question files are YAML or JSON. Convert it, and name it so.")
    text = _decoded(path.read_bytes())
    node = _compose_json(text) if suffix == ".json" else _compose_yaml(text)
    if node is None or (isinstance(node, Scalar) and node.is_null):
        raise Unreadable(1, "is empty. Write a question, such as '- question: ...', or delete the file.")
    return node


def _compose_json(text: str) -> Node | None:
    return compose_json(text) if text.strip() else None


def _compose_yaml(text: str) -> Node | None:
    from pytest_ragcheck.questions.yaml_nodes import compose_yaml  # noqa: PLC0415 - JSON files need no yaml

    if (odd := _UNPRINTABLE.search(text)) is not None:
        code = f"U+{ord(odd[0]):04X}"
        raise Unreadable(_line_at(text, odd.start()), f"has the control character {code}. Delete it.")
    return compose_yaml(text)


def _decoded(content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # `utf-8-sig` counts from behind the byte order mark.
        offset = error.start + len(content) - len(error.object)
        line = content.count(b"\n", 0, offset) + 1
        what = f"is not UTF-8: byte 0x{content[offset]:02x} at offset {offset}. Save it as UTF-8."
        raise Unreadable(line, what) from error
    if (offset := text.find("\0")) >= 0:
        raise Unreadable(_line_at(text, offset), "has a NUL character, so it is no text. Save it as UTF-8 text.")
    return text


def _line_at(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
