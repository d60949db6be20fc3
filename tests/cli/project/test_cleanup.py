"""`ragcheck cleanup` over the ledgers of runs, and over question files."""

from __future__ import annotations

import ntpath
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.rag.documents.uploads import Ledger, folder_of_documents
from tests.servers.document_server import DocumentServer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Ragcheck = Callable[..., tuple[int, str, str]]

FILE = "questions: [{question: When?, gold_passages: [{doc_id: 'shop:hours', text: From 9.}]}]\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def left_by(server: DocumentServer, tmp_path: Path, *, kept: bool = False) -> Ledger:
    ledger = Ledger(folder_of_documents(tmp_path / "ragcheck-results") / "run-1")
    ledger.write(base=server.url.removesuffix("/query"))
    ledger.write(upload="shop_hours.txt", before=[])
    ledger.write(document="ours", file_name="shop_hours.txt")
    if kept:
        ledger.write(kept=True)
    return ledger


@pytest.mark.parametrize("kept", [False, True])
def test_what_a_ledger_names_is_deleted(ragcheck: Ragcheck, tmp_path: Path, kept: bool) -> None:
    with DocumentServer(there={"ours": "shop_hours.txt", "other": "shop_hours.txt"}) as server:
        left_by(server, tmp_path, kept=kept)
        assert ragcheck("cleanup", f"--rag-url={server.url}") == (0, "documents: 1 deleted\n", "")
        assert server.documents == {"other": "shop_hours.txt"}
        assert ragcheck("cleanup", f"--rag-url={server.url}") == (
            0,
            "ragcheck-results: no run has left a document\n",
            "",
        )


