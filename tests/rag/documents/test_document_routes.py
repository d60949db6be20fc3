"""Uploading, waiting, listing and deleting: the requests, and the errors about a misbehaving server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

from pytest_ragcheck.errors import EndpointError, EndpointReplyError, EndpointStatusError, UsageError
from pytest_ragcheck.rag.client import RagClient
from pytest_ragcheck.rag.http.endpoint_address import base_of, joined
from tests.servers.fake_endpoint import FakeEndpoint, Request, json_reply, raw

if TYPE_CHECKING:
    import socket
    from collections.abc import Awaitable, Callable

    from pytest_ragcheck.rag.client_calls import BlockingRagClient
    from pytest_ragcheck.rag.documents.document_routes import DocumentRoutes, ServerDocument
    from tests.servers.fake_endpoint import Behaviour

T = TypeVar("T")

BASE = "check rag_base_url (by default rag_url without its final /query)."


def call(url: str, use: Callable[[BlockingRagClient], T], **options: Any) -> T:
    """The result of *use* with a client of the URL, which is closed then."""
    with RagClient(url, **options).blocking as client:
        return use(client)


async def of_documents(client: RagClient, use: Callable[[DocumentRoutes], Awaitable[T]]) -> T:
    async with client:
        return await use(client.documents)


def replies(*behaviours: Behaviour) -> Behaviour:
    """The first to the first request, and so on; the last to all further ones."""
    left = list(behaviours)

    def behave(connection: socket.socket, request: Request) -> bool:
        return (left.pop(0) if len(left) > 1 else left[0])(connection, request)

    return behave


def status(total: int, completed: int, *tasks: dict[str, Any]) -> Behaviour:
    return json_reply({"total": total, "completed": completed, "tasks": list(tasks)})


def test_a_text_is_uploaded_as_a_text_file_and_the_batch_named():
    with FakeEndpoint(json_reply({"batch_id": "b-1"}, 202)) as endpoint:
        batch = call(f"{endpoint.url}?key=k1", lambda client: client.upload_text_as_document("Größe: 5\n", "a b.txt"))
    assert batch == "b-1"
    (request,) = endpoint.requests
    assert (request.method, request.path) == ("POST", "/upload?key=k1")
    assert request.headers["content-type"].startswith("multipart/form-data; boundary=")
    head, _, body = request.body.partition(b"\r\n\r\n")
    assert b'name="files"; filename="a b.txt"' in head
    assert b"Content-Type: text/plain; charset=utf-8" in head
    assert body.startswith("Größe: 5\n\r\n--".encode())


@pytest.mark.parametrize(
    ("behaviour", "found", "to_do"),
    [
        (
            json_reply({"error": "no"}, 404),
            'status 404 Not Found ({"error": "no"})',
            f"The server has to take documents by POST /upload: {BASE}",
        ),
        (
            json_reply({"id": 1}),
            'the reply to the upload of a.txt names no batch: "batch_id" is missing (found "id")',
            'Return {"batch_id": "..."}.',
        ),
        (
            json_reply({"batch_id": None}),
            'the reply to the upload of a.txt names no batch: "batch_id" is null',
            'Return {"batch_id": "..."}.',
        ),
        (
            json_reply(["b"]),
            'the reply to the upload of a.txt names no batch: "batch_id" is missing (the reply is an array of 1)',
            'Return {"batch_id": "..."}.',
        ),
    ],
)
def test_an_upload_that_is_not_taken_is_an_error_with_the_way_out(behaviour: Behaviour, found: str, to_do: str):
    with FakeEndpoint(behaviour) as endpoint, pytest.raises(EndpointError) as caught:
        call(endpoint.url, lambda client: client.upload_text_as_document("text", "a.txt"))
    assert str(caught.value) == f"{endpoint.url.removesuffix('/query')}/upload: {found}\n{to_do}"


def wait(url: str, timeout: float = 30) -> bool:
    return call(url, lambda client: client.wait_for_batch("b/1", timeout, 0.01))


def test_a_batch_is_waited_for_until_all_of_its_files_are_done():
    # Without tasks, as long as the server has not made them, it is not done.
    with FakeEndpoint(replies(status(0, 0), status(2, 1), json_reply({"total": 2, "completed": 2}))) as endpoint:
        assert wait(endpoint.url) is True
    assert [request.path for request in endpoint.requests] == ["/tasks/b%2F1/status"] * 3


def test_a_failed_task_ends_the_waiting():
    failed = {"file_name": "a.txt", "status": "failed", "error": "no text\nin it"}
    with FakeEndpoint(status(2, 1, {"status": "completed"}, failed)) as endpoint:
        assert wait(endpoint.url) is False
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    ("tasks", "failures"),
    [
        ([{"status": "failed"}, "failed", {"status": "done"}], ("the server gives no reason",)),
        ({"t1": {"status": "failed", "message": "too large"}}, ("too large",)),
        ([{"status": "FAILED", "error": "virus"}, {"status": "COMPLETED"}], ("virus",)),
        ("failed", ()),
        (None, ()),
    ],
)
def test_the_reasons_of_failed_tasks_are_found(tasks: object, failures: tuple[str, ...]):
    reply = json_reply({"total": 3, "completed": 1, "tasks": tasks})
    with FakeEndpoint(reply) as endpoint:
        found = asyncio.run(of_documents(RagClient(endpoint.url), lambda documents: documents.status("b")))
    assert found.failures == failures
    assert not found.done


@pytest.mark.parametrize("passing", [json_reply({}, 500), json_reply({}, 503), raw(b"")])
def test_a_poll_that_fails_in_passing_is_repeated(passing: Behaviour):
    with FakeEndpoint(replies(passing, passing, status(1, 0), passing, passing, status(1, 1))) as endpoint:
        assert wait(endpoint.url) is True
    assert len(endpoint.requests) == 6


def test_a_batch_that_cannot_be_followed_is_false_with_the_reason_in_the_log(caplog: pytest.LogCaptureFixture):
    with FakeEndpoint(json_reply({}, 500)) as endpoint:
        assert wait(endpoint.url) is False
    assert len(endpoint.requests) == 3
    assert "batch b/1: " in caplog.text
    assert "status 500" in caplog.text


def test_the_waiting_ends_with_the_time():
    with FakeEndpoint(status(1, 0)) as endpoint:
        assert wait(endpoint.url, timeout=0) is False


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ({"completed": 1}, '"total": it is missing (found "completed")'),
        ({"total": "1", "completed": 1}, '"total": it is the string "1"'),
        ({"total": 1, "completed": True}, '"completed": it is true'),
        ({"total": 1, "completed": -1}, '"completed": it is the number -1'),
        ([], '"total": it is missing (the reply is an empty array)'),
    ],
)
def test_a_status_of_another_form_is_an_error(reply: object, found: str):
    with FakeEndpoint(json_reply(reply)) as endpoint, pytest.raises(EndpointReplyError) as caught:
        wait(endpoint.url)
    assert str(caught.value) == (
        f"{endpoint.url.removesuffix('/query')}/tasks/b%2F1/status: the status of batch b/1 has no whole number as "
        f'{found}\nReturn {{"total": 1, "completed": 0, "tasks": [{{"status": "pending"}}]}}.'
    )


def test_a_batch_that_the_server_does_not_know_is_an_error():
    with FakeEndpoint(json_reply({}, 404)) as endpoint, pytest.raises(EndpointStatusError) as caught:
        wait(endpoint.url)
    assert str(caught.value).splitlines()[1] == (
        "The server has to know a batch that it has just named: see its log, and check rag_base_url "
        "(by default rag_url without its final /query)."
    )


def listed(client: RagClient) -> list[ServerDocument]:
    return asyncio.run(of_documents(client, lambda documents: documents.listed()))


def test_documents_are_listed_with_ids_of_any_kind():
    rows = [{"id": "a", "file_name": "a.txt", "size": 1}, {"id": 7, "file_name": None}, {"id": "c"}]
    with FakeEndpoint(json_reply(rows)) as endpoint:
        found = listed(RagClient(endpoint.url))
    assert [(document.id, document.file_name) for document in found] == [("a", "a.txt"), ("7", None), ("c", None)]


@pytest.mark.parametrize(
    ("behaviour", "found", "to_do"),
    [
        (
            json_reply({}, 405),
            "status 405 Method Not Allowed ({})",
            f"The server has to list its documents by GET /documents: {BASE}",
        ),
        (
            json_reply({"documents": []}),
            'the list of documents is an object with "documents", not an array',
            'Return [{"id": "...", "file_name": "..."}].',
        ),
        (
            json_reply([{"id": "a"}, {"file_name": "b.txt"}]),
            'the list of documents has an entry [1] whose "id" is missing (found "file_name")',
            'Return [{"id": "...", "file_name": "..."}].',
        ),
        (
            json_reply(["a"]),
            'the list of documents has an entry [0] whose "id" is missing (the reply is the string "a")',
            'Return [{"id": "...", "file_name": "..."}].',
        ),
        (
            json_reply([{"id": "a", "file_name": ["b"]}]),
            'the list of documents has an entry [0] whose "file_name" is an array of 1',
            'Return [{"id": "...", "file_name": "..."}].',
        ),
    ],
)
def test_a_list_of_another_form_is_an_error(behaviour: Behaviour, found: str, to_do: str):
    with FakeEndpoint(behaviour) as endpoint, pytest.raises(EndpointError) as caught:
        listed(RagClient(endpoint.url))
    assert str(caught.value) == f"{endpoint.url.removesuffix('/query')}/documents: {found}\n{to_do}"


@pytest.mark.parametrize(
    ("behaviour", "deleted"),
    [
        (json_reply({"deleted": "a"}), True),
        (raw(b"HTTP/1.1 204 No Content\r\n\r\n"), True),
        (json_reply({}, 404), False),
        (json_reply({}, 410), False),
    ],
)
def test_a_document_is_deleted_or_was_not_there(behaviour: Behaviour, deleted: bool):
    with FakeEndpoint(behaviour) as endpoint:
        assert call(endpoint.url, lambda client: client.delete_document("a/b c")) is deleted
    assert [(request.method, request.path) for request in endpoint.requests] == [("DELETE", "/documents/a%2Fb%20c")]


@pytest.mark.parametrize(
    ("code", "to_do"),
    [
        (500, "See the endpoint's log."),
        (405, f"The server has to delete a document by DELETE /documents/{{id}}: {BASE}"),
    ],
)
def test_a_document_that_is_not_deleted_is_false_and_an_error_of_the_route(
    code: int, to_do: str, caplog: pytest.LogCaptureFixture
):
    with FakeEndpoint(json_reply({}, code)) as endpoint:
        assert call(endpoint.url, lambda client: client.delete_document("a")) is False
        with pytest.raises(EndpointStatusError) as caught:
            asyncio.run(of_documents(RagClient(endpoint.url), lambda documents: documents.delete("a")))
    assert str(caught.value).splitlines()[1] == to_do
    assert [record.message for record in caplog.records] == [f"document a is left: {caught.value}"]


def test_a_document_of_a_server_that_is_gone_is_not_deleted():
    with FakeEndpoint(json_reply({})) as endpoint:
        pass
    assert call(endpoint.url, lambda client: client.delete_document("a")) is False


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("http://rag.example/query", "http://rag.example"),
        ("http://rag.example/api/query/", "http://rag.example/api"),
        ("http://me:pw@rag.example:81/query?k=1#x", "http://me:pw@rag.example:81?k=1"),
        ("http://rag.example/llm/search-rag", "http://rag.example/llm/search-rag"),
        ("http://rag.example/subquery", "http://rag.example/subquery"),
        ("http://rag.example", "http://rag.example"),
    ],
)
def test_the_base_is_the_url_without_a_final_query(url: str, base: str):
    assert base_of(url) == base


def test_a_route_follows_the_base_before_its_query_string():
    assert joined("http://rag.example/api/?k=1", "/upload") == "http://rag.example/api/upload?k=1"


def test_the_base_can_be_given_and_is_checked():
    with FakeEndpoint(json_reply([])) as endpoint:
        base = endpoint.url.replace("/query", "/api/v2/")
        assert listed(RagClient("http://127.0.0.1:9/ask", base_url=base)) == []
        assert endpoint.requests[0].path == "/api/v2/documents"
    with pytest.raises(UsageError, match=r"the endpoint's URL 'ftp://rag\.example' has the scheme"):
        RagClient("http://rag.example/query", base_url="ftp://rag.example")


def test_headers_go_to_every_route_and_no_error_shows_them():
    headers = {"X-Api-Key": "key-5"}
    with (
        FakeEndpoint(json_reply({"error": "not key-5"}, 500)) as endpoint,
        pytest.raises(EndpointStatusError) as caught,
    ):
        call(endpoint.url, lambda client: client.upload_text_as_document("text", "a.txt"), headers=headers)
    assert endpoint.requests[0].headers["x-api-key"] == "key-5"
    assert "key-5" not in str(caught.value)


def test_a_function_has_no_routes_for_documents():
    def ask(query: str) -> dict[str, Any]:
        return {"answer": query, "contexts": []}

    with pytest.raises(UsageError) as caught:
        RagClient.from_callable(ask).blocking.delete_document("a")
    assert str(caught.value) == (
        f"{__name__}.{ask.__qualname__} is a function, which has no routes for documents: give it its documents in "
        "the rag_client fixture, and do not ask for ingestion."
    )
