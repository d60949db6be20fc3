"""Server-sent events beside httpx-sse, on random streams."""

from __future__ import annotations

import random
from typing import Any

import httpx

from pytest_ragcheck.rag.body.event_parsers import ServerSentEvents

from .comparison import program

httpx_sse: Any = program("httpx_sse")


def stream_of(chance: random.Random) -> str:
    ends = chance.choice([["\n"], ["\r\n"], ["\r"], ["\n", "\r\n"]])
    texts = ["a", "", " b", ":c", "é\u2028", '{"answer": "x"}', "data: d", "\u0085"]
    lines = []
    for _ in range(chance.randrange(1, 8)):
        fields = [f"data: {chance.choice(texts)}" for _ in range(chance.randrange(1, 4))]
        fields += chance.sample([": comment", "event: message", "id: 1", "retry: 5", "unknown: x"], chance.randrange(4))
        chance.shuffle(fields)
        lines += [*fields, ""]
    return "".join(line + chance.choice(ends) for line in lines)


def test_a_thousand_random_streams_have_the_same_events() -> None:
    chance = random.Random(20261122)
    for _ in range(1_000):
        stream = stream_of(chance)
        response = httpx.Response(200, headers={"content-type": "text/event-stream"}, content=stream.encode())
        expected = [event.data for event in httpx_sse.EventSource(response).iter_sse()]
        parser, encoded, found = ServerSentEvents(), stream.encode(), []
        while encoded:
            size = chance.randrange(1, 20)
            found += [event.data.decode() for event in parser.feed(encoded[:size])]
            encoded = encoded[size:]
        assert found == expected, stream
