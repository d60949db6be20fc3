"""JSON Lines -> nodes: a question a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.questions.json_nodes import compose_json
from pytest_ragcheck.questions.mistakes import Site
from pytest_ragcheck.questions.nodes import ListNode, MappingNode, Node, Unreadable

if TYPE_CHECKING:
    from pytest_ragcheck.questions.mistakes import Mistakes

_ONE_DOCUMENT = (
    "holds one JSON value, and JSON Lines have a question on each line. "
    "Let the file's name end in '.rag.json', or write each question on one line."
)


def compose_jsonl(text: str, mistakes: Mistakes) -> ListNode | None:
    """
    The list of what the lines of *text* hold; None if nothing could be read, or nothing is there.

    Lines that are not JSON are noted, and the others read.

    Raises:
        Unreadable: The file is JSON that is no JSON Lines.
    """
    nodes: list[Node] = []
    broken: list[Unreadable] = []
    # Not `splitlines`: a JSON text may hold U+2028 and its like as they are.
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
