"""Documents that are uploaded, listed and deleted while the server runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from .conftest import REFUSAL, RunningServer, Serve, running, write_corpus

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def shared(serve: Serve) -> RunningServer:
    return serve({})


@pytest.fixture
def server(shared: RunningServer) -> RunningServer:
    """With one document and no other."""
    for document_id in shared.documents():
        shared.client.delete(f"/documents/{document_id}")
    shared.upload(("shop.md", "The shop opens at 9."))
    return shared


def test_uploaded_files_are_documents_that_answers_come_from(server: RunningServer) -> None:
    status = server.upload(
        ("apple.txt", "An apple weighs 150 grams."), ("pear.md", b"\xef\xbb\xbf# Pears\n\nHeavy \xff.")
    )
    assert (status["total"], status["completed"]) == (2, 2)
    assert [(task["file_name"], task["error"]) for task in status["tasks"]] == [("apple.txt", None), ("pear.md", None)]
    assert sorted(server.documents().values()) == ["apple.txt", "pear.md", "shop.md"]
    assert server.answer("How much does an apple weigh?") == "An apple weighs 150 grams."
    assert server.answer("When does the shop open?") == "The shop opens at 9."


def test_an_answer_names_its_sources_and_what_it_quotes(server: RunningServer) -> None:
    server.upload(("apple.txt", "An apple weighs 150 grams."))
    (apple,) = (key for key, name in server.documents().items() if name == "apple.txt")
    reply = server.ask("How much does an apple weigh?", include_chunks=True, session_id="mine")
    (source,) = reply["sources"]
    assert source.pop("score") > 0
    assert source == {"document_id": apple, "file_name": "apple.txt", "text": "An apple weighs 150 grams."}
    assert reply["citations"] == [{"document_id": apple, "source": 0, "quote": "An apple weighs 150 grams."}]
    assert reply["session_id"] == "mine"
    assert reply["metrics"].keys() == {"answer_seconds", "retrieval_seconds"}


def test_sources_load_texts_on_demand_and_every_question_has_its_own_session(server: RunningServer) -> None:
    first, second = server.ask("When does the shop open?"), server.ask("When does the shop open?")
    assert first["sources"][0].keys() == {"document_id", "file_name", "score"}
    assert first["session_id"] != second["session_id"]


def test_a_file_that_cannot_be_read_fails_alone(server: RunningServer) -> None:
    status = server.upload(("scan.pdf", b"%PDF-1.7"), ("apple.txt", "An apple is round."))
    assert (status["total"], status["completed"]) == (2, 1)
    assert status["tasks"][0]["status"] == "failed"
    assert status["tasks"][0]["error"] == "only files that end in .md or .txt can be read"
    assert sorted(server.documents().values()) == ["apple.txt", "shop.md"]


def test_two_uploads_of_one_name_are_two_documents(server: RunningServer) -> None:
    server.upload(("apple.txt", "An apple is round."))
    server.upload(("apple.txt", "An apple is red."))
    assert sorted(server.documents().values()) == ["apple.txt", "apple.txt", "shop.md"]


def test_names_and_contents_beyond_ascii_arrive_whole(server: RunningServer) -> None:
    server.upload(("яблоко \U0001f34f.txt", "Яблоко весит 150 граммов.\r\n--\r\nЗелёное."))
    assert "яблоко \U0001f34f.txt" in server.documents().values()
    assert server.answer("яблоко весит?") == "Яблоко весит 150 граммов."


def test_a_deleted_document_is_neither_listed_nor_found(server: RunningServer) -> None:
    server.upload(("apple.txt", "An apple weighs 150 grams."))
    listed = list(server.documents())
    for document_id in listed:
        response = server.client.delete(f"/documents/{document_id}")
        assert (response.status_code, response.json()) == (200, {"deleted": document_id})
    assert server.documents() == {}
    assert server.answer("How much does an apple weigh?") == REFUSAL
    response = server.client.delete(f"/documents/{listed[0]}")
    assert (response.status_code, response.json()) == (404, {"error": "there is no document of this id"})


def test_a_batch_that_is_not_known_is_404(server: RunningServer) -> None:
    response = server.client.get("/tasks/none/status")
    assert (response.status_code, response.json()) == (404, {"error": "there is no batch of this id"})


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"json": {}}, "the body must be multipart/form-data with one or more files"),
        ({"files": [("file", ("a.txt", b"a"))]}, "files is required"),
        ({"files": [("files", (None, b"a"))]}, "files is required"),
        ({"content": b"nothing", "headers": {"content-type": "multipart/form-data"}}, "files is required"),
    ],
)
def test_an_upload_without_files_is_400(server: RunningServer, form: dict[str, Any], message: str) -> None:
    response = server.client.post("/upload", **form)
    assert (response.status_code, response.json()) == (400, {"error": message})


def test_what_was_uploaded_outlives_the_server_that_has_a_file_and_no_other(tmp_path: Path) -> None:
    database = ("--database", str(tmp_path / "index.db"))
    corpus = write_corpus(tmp_path / "corpus", {"shop.md": "The shop opens at 9."})
    with running(corpus, *database) as server:
        server.upload(("apple.txt", "An apple weighs 150 grams."))
        before = server.documents()
    with running(corpus, *database) as server:
        assert sorted(server.documents().items()) == sorted(before.items())
        assert server.answer("How much does an apple weigh?") == "An apple weighs 150 grams."


def test_the_fault_task_fails_the_files_that_it_names(serve: Serve) -> None:
    status = serve({}, fault="task=apple").upload(("my apple.txt", "Red."), ("pear.txt", "Green."))
    assert [(task["status"], task["error"]) for task in status["tasks"]] == [
        ("failed", "the file cannot be read, on purpose"),
        ("completed", None),
    ]


def test_the_fault_delete_keeps_the_documents_that_it_names(serve: Serve) -> None:
    server = serve({"apple.txt": "Red.", "pear.txt": "Green."}, fault="delete=apple")
    response = server.client.delete("/documents/apple.txt")
    assert (response.status_code, response.json()) == (500, {"error": "the document cannot be deleted, on purpose"})
    assert server.client.delete("/documents/pear.txt").status_code == 200
    assert server.documents() == {"apple.txt": "apple.txt"}