def test_the_ledgers_are_in_the_output_folder_that_the_ini_file_names(ragcheck: Ragcheck, tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nrag_output = runs\n", encoding="utf-8")
    with DocumentServer(there={"ours": "shop_hours.txt"}) as server:
        left_by(server, tmp_path)
        (tmp_path / "ragcheck-results").rename(tmp_path / "runs")
        assert ragcheck("cleanup", f"--rag-url={server.url}") == (0, "documents: 1 deleted\n", "")


def test_the_server_and_its_tokens_may_stand_in_the_ini_file(
    ragcheck: Ragcheck, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_TOKEN", "opensesame-77")
    with DocumentServer(there={"ours": "shop_hours.txt"}) as server, DocumentServer() as other:
        (tmp_path / "pytest.ini").write_text(
            f"[pytest]\nrag_url = {server.url.replace('/query', '/chat')}\nrag_base_url = {server.url[:-6]}\n"
            "rag_headers = Authorization: Bearer {env:RAG_TOKEN}\n"
        )
        (tmp_path / "shop.rag.yaml").write_text(FILE)
        assert ragcheck("cleanup", f"--rag-url={other.url}", "shop.rag.yaml")[0] == 0
        left_by(server, tmp_path)
        assert ragcheck("cleanup") == (0, "documents: 1 deleted\n", "")
        assert server.documents == {}
        assert {each.headers.get("authorization") for each in server.requests} == {"Bearer opensesame-77"}
        assert [each.headers.get("authorization") for each in other.requests] == [None]


def test_the_output_folder_may_be_on_another_drive_of_windows(
    ragcheck: Ragcheck, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.path.relpath", lambda path: ntpath.relpath(f"C:{path}", "D:\\"))
    (tmp_path / "pytest.ini").write_text("[pytest]\nrag_output = runs\n", encoding="utf-8")
    status, printed, _ = ragcheck("cleanup", "--rag-url=http://127.0.0.1:9/q")
    assert (status, printed) == (0, f"{tmp_path / 'runs'}: no run has left a document\n")


def test_the_ledger_of_a_living_run_and_that_of_another_server_are_left(ragcheck: Ragcheck, tmp_path: Path) -> None:
    with DocumentServer(there={"ours": "shop_hours.txt"}) as server:
        ledger = left_by(server, tmp_path)
        ledger.hold()
        assert ragcheck("cleanup", f"--rag-url={server.url}")[0] == 0
        ledger.release()
        base = server.url.removesuffix("/query")
        assert ragcheck("cleanup", f"--rag-url={server.url}", "--base-url=http://127.0.0.1:9/api") == (
            1,
            (
                f"WARNING: 1 document is left in {base} by the run run-1, not in http://127.0.0.1:9/api. "
                "Give the URL of that server by --rag-url or --base-url.\n"
            ),
            "",
        )
        assert server.documents == {"ours": "shop_hours.txt"}


def test_what_is_left_in_another_server_is_reported_beside_what_is_deleted(ragcheck: Ragcheck, tmp_path: Path) -> None:
    with DocumentServer(there={"ours": "shop_hours.txt"}) as server:
        left_by(server, tmp_path)
        other = Ledger(folder_of_documents(tmp_path / "ragcheck-results") / "run-2")
        other.write(base="app my_service:app")
        for name in ("shop_hours.txt", "shop_terms.txt"):
            other.write(upload=name, before=[])
        assert ragcheck("cleanup", f"--rag-url={server.url}") == (
            1,
            (
                "documents: 1 deleted\n"
                "WARNING: 2 documents are left in app my_service:app by the run run-2, not in "
                f"{server.url.removesuffix('/query')}. The next run that puts documents into that app deletes them.\n"
            ),
            "",
        )
        assert server.documents == {}


def test_what_cannot_be_deleted_is_reported_with_status_1(ragcheck: Ragcheck, tmp_path: Path) -> None:
    with DocumentServer(there={"ours": "shop_hours.txt"}, undeletable="hours") as server:
        left_by(server, tmp_path)
        status, printed, _ = ragcheck("cleanup", f"--rag-url={server.url}")
    assert status == 1
    assert "WARNING: document ours (file shop_hours.txt) is left: " in printed


def test_a_document_that_the_server_does_not_show_stays_in_the_ledger_once(ragcheck: Ragcheck, tmp_path: Path) -> None:
    # Many servers reply 404 to the token of another account.
    with DocumentServer(there={"ours": "shop_hours.txt"}, replies={"DELETE": (404, {})}) as server:
        left_by(server, tmp_path)
        status, printed, _ = ragcheck("cleanup", f"--rag-url={server.url}")
        assert status == 1
        assert printed.startswith(
            "documents: 0 deleted\n"
            "WARNING: document ours (file shop_hours.txt) is left: the server has no document of this id, or does "
            "not show it to this token; the next ragcheck cleanup takes a missing document for deleted\n"
        )
        server.replies.clear()
        assert ragcheck("cleanup", f"--rag-url={server.url}") == (0, "documents: 1 deleted\n", "")
        assert server.documents == {}
        left_by(server, tmp_path)
        assert [ragcheck("cleanup", f"--rag-url={server.url}")[0] for _ in range(2)] == [1, 0]


def test_a_listed_document_that_the_server_does_not_find_is_not_deleted(ragcheck: Ragcheck, tmp_path: Path) -> None:
    (tmp_path / "shop.rag.yaml").write_text(FILE)
    with DocumentServer(there={"a": "shop_hours.txt"}, replies={"DELETE": (404, {})}) as server:
        status, printed, _ = ragcheck("cleanup", f"--rag-url={server.url}", "shop.rag.yaml", "--yes")
    assert status == 1
    assert printed.endswith("(file shop_hours.txt) is left: the server lists it, but has no document with this id\n")


@pytest.mark.exhaustive  # waits 10 s for it; tests/rag/documents has the same with less patience
def test_an_upload_that_the_server_still_reads_is_left_until_it_is_a_document(
    ragcheck: Ragcheck, tmp_path: Path
) -> None:
    with DocumentServer(stuck="hours", replies={"GET /tasks": (500, {})}) as server:
        ledger = Ledger(folder_of_documents(tmp_path / "ragcheck-results") / "run-1")
        ledger.write(base=server.url.removesuffix("/query"))
        ledger.write(upload="shop_hours.txt", before=[])
        ledger.write(batch="b", file_name="shop_hours.txt")
        status, printed, _ = ragcheck("cleanup", f"--rag-url={server.url}")
        assert status == 1
        assert "WARNING: document ? (file shop_hours.txt) is left: its batch b cannot be followed" in printed
        server.documents["late"] = "shop_hours.txt"
        assert ragcheck("cleanup", f"--rag-url={server.url}") == (0, "documents: 1 deleted\n", "")
        assert server.documents == {}
    assert not ledger.folder.exists()


def test_without_a_ledger_question_files_say_what_is_looked_for(ragcheck: Ragcheck, tmp_path: Path) -> None:
    (tmp_path / "shop.rag.yaml").write_text(FILE)
    with DocumentServer(there={"a": "shop_hours.txt", "other": "x.txt"}) as server:
        command = ("cleanup", f"--rag-url={server.url}", "shop.rag.yaml")
        assert ragcheck(*command) == (
            1,
            (
                "would delete: a (file shop_hours.txt)\n"
                "Nothing is deleted: these may be there for another reason. Give --yes to delete them.\n"
            ),
            "",
        )
        assert ragcheck(*command, "--yes") == (0, "deleted: a (file shop_hours.txt)\n", "")
        assert server.documents == {"other": "x.txt"}
        assert ragcheck(*command) == (0, "no document there has a file name of these files\n", "")


def test_a_document_of_a_question_file_that_cannot_be_deleted_does_not_keep_the_others(
    ragcheck: Ragcheck, tmp_path: Path
) -> None:
    (tmp_path / "shop.rag.yaml").write_text(FILE.replace("From 9.}", "From 9.}, {doc_id: terms, text: 30 days.}"))
    with DocumentServer(there={"a": "shop_hours.txt", "b": "terms.txt"}, undeletable="hours") as server:
        status, printed, _ = ragcheck("cleanup", f"--rag-url={server.url}", "shop.rag.yaml", "--yes")
        assert server.documents == {"a": "shop_hours.txt"}
    first, second = printed.splitlines()
    assert first.startswith("WARNING: document a (file shop_hours.txt) is left: ")
    assert "500" in first
    assert (status, second) == (1, "deleted: b (file terms.txt)")


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ((), 2, "no URL is given. Write --rag-url=http://localhost:8000/query, or set RAGCHECK_URL."),
        (("--rag-url=rag",), 2, "--rag-url: 'rag' is not a URL; write it whole, such as http://localhost:8000/query"),
        (("--rag-url=http://127.0.0.1:9/query", "no.yaml"), 2, "no.yaml: the file cannot be read: No such file or dir"),
    ],
)
def test_wrong_usage_is_reported_with_status_2(
    ragcheck: Ragcheck, arguments: tuple[str, ...], status: int, said: str
) -> None:
    ended, _, errors = ragcheck("cleanup", *arguments)
    assert ended == status
    assert errors.startswith(f"ragcheck cleanup: {said}")


def test_a_server_that_is_not_there_is_reported_with_status_1(ragcheck: Ragcheck, tmp_path: Path) -> None:
    (tmp_path / "shop.rag.yaml").write_text(FILE)
    status, _, errors = ragcheck("cleanup", "--rag-url=http://127.0.0.1:9/query", "shop.rag.yaml")
    assert status == 1
    assert "connection refused" in errors
