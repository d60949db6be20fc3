"""A reply as server-sent events."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .faults import Faults

PIECE = re.compile(r"(?:\S+\s*){1,3}|\s+")
"""One to three words and the blanks behind them: an event of the answer."""


def events(reply: dict[str, Any], faults: Faults) -> Iterator[str]:
    """The answer in pieces, an event with the other keys of the reply, and `[DONE]`."""
    pieces = PIECE.findall(reply["answer"])
    for piece in pieces[: len(pieces) // 2] if faults.spoils_stream else pieces:
        yield _event({"answer": piece})
    if faults.cut_stream:
        yield 'data: {"answer": "'
        return
    if faults.stream_error:
        yield "event: error\n" + _event({"error": "the stream is broken, on purpose"})
        return
    yield _event({key: value for key, value in reply.items() if key != "answer"})
    yield "data: [DONE]\n\n"


def _event(value: dict[str, Any]) -> str:
    return f"data: {json.dumps(value)}\n\n"
