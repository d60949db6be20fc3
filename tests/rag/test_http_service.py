"""Requests that carry passages, and requests for the retrieved chunks."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from pytest_ragcheck.errors import EndpointError, EndpointReplyError
from pytest_ragcheck.questions.question import GoldPassage
from pytest_ragcheck.rag.client import RagClient
from tests.servers.fake_endpoint import FakeEndpoint, json_reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_ragcheck.rag.client_calls import BlockingRagClient

T = TypeVar("T")

SOURCES = [{"document_id": "d1", "file_name": "a.txt", "text": "The shop opens at 9.", "score": 0.5}]
SERVER = {"answer": "At 9.", "sources": SOURCES, "session_id": "s", "citations": [], "metrics": {}}
LATE = f"passage:{sha256(b'Late.').hexdigest()[:12]}"
PASSAGES = (GoldPassage(text="At 9.", doc_id="d1"), GoldPassage(text="Late."))


def call(url: str, use: Callable[[BlockingRagClient], T], **options: Any) -> T:
    """The result of *use* with a client of the URL, which is closed then."""
    with RagClient(url, **options).blocking as client:
        return use(client)


def test_passages_go_along_with_a_question_and_no_session_does():
    with FakeEndpoint(json_reply(SERVER)) as endpoint:
        answer = call(endpoint.url, lambda client: client.query_with_context("When?", PASSAGES))
    (request,) = endpoint.requests
    assert (request.method, request.path) == ("POST", "/query/with-context")
    assert request.headers["content-type"] == "application/json"
    assert request.json == {
        "query": "When?",
        "context_passages": [
            {"text": "At 9.", "doc_id": "d1"},
            {"text": "Late.", "doc_id": LATE},
        ],
        "session_id": None,
    }
    assert (answer.text, answer.contexts, answer.source_ids) == ("At 9.", ("The shop opens at 9.",), ("d1",))
    assert answer.latency_seconds is not None


def test_a_session_goes_along_where_one_is_given():
    with FakeEndpoint(json_reply(SERVER)) as endpoint:
        call(endpoint.url, lambda client: client.query_with_context("When?", PASSAGES, session_id="mine"))
    assert endpoint.requests[0].json["session_id"] == "mine"


@pytest.mark.parametrize(
    ("options", "reply", "contexts"),
    [
        ({"shape": "query"}, {"answer": "At 9.", "contexts": ["a"]}, ("a",)),
        ({"response": "answer=said contexts=found[].t"}, {"said": "At 9.", "found": [{"t": "b"}]}, ("b",)),
        ({"request": '{"q": "{query}"}'}, SERVER, ("The shop opens at 9.",)),
    ],
)
def test_a_shape_of_the_client_reads_the_reply_about_passages(
    options: dict[str, Any], reply: object, contexts: tuple[str, ...]
):
    with FakeEndpoint(json_reply(reply)) as endpoint:
        answer = call(endpoint.url, lambda client: client.query_with_context("When?", PASSAGES), **options)
    assert (answer.text, answer.contexts) == ("At 9.", contexts)
    assert endpoint.requests[0].json["query"] == "When?"


@pytest.mark.parametrize("status", [404, 405])
def test_a_server_without_the_route_is_an_error_with_the_ways_out(status: int):
    with FakeEndpoint(json_reply({}, status)) as endpoint, pytest.raises(EndpointError) as caught:
        call(endpoint.url, lambda client: client.query_with_context("When?", PASSAGES))
    assert str(caught.value).startswith(f"{endpoint.url}/with-context: status {status} ")
    assert str(caught.value).splitlines()[1] == (
        "The tier generation needs the route POST /query/with-context there: check rag_base_url (by "
        "default rag_url without its final /query), or choose another rag_tier. "
        "ragcheck dataset lists the tiers of each dataset."
    )


def test_a_request_that_is_refused_is_shown_in_its_form():
    with FakeEndpoint(json_reply({}, 422)) as endpoint, pytest.raises(EndpointError) as caught:
        call(endpoint.url, lambda client: client.query_with_context("When?", PASSAGES))
    assert (
        'POST with the JSON {"query": "{query}", "context_passages": [{"text": "...", "doc_id": "..."}], '
        '"session_id": "{session}"}'
    ) in str(caught.value)


def test_chunks_are_asked_for_and_their_documents_known():
    with FakeEndpoint(json_reply(SERVER)) as endpoint:
        answer = call(endpoint.url, lambda client: client.query("When?", 3, include_chunks=True))
        with pytest.raises(EndpointReplyError):
            call(endpoint.url, lambda client: client.query("When?", 3))
    assert [request.json for request in endpoint.requests] == [
        {"query": "When?", "top_k": 3, "include_chunks": True},
        {"query": "When?", "top_k": 3},
    ]
    assert (answer.contexts, answer.source_ids) == (("The shop opens at 9.",), ("d1",))


@pytest.mark.parametrize(
    "options",
    [{"shape": "query"}, {"request": '{"query": "{query}"}'}, {"response": "answer=answer contexts=contexts"}],
)
def test_a_shape_of_the_clients_own_is_kept_where_chunks_are_asked_for(options: dict[str, Any]):
    with FakeEndpoint(json_reply({"answer": "At 9.", "contexts": ["a"]})) as endpoint:
        answer = call(endpoint.url, lambda client: client.query("When?", include_chunks=True), **options)
    assert "include_chunks" not in endpoint.requests[0].json
    assert (answer.contexts, answer.source_ids) == (("a",), None)


def test_all_routes_share_their_connections():
    with FakeEndpoint(json_reply(SERVER)) as endpoint, RagClient(endpoint.url).blocking as client:
        client.query("When?", include_chunks=True)
        client.query_with_context("When?", PASSAGES)
        client.delete_document("a")
    assert {request.connection for request in endpoint.requests} == {1}


def test_a_function_is_given_the_passages_if_it_takes_them():
    def answer(query: str, context_passages: list[dict[str, str]]) -> dict[str, Any]:
        return {"answer": query, "contexts": [passage["doc_id"] for passage in context_passages]}

    def plain(query: str) -> dict[str, Any]:
        return {"answer": query, "contexts": []}

    found = RagClient.from_callable(answer).blocking.query_with_context("When?", PASSAGES)
    assert (found.text, found.contexts) == ("When?", ("d1", LATE))
    with pytest.raises(EndpointError) as caught:
        RagClient.from_callable(plain).blocking.query_with_context("When?", PASSAGES)
    assert str(caught.value) == (
        f"{__name__}.{plain.__qualname__}: takes no context_passages\n"
        "The tier generation gives a function its passages as function(query, context_passages=[...]), each "
        '{"text": ..., "doc_id": ...}. Let it take them, or choose another rag_tier. '
        "ragcheck dataset lists the tiers of each dataset."
    )
