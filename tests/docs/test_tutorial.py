"""The tutorial is followed from an empty folder to its end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.docs.pages import page
from tests.servers.fake_endpoint import FakeEndpoint, json_reply

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from tests.docs.pages import Reader
    from tests.servers.fake_endpoint import Request

PASSAGE = "Refunds are possible within 30 days of the purchase."


def reply(connection: socket.socket, request: Request) -> bool:
    known = "refund" in request.json["query"]
    answer = {"answer": PASSAGE if known else "The documents do not say.", "contexts": [PASSAGE] if known else []}
    return json_reply(answer)(connection, request)


def test_the_first_run_is_green_then_red_and_then_asks_an_endpoint(reader: Callable[..., Reader]) -> None:
    with FakeEndpoint(reply) as endpoint:
        someone = reader(stands_for={"http://localhost:8000/query": endpoint.url})
        someone.follow(page("tutorial/first-run.md"))
    green, red, _, asked = someone.ran
    assert (green.status, red.status, asked.status) == (0, 1, 0)
    assert sorted(request.json["query"] for request in endpoint.requests) == [
        "How long is the refund window?",
        "Who founded the company?",
    ]
    summary = json.loads((someone.folder / "ragcheck-results" / "rag_summary.json").read_text(encoding="utf-8"))
    assert summary["counts"]["pass"] == 2
