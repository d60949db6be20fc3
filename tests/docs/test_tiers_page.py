"""The pages about tiers, routes and ingestion show real requests and texts, and all routes."""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING

from pytest_ragcheck.config.readers import STEPS
from pytest_ragcheck.config.table import TABLE
from pytest_ragcheck.engine.limits.request_limiter import RequestLimiter
from pytest_ragcheck.questions.question import TIERS, GoldPassage
from pytest_ragcheck.rag.client import RagClient
from pytest_ragcheck.rag.documents.ingestion import BEGUN_LIMITS, POLL_SECONDS, STALLED_LIMITS, ingest
from pytest_ragcheck.rag.documents.uploads import Ledger, folder_of_documents, uploads_of
from tests.docs.pages import DOCS, PROJECT
from tests.making import a_question
from tests.servers.document_server import DocumentServer
from tests.servers.fake_endpoint import FakeEndpoint, json_reply

if TYPE_CHECKING:
    from pathlib import Path

    from tests.harness import Project

PAGE = "".join(
    (DOCS / "reference" / name).read_text(encoding="utf-8") for name in ("tiers-and-routes.md", "ingestion.md")
)


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def block(language: str) -> str:
    (text,) = blocks(language)
    return text


def test_the_file_and_the_reply_of_the_tier_retrieval_pass_without_a_judge(project: Project) -> None:
    project.write("search.rag.yaml", block("yaml"))
    with FakeEndpoint(json_reply(json.loads(blocks("json")[0]))) as endpoint:
        run = project.run(f"--rag-url={endpoint.url}")
    assert run.verdicts == {"refund-window": "PASS"}, run.text
    assert run.scores["refund-window"]["recall_at_5"] == 1.0


def test_the_request_is_what_is_sent_in_the_tier_generation() -> None:
    shown = json.loads(blocks("json")[1])
    passages = tuple(GoldPassage(**row) for row in shown["context_passages"])
    question = a_question(tier="generation", gold_passages=passages)

    async def ask(url: str) -> None:
        async with RagClient(url) as client:
            await client.query_with_context(shown["query"], question.gold_passages)

    with FakeEndpoint(json_reply({"answer": "30 days", "sources": []})) as endpoint:
        asyncio.run(ask(endpoint.url))
    assert endpoint.requests[0].json == shown


def test_the_error_is_what_a_user_sees(tmp_path: Path) -> None:
    gold = (GoldPassage(doc_id="shop:hours", text="From 9 to 18."),)
    uploads = uploads_of([a_question(ingest=True, gold_passages=gold)])
    ledger = Ledger(folder_of_documents(tmp_path) / "run")

    async def put(url: str) -> str:
        async with RagClient(url) as client:
            done = await ingest(uploads, client.documents, ledger=ledger, limiter=RequestLimiter(1))
        return done.failures["shop_hours.txt"]

    with DocumentServer(failing="hours") as server:
        said = asyncio.run(put(server.url))
    assert re.sub(r":\d{4,5}:", ":8000:", said) + "\n" == block("text")


def test_the_routes_are_those_of_the_example_server() -> None:
    named = set(re.findall(r"^\| `([A-Z]+ /[^`]+)` \|", PAGE, re.MULTILINE))
    app = (PROJECT / "examples" / "rag_server" / "app.py").read_text(encoding="utf-8")
    there = {f"{method} {path}" for path, method in re.findall(r'Route\("(.+?)", .+?methods=\["(\w+)"\]', app)}
    normal = {re.sub(r"\{.*?\}", "{}", route) for route in there}
    assert {re.sub(r"\{.*?\}", "{}", route) for route in named} <= normal
    assert len(named) == 6


def test_tiers_options_and_numbers_are_those_that_there_are() -> None:
    assert set(re.findall(r"^\| `(\w+)` \| (?:The|the)", PAGE, re.MULTILINE)) == set(TIERS)
    options = {option.name for option in TABLE}
    named = set(re.findall(r"`(?:--)?(rag[_-][\w-]+)`", PAGE)) - {"rag_client"}
    assert {name.replace("-", "_") for name in named} <= options
    assert f"With `rag_disable = {STEPS[-2]}` the documents stay in the system, and with `{STEPS[-1]}` after" in PAGE
    assert f"for {STALLED_LIMITS} times `rag_timeout` (120 s by default), or for {BEGUN_LIMITS} times once" in PAGE
    assert POLL_SECONDS == 2.0
