"""Reads JSON Lines into nodes, one question a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.questions.nodes.json_nodes import compose_json
from pytest_ragcheck.questions.nodes.mistakes import Site
from pytest_ragcheck.questions.nodes.node import ListNode, MappingNode, Node, Unreadable

if TYPE_CHECKING:
    from pytest_ragcheck.questions.nodes.mistakes import Mistakes

_ONE_DOCUMENT = (
    "holds one JSON value, and JSON Lines have a question on each line. "
    "Let the file's name end in '.rag.json', or write each question on one line."
)


def compose_jsonl(text: str, mistakes: Mistakes) -> ListNode | None:
    """
    The values of the lines of *text*; None if there is none.

    Lines that are not JSON are added to the mistakes.

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
