"""Documents are uploaded and deleted again; failures are reported and stay in the ledger."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.concurrency.file_lock import FileLock
from pytest_ragcheck.engine.limits.request_limiter import RequestLimiter
from pytest_ragcheck.errors import IngestionError
from pytest_ragcheck.questions.question import GoldPassage, Question
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.rag.client import RagClient
from pytest_ragcheck.rag.documents.deletion import clean_up, give_up
from pytest_ragcheck.rag.documents.ingestion import AsksIngested, Ingested, has, ingest
from pytest_ragcheck.rag.documents.uploads import (
    Documents,
    Ledger,
    Left,
    Upload,
    abandoned,
    folder_of_documents,
    uploads_of,
)
from tests.making import a_question
from tests.servers.document_server import DocumentServer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.servers.fake_endpoint import Request

TERMS = Upload(doc_id="shop:terms", text="30 days.", file_name="shop_terms.txt")
HOURS = Upload(doc_id="shop:hours", text="From 9 to 18.", file_name="shop_hours.txt")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(folder_of_documents(tmp_path) / "run-1")


def put(server: DocumentServer, ledger: Ledger, *uploads: Upload, timeout_seconds: float = 30) -> Ingested:
    async def run() -> Ingested:
        async with RagClient(server.url) as client:
            room = RequestLimiter(4, retries=0)
            return await ingest(
                uploads or (TERMS, HOURS),
                client.documents,
                ledger=ledger,
                limiter=room,
                timeout_seconds=timeout_seconds,
            )

    return asyncio.run(run())


def take_out(url: str, ledger: Ledger, *, settling_seconds: float = 0) -> Documents:
    async def run() -> Documents:
        async with RagClient(url, timeout_seconds=5) as client:
            return await clean_up(
                ledger, client.documents, RequestLimiter(4, retries=0), settling_seconds=settling_seconds
            )

    return asyncio.run(run())


def test_documents_go_up_get_our_names_and_are_deleted_and_no_others(ledger: Ledger) -> None:
    there = {"old": "other.txt", "same-name": "shop_terms.txt"}
    with DocumentServer(there=there) as server:
        done = put(server, ledger)
        assert sorted(done.ids.values()) == ["shop_hours.txt", "shop_terms.txt"]
        assert done.failures == {}
        assert {server.documents[key] for key in done.ids} == {"shop_terms.txt", "shop_hours.txt"}
        assert Ingested.from_json(done.to_json()) == done
        assert take_out(server.url, ledger) == Documents(deleted=2)
        assert server.documents == there
    assert not ledger.folder.exists()


def test_every_upload_stands_in_the_ledger_before_it_is_sent(ledger: Ledger) -> None:
    seen: list[set[str]] = []
    with DocumentServer(on_upload=lambda _, name: seen.append({name} & ledger.read().before.keys())) as server:
        put(server, ledger)
    assert sorted(seen, key=sorted) == [{"shop_hours.txt"}, {"shop_terms.txt"}]


def test_a_server_without_the_route_is_asked_once(ledger: Ledger) -> None:
    with DocumentServer(replies={"POST /upload": (404, {})}) as server:
        done = put(server, ledger)
        assert len([request for request in server.requests if request.method == "POST"]) == 1
    assert done.failures.keys() == {"shop_terms.txt", "shop_hours.txt"}
    assert done.failures["shop_hours.txt"].splitlines() == [
        (
            f"document 'shop:terms' (file shop_terms.txt) was not taken: {server.url.removesuffix('/query')}/upload: "
            "status 404 Not Found ({})"
        ),
        (
            "The server has to take documents by POST /upload: check rag_base_url (by default rag_url "
            "without its final /query)."
        ),
    ]


def test_a_server_that_does_not_list_its_documents_gets_none(ledger: Ledger) -> None:
    with DocumentServer(replies={"GET /documents": (404, {})}) as server:
        done = put(server, ledger)
        assert server.uploaded == []
    assert "The server has to list its documents by GET /documents" in done.failures["shop_terms.txt"]


def test_a_file_that_cannot_be_read_fails_alone(ledger: Ledger) -> None:
    with DocumentServer(failing="hours") as server:
        done = put(server, ledger)
        base = server.url.removesuffix("/query")
        assert take_out(server.url, ledger) == Documents(deleted=1)
    assert list(done.ids.values()) == ["shop_terms.txt"]
    assert done.failures == {
        "shop_hours.txt": f"{base}: document 'shop:hours' (file shop_hours.txt) was uploaded, and the server could not "
        "read it: no text in it\nSee the server's log."
    }


def test_a_file_that_is_not_read_in_time_is_named_with_the_time(ledger: Ledger) -> None:
    with DocumentServer(stuck="hours") as server:
        done = put(server, ledger, timeout_seconds=0.1)
    assert done.failures["shop_hours.txt"].splitlines() == [
        (
            f"{server.url.removesuffix('/query')}: document 'shop:hours' (file shop_hours.txt) was uploaded, and the "
            "server has read nothing for 0.2 s (0 of 1 files)"
        ),
        "Check that the server's document reader runs, or raise rag_timeout.",
    ]
    assert list(done.ids.values()) == ["shop_terms.txt"]


def test_a_server_that_does_not_read_the_first_document_gets_no_further_one(ledger: Ledger) -> None:
    with DocumentServer(stuck="") as server:
        done = put(server, ledger, timeout_seconds=0.1)
        assert server.uploaded == ["shop_terms.txt"]
    assert done.is_refused
    assert done.failures["shop_hours.txt"] == done.failures["shop_terms.txt"]


class SlowServer(DocumentServer):
    """Reads its documents over many polls, and reports its progress by *shown*."""

    def __init__(self, shown: Callable[[int], dict[str, Any]]) -> None:
        super().__init__(on_upload=None)
        self._shown = shown
        self._polls = 0

    def _status(self, name: str) -> tuple[int, Any]:
        self._polls += 1
        return 200, {"total": 1, "completed": 0, **self._shown(self._polls)} if self._polls < 8 else super()._status(
            name
        )


def by_progress(polls: int) -> dict[str, Any]:
    return {"tasks": [{"status": "processing", "progress": polls}]}


def by_the_number_of_files(polls: int) -> dict[str, Any]:
    return {"total": 9, "completed": polls}


@pytest.mark.parametrize("shown", [by_progress, by_the_number_of_files])
def test_a_slow_server_whose_status_moves_is_waited_for(ledger: Ledger, shown: Callable[[int], dict[str, Any]]) -> None:
    began = time.monotonic()
    with SlowServer(shown) as server:
        done = put(server, ledger, TERMS, timeout_seconds=0.05)
    assert time.monotonic() - began > 5 * 0.05
    assert list(done.ids.values()) == ["shop_terms.txt"]


def test_a_server_that_is_busy_with_documents_of_others_is_waited_for(ledger: Ledger) -> None:
    class Busy(SlowServer):
        def _value(self, request: Request) -> tuple[int, Any]:
            if request.path == "/documents" and self._polls:
                self.documents[f"theirs-{self._polls}"] = f"theirs-{self._polls}.txt"
            return super()._value(request)

    with Busy(lambda _: {"tasks": [{"status": "pending"}]}) as server:
        done = put(server, ledger, TERMS, timeout_seconds=0.02)
    assert list(done.ids.values()) == ["shop_terms.txt"]


@pytest.mark.parametrize(("status", "limits"), [("pending", 2), ("processing", 5)])
def test_a_document_that_the_server_has_begun_gets_more_time(ledger: Ledger, status: str, limits: int) -> None:
    replies = {"GET /tasks": (200, {"total": 1, "completed": 0, "tasks": [{"status": status}]})}
    with DocumentServer(replies=replies) as server:
        done = put(server, ledger, timeout_seconds=0.05)
    assert f"the server has read nothing for {limits * 0.05:g} s" in done.failures["shop_terms.txt"]
    assert done.is_refused


def test_two_new_documents_of_one_name_are_both_left(ledger: Ledger) -> None:
    def another_run(server: DocumentServer, name: str) -> None:
        server.documents["theirs"] = name

    with DocumentServer(on_upload=another_run) as server:
        done = put(server, ledger, TERMS)
        left = take_out(server.url, ledger)
        assert server.documents == {"theirs": "shop_terms.txt", "id-1": "shop_terms.txt"}
    assert done.ids == {}
    assert done.failures["shop_terms.txt"].splitlines() == [
        (
            f"{server.url.removesuffix('/query')}: document 'shop:terms' (file shop_terms.txt) was uploaded, and the "
            "server has 2 new documents of that file_name: theirs, id-1"
        ),
        "Another run seems to be at work there; all of them are left. Run one after the other.",
    ]
    assert [each.id for each in left.left] == ["theirs", "id-1"]
    assert ledger.folder.exists()


def test_a_document_that_is_not_listed_is_named(ledger: Ledger) -> None:
    def rename(server: DocumentServer, name: str) -> None:
        server.replies["GET /documents"] = (200, [{"id": "x", "file_name": f"renamed {name}"}])

    with DocumentServer(on_upload=rename) as server:
        done = put(server, ledger, TERMS)
    assert "the server's list has no new document of that file_name" in done.failures["shop_terms.txt"]


def test_what_cannot_be_deleted_is_warned_of_and_stays_in_the_ledger(
    ledger: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    with DocumentServer(undeletable="terms") as server:
        done = put(server, ledger)
        (terms,) = (key for key, name in done.ids.items() if name == "shop_terms.txt")
        first = take_out(server.url, ledger)
        assert server.documents == {terms: "shop_terms.txt"}
        base = server.url.removesuffix("/query")
        reason = f'{base}/documents/{terms}: status 500 Internal Server Error ({{"error": "it is held"}})'
        assert first == Documents(deleted=1, left=(Left(file_name="shop_terms.txt", id=terms, reason=reason),))
        assert caplog.record_tuples[-1][1] == logging.WARNING
        assert f"document {terms} (file shop_terms.txt) is left" in caplog.record_tuples[-1][2]
        assert ledger.read().documents == {terms: "shop_terms.txt"}
        server._undeletable = None
        assert take_out(server.url, ledger) == Documents(deleted=1)
    assert not ledger.folder.exists()


def test_a_run_that_ends_waits_for_the_upload_that_it_has_begun(ledger: Ledger) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def hold(_: DocumentServer, __: str) -> None:
        begun.set()
        may_end.wait(20)

    async def run(server: DocumentServer) -> None:
        async with RagClient(server.url) as client:
            room = RequestLimiter(4, retries=0)
            putting = asyncio.ensure_future(ingest((TERMS, HOURS), client.documents, ledger=ledger, limiter=room))
            await asyncio.to_thread(begun.wait, 20)
            putting.cancel()
            done, _ = await asyncio.wait({putting}, timeout=0.1)
            assert not done
            may_end.set()
            await asyncio.wait({putting})

    with DocumentServer(there={"old": "shop_terms.txt"}, on_upload=hold) as server:
        asyncio.run(run(server))
        assert ledger.read().batches == {"shop_terms.txt": "shop_terms.txt"}
        assert take_out(server.url, ledger) == Documents(deleted=1)
        assert server.documents == {"old": "shop_terms.txt"}
        assert server.uploaded == ["shop_terms.txt"]


class LateServer(DocumentServer):
    """Has the document of an upload that it never answered only after its documents were asked for."""

    def _value(self, request: Request) -> tuple[int, Any]:
        value = super()._value(request)
        if request.method == "GET" and not any(each.method == "DELETE" for each in self.requests):
            self.documents["ours"] = "shop_terms.txt"
        return value


def test_what_was_sent_and_not_answered_is_waited_for(ledger: Ledger) -> None:
    with LateServer(there={"before": "shop_terms.txt"}) as server:
        ledger.write(base=server.url.removesuffix("/query"))
        ledger.write(upload="shop_terms.txt", before=["before"])
        assert take_out(server.url, ledger, settling_seconds=20) == Documents(deleted=1)
    assert [request.method for request in server.requests] == ["GET", "GET", "DELETE", "GET"]


class SlowlyDeletingServer(DocumentServer):
    """Confirms each deletion at once, and deletes when its documents have been listed *lists* times since."""

    lists: int

    def _value(self, request: Request) -> tuple[int, Any]:
        if request.method == "DELETE":
            return 204, None
        value = super()._value(request)
        if any(each.method == "DELETE" for each in self.requests):
            self.lists -= 1
            if not self.lists:
                self.documents.clear()
        return value


def test_a_deletion_that_the_server_confirms_may_take_some_time(ledger: Ledger) -> None:
    with SlowlyDeletingServer() as server:
        server.lists = 2
        put(server, ledger, TERMS)
        assert take_out(server.url, ledger, settling_seconds=20) == Documents(deleted=1)
    assert not ledger.folder.exists()


def test_a_document_that_is_listed_after_its_deletion_is_left(ledger: Ledger) -> None:
    with SlowlyDeletingServer() as server:
        server.lists = 100
        put(server, ledger, TERMS)
        reason = "the server confirmed its deletion, and still lists it"
        left = Left(file_name="shop_terms.txt", id="id-1", reason=reason)
        assert take_out(server.url, ledger) == Documents(left=(left,))
        assert ledger.read().documents == {"id-1": "shop_terms.txt"}
        server.lists = 1
        assert take_out(server.url, ledger, settling_seconds=20) == Documents(deleted=1)
    assert not ledger.folder.exists()


def test_what_was_refused_is_not_waited_for(ledger: Ledger) -> None:
    with DocumentServer(replies={"POST /upload": (413, {})}) as server:
        put(server, ledger)
        assert take_out(server.url, ledger, settling_seconds=20) == Documents()
        assert [request.path for request in server.requests].count("/documents") == 3
    assert not ledger.folder.exists()


NOT_FOLLOWED = "its batch shop_terms.txt cannot be followed to the end: {base}/tasks/shop_terms.txt/status: status "
STILL_READING = "the server is still reading it (0 of 1 files of batch shop_terms.txt)"


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        ({"GET /tasks": (500, {})}, NOT_FOLLOWED + "500 Internal Server Error ({{}})"),
        ({"GET /tasks": (404, {})}, NOT_FOLLOWED + "404 Not Found ({{}})"),
        ({}, STILL_READING),
        (
            {"GET /tasks": (200, {"total": 1, "completed": 1})},
            "its batch shop_terms.txt is done, and the server does not list it",
        ),
    ],
    ids=["500", "404", "slow", "listed later"],
)
def test_a_document_that_the_server_makes_after_the_run_is_still_known_and_deleted(
    ledger: Ledger, replies: dict[str, tuple[int, Any]], reason: str
) -> None:
    with DocumentServer(there={"old": "shop_terms.txt"}, stuck="terms", replies=replies) as server:
        assert put(server, ledger, TERMS, timeout_seconds=0.1).failures.keys() == {"shop_terms.txt"}
        base = server.url.removesuffix("/query")
        left = Left(file_name="shop_terms.txt", id=None, reason=reason.format(base=base))
        assert take_out(server.url, ledger) == Documents(left=(left,))
        assert ledger.folder.exists()
        server.documents["late"] = "shop_terms.txt"
        assert take_out(server.url, ledger) == Documents(deleted=1)
        assert server.documents == {"old": "shop_terms.txt"}
    assert not ledger.folder.exists()


@pytest.mark.parametrize(
    ("status", "left"),
    [
        ((404, {}), 0),
        ((200, {"total": 1, "completed": 1}), 0),
        ((200, {"total": 1, "completed": 0, "tasks": [{"status": "failed"}]}), 0),
        ((200, {"total": 1, "completed": 0}), 1),
        ((500, {}), 1),
    ],
)
def test_an_upload_is_gone_when_the_server_is_done_with_it_and_has_no_document(
    ledger: Ledger, status: tuple[int, Any], left: int
) -> None:
    with DocumentServer(stuck="terms", replies={"GET /tasks": (500, {})}) as server:
        put(server, ledger, TERMS)
        assert len(take_out(server.url, ledger).left) == 1
        server.replies["GET /tasks"] = status
        assert len(take_out(server.url, ledger).left) == left
    assert ledger.folder.exists() is bool(left)


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\xfe",
        b'{"upload": {"k": "a.txt"}, "before": []}',
        b'{"upload": "a.txt", "before": [[]]}',
        b'{"batch": "b", "file_name": {}}',
        b'{"document": [], "file_name": "a.txt"}',
        b'{"document": "\xff", "file_name": null}',
        b'{"gone": {}}',
        b"[3]",
    ],
)
def test_a_damaged_line_of_a_ledger_does_not_keep_the_other_documents(ledger: Ledger, line: bytes) -> None:
    with DocumentServer() as server:
        put(server, ledger, TERMS)
        with (ledger.folder / "ledger.jsonl").open("ab") as file:
            file.write(line + b"\n")
        assert take_out(server.url, ledger) == Documents(deleted=1)
        assert not server.documents


def test_an_upload_whose_status_could_not_be_had_is_said_to_have_been_uploaded(ledger: Ledger) -> None:
    with DocumentServer(replies={"GET /tasks": (500, {})}) as server:
        done = put(server, ledger, TERMS)
        assert server.uploaded == ["shop_terms.txt"]
    assert done.failures["shop_terms.txt"].startswith(
        "document 'shop:terms' (file shop_terms.txt) was uploaded, and the server does not say whether it was read: "
    )


def many(n: int) -> list[Upload]:
    return [Upload(doc_id=f"d{number}", text="x", file_name=f"d{number}.txt") for number in range(n)]


@pytest.mark.parametrize(
    ("fails_from", "n", "sent", "refused"), [(0, 40, 3, True), (0, 2, 2, True), (0, 1, 1, False), (2, 40, 16, True)]
)
def test_a_server_that_fails_with_each_document_gets_no_further_one(
    ledger: Ledger, fails_from: int, n: int, sent: int, refused: bool
) -> None:
    def fail(server: DocumentServer, _: str) -> None:
        if len(server.uploaded) >= fails_from:
            server.replies["POST /upload"] = (500, {})

    with DocumentServer(on_upload=fail, replies={} if fails_from else {"POST /upload": (500, {})}) as server:
        done = put(server, ledger, *many(n))
        posts = [request.path for request in server.requests].count("/upload")
    # Up to four at once are on their way when the last failure arrives.
    assert sent - 4 * bool(fails_from) <= posts <= sent
    assert (len(done.failures), done.is_refused) == (n - fails_from, refused)


def test_single_failures_of_the_server_fail_alone(ledger: Ledger) -> None:
    def every_third(server: DocumentServer, _: str) -> None:
        server.replies = {"GET /tasks/d3": (500, {}), "GET /tasks/d0": (500, {}), "GET /tasks/d1": (500, {})}

    with DocumentServer(on_upload=every_third) as server:
        done = put(server, ledger, *many(6))
        assert len(server.uploaded) == 6
    assert (sorted(done.failures), done.is_refused) == (["d0.txt", "d1.txt", "d3.txt"], False)


@pytest.mark.parametrize("status", [500, 502, 504])
def test_a_document_of_an_upload_that_a_gateway_gave_up_is_waited_for(ledger: Ledger, status: int) -> None:
    with DocumentServer(replies={"POST /upload": (status, {})}) as server:
        assert put(server, ledger, TERMS).failures.keys() == {"shop_terms.txt"}
        late = threading.Timer(0.5, lambda: server.documents.setdefault("late", "shop_terms.txt"))
        late.start()
        assert take_out(server.url, ledger, settling_seconds=20) == Documents(deleted=1)
        late.join()


def test_what_another_worker_uploads_anew_is_neither_refused_nor_of_the_old_batch(ledger: Ledger) -> None:
    ledger.write(upload="a.txt", before=[])
    ledger.write(refused="a.txt")
    ledger.write(batch="old", file_name="a.txt")
    ledger.write(upload="a.txt", before=["x"])
    entries = ledger.read()
    assert (entries.before, entries.refused, entries.batches) == ({"a.txt": ["x"]}, set(), {})


def test_of_two_documents_of_one_name_none_is_missed_when_somebody_has_deleted_them(ledger: Ledger) -> None:
    with DocumentServer(there={"one": "shop_terms.txt", "two": "shop_terms.txt"}) as server:
        ledger.write(upload="shop_terms.txt", before=[])
        done = take_out(server.url, ledger)
        assert [each.id for each in done.left] == ["one", "two"]
        assert done.left[0].reason == (
            "several new documents have this name, and one of them is this run's; when no other run is active, "
            "ragcheck cleanup with the question file deletes them"
        )
        del server.documents["one"]
        assert [each.id for each in take_out(server.url, ledger).left] == ["two"]
        server.documents.clear()
        assert take_out(server.url, ledger) == Documents()
    assert not ledger.folder.exists()


def test_a_server_that_is_gone_is_not_asked_for_each_document(ledger: Ledger) -> None:
    with DocumentServer() as server:
        put(server, ledger)
    done = take_out(server.url, ledger)
    assert len(done.left) == 2
    assert all("connection refused" in each.reason for each in done.left)
    assert len(ledger.read().documents) == 2


@pytest.mark.parametrize(("there", "ids", "expected"), [("a", ["a"], True), ("a", [], True), ("a", ["a", "b"], False)])
def test_a_system_has_the_documents_that_it_lists(there: str, ids: list[str], expected: bool) -> None:
    with DocumentServer(there={there: "a.txt"}) as server:
        assert listed(server.url, ids) is expected


def test_a_system_that_does_not_answer_is_taken_to_have_the_documents() -> None:
    with DocumentServer(replies={"GET /documents": (500, {})}) as server:
        assert listed(server.url, ["a"]) is True


def listed(url: str, ids: list[str]) -> bool:
    async def run() -> bool:
        async with RagClient(url) as client:
            return await has(client.documents, ids, RequestLimiter(1, retries=0))

    return asyncio.run(run())


def test_a_document_that_can_no_longer_be_deleted_is_reported_with_its_details(
    ledger: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    ledger.write(base="http://rag.example")
    for name in ("a.txt", "b.txt", "c.txt"):
        ledger.write(upload=name, before=[])
    ledger.write(document="id-a", file_name="a.txt")
    ledger.write(refused="c.txt")
    with caplog.at_level(logging.WARNING):
        left = give_up(ledger).left
    assert [(each.file_name, each.id) for each in left] == [("a.txt", "id-a"), ("b.txt", None)]
    assert "http://rag.example: document id-a (file a.txt) is left: the workers that had a client" in caplog.text
    assert ledger.read().documents == {"id-a": "a.txt"}


def test_a_ledger_of_nothing_goes_when_it_is_given_up(ledger: Ledger) -> None:
    ledger.write(base="http://rag.example")
    assert give_up(ledger) == Documents()
    assert not ledger.folder.exists()


def test_a_run_that_died_before_it_knew_the_ids_is_cleaned_up_after_by_name(tmp_path: Path) -> None:
    ledger = Ledger(folder_of_documents(tmp_path) / "run-1")
    with DocumentServer(there={"before": "shop_terms.txt", "other": "x.txt"}) as server:
        base = server.url.removesuffix("/query")
        ledger.write(base=base)
        ledger.write(upload="shop_terms.txt", before=["before"])
        ledger.write(upload="never_came.txt", before=[])
        ledger.write(batch="shop_terms.txt", file_name="shop_terms.txt")
        server.documents["ours"] = "shop_terms.txt"
        (found,) = abandoned(tmp_path)
        assert take_out(server.url, found) == Documents(deleted=1)
        assert server.documents == {"before": "shop_terms.txt", "other": "x.txt"}
    assert list(abandoned(tmp_path)) == []


def test_a_list_that_cannot_be_had_leaves_what_is_not_known(ledger: Ledger) -> None:
    with DocumentServer(replies={"GET /documents": (500, {})}) as server:
        ledger.write(upload="a.txt", before=[])
        done = take_out(server.url, ledger)
    assert [(each.file_name, each.id) for each in done.left] == [("a.txt", None)]


def test_the_ledger_of_a_living_run_is_not_abandoned(tmp_path: Path) -> None:
    ledger = Ledger(folder_of_documents(tmp_path) / "run-1")
    ledger.hold()
    ledger.hold()
    ledger.write(base="http://rag.example")
    assert list(abandoned(tmp_path)) == []
    ledger.release()
    assert [found.folder for found in abandoned(tmp_path)] == [ledger.folder]
    assert (tmp_path / ".ragcheck" / ".gitignore").read_text() == "*\n"


def test_a_ledger_is_held_though_another_process_looks_at_its_lock(tmp_path: Path) -> None:
    ledger = Ledger(folder_of_documents(tmp_path) / "run-1")
    ledger.write(base="http://rag.example")
    looking = FileLock(ledger.folder / f"{os.getpid()}.lock")
    assert looking.take()
    freeing = threading.Timer(0.05, looking.free)
    freeing.start()
    ledger.hold()
    freeing.join()
    assert list(abandoned(tmp_path)) == []
    ledger.release()


def test_a_run_whose_ledger_another_process_took_away_is_held_anew(tmp_path: Path) -> None:
    ledger, other = (Ledger(folder_of_documents(tmp_path) / "run-1") for _ in range(2))
    ledger.hold()
    other.remove()
    seen = [ledger.alive]
    ledger.hold()
    seen.append(ledger.alive)
    ledger.release()
    assert [*seen, ledger.alive] == [False, True, False]


def test_a_line_that_broke_off_is_passed_over(ledger: Ledger) -> None:
    ledger.write(document="a", file_name="a.txt")
    with (ledger.folder / "ledger.jsonl").open("a") as file:
        file.write('{"document": "b", "fi')
    assert ledger.read().documents == {"a": "a.txt"}


def test_questions_are_answered_with_our_ids_or_blamed_on_their_document() -> None:
    billing = frozenset({"billing"})
    uploads = [replace(TERMS, datasets=billing), replace(HOURS, datasets=billing)]
    uploads.append(Upload(doc_id="x", text="x", file_name="x.txt", datasets=billing))
    ingested = Ingested(
        ids={"id-1": "shop_terms.txt"}, failures={"shop_hours.txt": "it was not read", "x.txt": "nor this"}
    )
    with DocumentServer() as server:
        server.texts = {"id-1": "30 days."}
        server.documents = {"id-1": "shop_terms.txt"}
        client = RagClient(server.url)

        async def ask(*ids: str) -> object:
            passages = tuple(GoldPassage(doc_id=each, text=each) for each in ids)
            async with client:
                asked = a_question(ingest=True, gold_passages=passages)
                return await AsksIngested(client, ingested, uploads).ask(asked)

        answer = asyncio.run(ask("shop:terms"))
        assert (answer.source_ids, answer.server_source_ids) == (("shop:terms",), ("id-1",))  # type: ignore[attr-defined]
        with pytest.raises(
            IngestionError, match=r"^it was not read\nFurther documents of the question with an error: 1\."
        ):
            asyncio.run(ask("shop:hours", "x"))


def test_the_id_of_a_chunk_of_an_uploaded_document_is_our_id_too() -> None:
    class Chunks:
        async def ask(self, question: Question) -> RagAnswer:
            return RagAnswer(text="30.", contexts=("a", "b", "c"), source_ids=("id-1#2", "id-1", "id-9#1"))

    asks = AsksIngested(Chunks(), Ingested(ids={"id-1": "shop_terms.txt"}), [TERMS])
    answer = asyncio.run(asks.ask(a_question(ingest=True)))
    assert answer.source_ids == ("shop:terms", "shop:terms", "id-9#1")


def test_documents_of_two_datasets_with_one_id_are_told_apart() -> None:
    passages = {text: GoldPassage(doc_id="salaries", text=text) for text in ("Acme pays 10.", "Globex pays 90.")}
    acme, globex = (
        a_question(ingest=True, dataset_name=name, gold_passages=(passage,))
        for name, passage in zip(("acme", "globex"), passages.values(), strict=True)
    )
    uploads = uploads_of([acme, globex])
    first, second = (upload.file_name for upload in uploads)
    with DocumentServer() as server:
        server.texts = {"id-1": "Acme pays 10."}
        server.documents = {"id-1": first}

        async def ask() -> object:
            async with RagClient(server.url) as client:
                asks = AsksIngested(client, Ingested(ids={"id-1": first}, failures={second: "not read"}), uploads)
                with pytest.raises(IngestionError, match=r"^not read$"):
                    await asks.ask(globex)
                own = await asks.ask(acme)
                asks = AsksIngested(client, Ingested(ids={"id-1": first}), uploads)
                return own.source_ids, (await asks.ask(globex)).source_ids

        assert asyncio.run(ask()) == (("salaries",), (first,))


def test_the_outcome_is_reported_in_lines_and_adds_up() -> None:
    left = Left(file_name="a.txt", id=None, reason="no route")
    total = Documents(deleted=1, left=(left,)) + Documents(deleted=2, kept=3)
    assert list(total.lines()) == [
        "documents: 3 deleted, 3 kept (rag_disable); ragcheck cleanup deletes them",
        "WARNING: document ? (file a.txt) is left: no route",
        "Delete them with: ragcheck cleanup --rag-url=URL --output=FOLDER, the output folder of the run",
    ]
