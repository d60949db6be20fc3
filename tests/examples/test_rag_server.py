from __future__ import annotations

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import httpx
import pytest

from .conftest import EXAMPLES, REFUSAL, RunningServer, Serve, command, running, write_corpus

if TYPE_CHECKING:
    from pathlib import Path

HANDBOOK = """\
# Handbook

## Refunds

A refund is possible within 30 days.
The fee for a late refund is 12.50 euros.

## Opening hours

The shop opens at 9 and closes at 18.

## Café

Der Käse aus Zürich kostet 7 Franken.
Столица России - Москва.
"""


@pytest.fixture(scope="module")
def server(serve: Serve) -> RunningServer:
    return serve({"handbook.md": HANDBOOK})


def test_health_says_ok(server: RunningServer) -> None:
    response = server.client.get("/health")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


def test_an_answer_is_quoted_from_the_contexts(server: RunningServer) -> None:
    reply = server.ask("Within how many days is a refund possible?", top_k=3)
    assert reply["answer"] == "A refund is possible within 30 days."
    assert reply["contexts"][0] == (
        "Handbook > Refunds\nA refund is possible within 30 days.\nThe fee for a late refund is 12.50 euros."
    )


def test_a_reply_has_the_two_keys_of_the_contract_and_what_they_rest_on(server: RunningServer) -> None:
    reply = server.ask("When does the shop open?")
    assert list(reply) == ["answer", "contexts", "sources", "citations", "session_id", "metrics"]


@pytest.mark.parametrize(
    "query",
    [
        "Who founded the company behind the handbook?",
        "How much does a licence cost?",
        "What is the capital of Mongolia?",
        "Is it?",
        "?",
        "🦊🦊🦊",
    ],
)
def test_what_the_documents_do_not_say_is_refused(server: RunningServer, query: str) -> None:
    assert server.answer(query) == REFUSAL


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "query is required"),
        ({"query": ""}, "query is required"),
        ({"query": None}, "query is required"),
        ({"query": " \n"}, "query is required"),
        ({"query": 7}, "query must be a string"),
        ({"query": ["refund"]}, "query must be a string"),
        ({"query": "refund", "top_k": "5"}, "top_k must be an integer"),
        ({"query": "refund", "top_k": 2.5}, "top_k must be an integer"),
        ({"query": "refund", "top_k": True}, "top_k must be an integer"),
        ({"query": "refund", "include_chunks": "yes"}, "include_chunks must be true or false"),
        ({"query": "refund", "session_id": 7}, "session_id must be a string or null"),
        (["refund"], "the body must be a JSON object"),
        ("refund", "the body must be a JSON object"),
    ],
)
def test_a_request_that_breaks_the_contract_is_400_with_the_reason(
    server: RunningServer, body: object, message: str
) -> None:
    response = server.post(json=body)
    assert (response.status_code, response.json()) == (400, {"error": message})


@pytest.mark.parametrize(
    "content", [b"", b"refund", b'{"query": "refund"', b"\xff\xfe{}\xff", b"[" * 100_000, b"1" * 10_000]
)
def test_a_body_that_is_not_json_is_400(server: RunningServer, content: bytes) -> None:
    response = server.post(content=content)
    assert response.status_code == 400
    assert response.json()["error"].startswith("the body is not JSON: ")


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/query", 405), ("POST", "/health", 405), ("GET", "/", 404)]
)
def test_other_routes_and_methods_are_refused_in_json(
    server: RunningServer, method: str, path: str, status: int
) -> None:
    response = server.client.request(method, path)
    assert response.status_code == status
    assert response.json().keys() == {"error"}


def test_top_k_is_the_most_contexts_and_5_without_one(serve: Serve) -> None:
    server = serve({f"{number}.txt": f"Planet number {number} is a planet." for number in range(8)})

    def contexts(**request: object) -> int:
        return len(server.ask("planet", **request)["contexts"])

    assert contexts() == contexts(top_k=None) == 5
    assert [contexts(top_k=top_k) for top_k in (1, 7, 8, 9, 10**30)] == [1, 7, 8, 8, 8]


@pytest.mark.parametrize("top_k", [0, -1, -(10**30)])
def test_a_top_k_of_0_or_less_gives_no_contexts_and_so_no_answer(server: RunningServer, top_k: int) -> None:
    reply = server.ask("When does the shop open?", top_k=top_k)
    assert (reply["answer"], reply["contexts"], reply["sources"], reply["citations"]) == (REFUSAL, [], [], [])


@pytest.mark.parametrize(
    "query",
    [
        'Within how many days is a "refund" possible?',
        "refund AND possible OR NOT days",
        "NEAR(refund possible, 2) days",
        "refund* ^possible days",
        "possible: refund + days",
        "{refund} - (possible) 'days'; DROP TABLE passages; --",
        "refund\x00possible\x00days",
        '"refund" """possible days',
        "🦊 refund possible 👩‍👩‍👧 days \ud83e",
        "ReFUND POSSIBLE dayS",
        "𞤀𞤁 refund possible days",
    ],
)
def test_operators_quotes_and_odd_characters_are_no_syntax(server: RunningServer, query: str) -> None:
    # Escaped by hand, since httpx cannot encode a lone surrogate.
    response = server.post(content=json.dumps({"query": query}).encode("ascii"))
    assert response.status_code == 200
    assert response.json()["contexts"][0].startswith("Handbook > Refunds")


def test_words_match_without_their_accents_and_case(server: RunningServer) -> None:
    assert server.answer("Was kostet der KASE aus ZURICH?") == "Der Käse aus Zürich kostet 7 Franken."
    assert server.answer("столица россии?") == "Столица России - Москва."


