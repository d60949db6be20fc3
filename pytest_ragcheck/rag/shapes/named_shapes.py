from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.package_text import package_text

CONTRACT = "query"
CHAT = '"messages": ["{history}", {"role": "user", "content": "{query}"}]'
"""The conversation in a request of OpenAI's API."""


@frozen
class NamedShape:
    """The texts of a named shape, which `read_shape` parses; the last four are those of `StreamReading`."""

    request: str
    response: str
    event: str | None = None
    """The response in each event of a streamed reply; None if it is the same as for a whole reply."""

    stream_end: str | None = None
    stream_error: str | None = None
    stream_replacement: str | None = None
    leaves_out_contexts: bool = False


def _shapes() -> Iterator[tuple[str, NamedShape]]:
    for section in package_text("rag/shapes.txt").replace("<CHAT>", CHAT).split("\n[")[1:]:
        name, *lines = section.splitlines()
        fields: dict[str, Any] = dict(line.split(" = ", 1) for line in lines if line and line[0] != "#")
        fields["leaves_out_contexts"] = "leaves_out_contexts" in fields
        yield name.rstrip("]"), NamedShape(**fields)


NAMED_SHAPES = dict(_shapes())


def read_name(text: str) -> NamedShape:
    """
    The shape with this name.

    Raises:
        ValueError: The name is unknown; the message continues a sentence that starts with the name.
    """
    if text not in NAMED_SHAPES:
        raise ValueError(
            f"is not a shape; choose one of {', '.join(NAMED_SHAPES)}, "
            "or describe another by rag_request and rag_response"
        )
    return NAMED_SHAPES[text]
