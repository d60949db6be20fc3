"""Each recipe of the page of frameworks runs with the real package; `tox run -e recipes` installs them all."""

from __future__ import annotations

import json
import os
import re
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from tests.docs.pages import DOCS, page
from tests.servers.fake_endpoint import FakeEndpoint, chunked, json_reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.docs.pages import Reader
    from tests.servers.fake_endpoint import Behaviour

BLOCKS = page("how-to/frameworks.md", "In process")
PACKAGES = {
    "langchain": "langchain_core",
    "langgraph": "langgraph",
    "llamaindex": "llama_index",
    "haystack": "haystack",
    "mcp": "mcp",
}


def test_every_recipe_is_run() -> None:
    folders = {block.file.partition("/")[0] for block in BLOCKS if block.file and "/" in block.file}
    assert folders == set(PACKAGES)


@pytest.mark.parametrize("folder", PACKAGES)
def test_the_recipe_runs_as_it_stands(folder: str, reader: Callable[..., Reader]) -> None:
    if find_spec(PACKAGES[folder]) is None:
        needed = f"the recipe needs the package {PACKAGES[folder]}: tox run -e recipes"
        if os.environ.get("RAGCHECK_RECIPES"):
            pytest.fail(needed)
        pytest.skip(needed)
    someone = reader()
    for block in BLOCKS:
        if block.file is not None and (block.file.startswith(f"{folder}/") or "/" not in block.file):
            name = block.file.removeprefix(f"{folder}/")
            (someone.folder / name).write_text(block.text, encoding="utf-8")
    ran = someone.run("python -m pytest --rag-judge=offline")
    (shown,) = (block.text for block in BLOCKS if block.language == "text")
    assert shown in ran.output, ran.output
    summary = json.loads((someone.folder / "ragcheck-results" / "rag_summary.json").read_text(encoding="utf-8"))
    assert summary["overall_metrics"]["recall_at_1"] == 1.0, "the gold passage is found by the id of its document"


TEXT, SOURCE = "Refunds are possible within 30 days.", "terms.md"
ANSWER = "Within 30 days."
DOCUMENT = {"page_content": TEXT, "metadata": {"source": SOURCE}, "type": "Document"}
CITATION = {"content": TEXT, "filepath": SOURCE, "title": None, "chunk_id": "0"}


def event(value: Any, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(value)}\n\n".encode()


def events(*values: Any) -> Behaviour:
    return chunked([event(value) for value in values], content_type="text/event-stream")


def delta(content: str | None, finish_reason: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": content, **more}, "finish_reason": finish_reason}]}


# LangServe 0.3, LangGraph's server 0.16 and hayhooks 2.1 replied like this; the other replies follow documentation.
SERVERS: dict[str, Behaviour] = {
    "LangServe": json_reply({"output": {"answer": {"content": ANSWER, "type": "ai"}, "context": [DOCUMENT]}}),
    "LangGraph's server": chunked(
        [
            event({"run_id": "1", "attempt": 1}, "metadata"),
            event({"messages": [{"content": "?", "type": "human"}], "docs": [DOCUMENT]}, "values"),
            *(
                event([{"content": piece, "type": "AIMessageChunk"}, {"langgraph_node": "generate"}], "messages")
                for piece in ANSWER
            ),
            event({"messages": [{"content": ANSWER, "type": "ai"}], "docs": [DOCUMENT]}, "values"),
        ],
        content_type="text/event-stream",
    ),
    "Azure OpenAI on your data": json_reply(
        {"choices": [{"message": {"content": ANSWER, "context": {"citations": [CITATION]}}, "finish_reason": "stop"}]}
    ),
    "Dify": events(
        {"event": "message", "answer": ANSWER},
        {
            "event": "message_end",
            "metadata": {"retriever_resources": [{"content": TEXT, "document_name": SOURCE}]},
        },
    ),
    "RAGFlow": events(delta(ANSWER), delta(None, "stop", reference=[{"content": TEXT, "document_name": SOURCE}])),
    "Open WebUI": events(
        {"sources": [{"document": [TEXT], "metadata": [{"source": SOURCE}]}]}, delta(ANSWER), delta(None, "stop")
    ),
    "A chat endpoint without passages": events(delta(ANSWER), delta(None, "stop")),
}


SETTINGS = (DOCS / "how-to" / "frameworks.md").read_text(encoding="utf-8").partition("## By settings\n")[2]
WITHOUT_PASSAGES = "A chat endpoint without passages"


def settings_of(page: str, heading: str, port: int) -> str:
    """The ini block under the heading, with a local port in place of the server's address."""
    section = page.partition(f"### {heading}\n")[2].partition("\n### ")[0]
    (ini,) = re.findall(r"```ini\n(.*?)```", section, re.DOTALL)
    return re.sub(r"(?<=rag_url = )https?://[^/]+", f"http://127.0.0.1:{port}", ini)


def questions_for(heading: str) -> str:
    (questions,) = (block.text for block in BLOCKS if block.file == "billing.rag.yaml")
    if heading != WITHOUT_PASSAGES:
        return questions
    (defaults,) = re.findall(r"```yaml\n(.*?)```", SETTINGS, re.DOTALL)
    return f"{defaults}questions:\n{questions}".replace("  gold_passages: {doc_id: terms.md}\n", "")


DEFAULT_RUN = ("LangGraph's server", WITHOUT_PASSAGES)


@pytest.mark.parametrize(
    "name", [name if name in DEFAULT_RUN else pytest.param(name, marks=pytest.mark.exhaustive) for name in SERVERS]
)
def test_a_server_is_tested_by_the_settings_of_the_page(name: str, reader: Callable[..., Reader]) -> None:
    someone = reader(environment={f"{product}_KEY": "secret" for product in ("AZURE", "DIFY", "RAGFLOW", "WEBUI")})
    with FakeEndpoint(SERVERS[name]) as endpoint:
        (someone.folder / "pytest.ini").write_text(settings_of(SETTINGS, name, endpoint.port), encoding="utf-8")
        (someone.folder / "billing.rag.yaml").write_text(questions_for(name), encoding="utf-8")
        ran = someone.run("python -m pytest --rag-judge=offline")
    assert "1 PASS, 1 FAIL, 0 ERROR, 0 skipped" in ran.output, ran.output
    predictions = json.loads((someone.folder / "ragcheck-results" / "rag_predictions.json").read_text(encoding="utf-8"))
    source_ids = None if name == WITHOUT_PASSAGES else [SOURCE]
    assert [row["source_ids"] for row in predictions["predictions"]] == [source_ids] * 2


def test_every_server_of_the_page_is_imitated() -> None:
    assert re.findall(r"^### (.+)$", SETTINGS, re.MULTILINE) == list(SERVERS)