def test_a_query_of_a_megabyte_is_answered(server: RunningServer) -> None:
    reply = server.ask("shop opens " + " ".join(f"word{number}" for number in range(100_000)))
    assert reply["contexts"][0].startswith("Handbook > Opening hours")
    assert server.answer("shop opens at 9 " * 65_000) == "The shop opens at 9 and closes at 18."


def test_parallel_requests_get_each_their_own_answer(server: RunningServer) -> None:
    expected = {
        "Within how many days is a refund possible?": "A refund is possible within 30 days.",
        "When does the shop open?": "The shop opens at 9 and closes at 18.",
        "What is the capital of Mongolia?": REFUSAL,
    }
    queries = [*expected] * 40
    with ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(server.answer, queries))
    assert answers == [expected[query] for query in queries]


def test_the_fault_number_alters_each_number_of_the_answer_and_no_context(serve: Serve, server: RunningServer) -> None:
    faulty = serve({"handbook.md": HANDBOOK}, fault=" number, ")
    query = "What is the fee for a late refund?"
    right, wrong = server.ask(query), faulty.ask(query)
    assert right["answer"] == "The fee for a late refund is 12.50 euros."
    assert wrong["answer"] == "The fee for a late refund is 23.61 euros."
    assert wrong["contexts"] == right["contexts"]
    assert faulty.answer("What is the capital of Mongolia?") == REFUSAL


def test_documents_are_read_at_any_depth_and_other_files_are_not(serve: Serve) -> None:
    server = serve(
        {
            "a.md": b"\xef\xbb\xbf# Apples\n\nAn apple weighs 150 grams.",
            "deep/er/b.txt": "A pear weighs 170 grams.\r\nA plum weighs 60 grams.\r\n",
            "broken.md": b"A quince \xff weighs 300 grams.",
            "c.py": "A cherry weighs 8 grams.",
            "empty.md": "",
        }
    )
    assert server.ask("How much does an apple weigh?")["contexts"][0] == "Apples\nAn apple weighs 150 grams."
    assert server.answer("How much does a plum weigh?") == "A plum weighs 60 grams."
    assert server.answer("How much does a quince weigh?") == "A quince � weighs 300 grams."
    assert server.answer("How much does a cherry weigh?") == REFUSAL


def test_an_empty_corpus_answers_nothing(serve: Serve) -> None:
    reply = serve({}).ask("When does the shop open?")
    assert (reply["answer"], reply["contexts"]) == (REFUSAL, [])


def test_a_database_file_follows_the_corpus_at_the_next_start(tmp_path: Path) -> None:
    database = ("--database", str(tmp_path / "index.db"))
    corpus = write_corpus(tmp_path / "corpus", {"a.md": "The apple is red.", "b.md": "The plum is blue."})
    with running(corpus, *database) as server:
        assert server.answer("plum?") == "The plum is blue."
    (corpus / "b.md").unlink()
    write_corpus(corpus, {"a.md": "The apple is green.", "c.md": "The pear is yellow."})
    with running(corpus, *database) as server:
        assert server.ask("apple?")["contexts"] == ["The apple is green."]
        assert server.answer("apple?") == "The apple is green."
        assert server.answer("plum?") == REFUSAL
        assert server.answer("pear?") == "The pear is yellow."


def test_the_server_ends_when_its_standard_input_closes(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        assert server.process.stdin
        server.process.stdin.close()
        assert server.process.wait(30) == 0


def test_without_stop_with_stdin_a_closed_standard_input_does_not_end_it(tmp_path: Path) -> None:
    with subprocess.Popen(
        command(tmp_path), cwd=EXAMPLES, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout
            url = process.stdout.readline().strip()
            assert httpx.get(f"{url}/health", trust_env=False).status_code == 200
        finally:
            process.terminate()


@pytest.mark.parametrize(
    ("arguments", "fault", "message"),
    [
        (
            [],
            "numbers,number",
            (
                "RAG_SERVER_FAULT names no fault: numbers. "
                "Known: number, best, invent, slow, error, wrong-ids, citation-wrong, "
                "citation-invented, obeys, leaks, forgets, cut, event, task, delete."
            ),
        ),
        ([], "slow=soon", "RAG_SERVER_FAULT: slow=soon has no number after the '='."),
        ([], "error=2.5", "RAG_SERVER_FAULT: error=2.5 has no number after the '='."),
        (["--corpus", "nowhere"], "", "--corpus nowhere is no folder"),
        (["--database", "."], "", "--database .: unable to open database file"),
        (["--database", "rag_server/app.py"], "", "--database rag_server/app.py: file is not a database"),
    ],
)
def test_a_start_that_cannot_work_ends_with_2_and_the_reason(
    tmp_path: Path, arguments: list[str], fault: str, message: str
) -> None:
    ended = subprocess.run(
        command(tmp_path, *arguments),
        cwd=EXAMPLES,
        env={**os.environ, "RAG_SERVER_FAULT": fault},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert ended.stderr.endswith(f"error: {message}\n")


def test_a_port_in_use_is_named(tmp_path: Path, server: RunningServer) -> None:
    port = server.url.rpartition(":")[2]
    ended = subprocess.run(
        command(tmp_path, "--port", port), cwd=EXAMPLES, capture_output=True, text=True, timeout=30, check=False
    )
    assert ended.returncode == 2
    assert f"error: cannot listen on 127.0.0.1:{port}: " in ended.stderr
