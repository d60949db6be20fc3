"""The settings on the pages read the replies of real servers; `tox run -e recipes-NAME` installs one."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.docs.pages import DOCS
from tests.docs.test_recipes import BLOCKS, SETTINGS, WITHOUT_PASSAGES, questions_for, settings_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.docs.pages import Reader

SHAPES = (DOCS / "how-to" / "own-endpoint-shape.md").read_text(encoding="utf-8")
SERVED = {
    "langserve": ("langserve", "langchain"),
    "langgraph": ("langgraph_api", "langgraph"),
    "hayhooks": ("hayhooks", "haystack"),
}
"""The package that is needed, and the recipe that is served."""

LANGSERVE = """\
import uvicorn
from fastapi import FastAPI
from langserve import add_routes
from recipe import chain

app = FastAPI()
add_routes(app, chain.with_types(input_type=str, output_type=dict), path="/rag")
uvicorn.run(app, port={port})
"""

LANGGRAPH = """\
{"dependencies": ["."], "graphs": {"agent": "./recipe.py:graph"}}
"""

HAYHOOKS = """\
import sys

sys.path.insert(0, {folder!r})
from hayhooks import BasePipelineWrapper, get_last_user_message, streaming_generator
from recipe import ask, pipeline


class PipelineWrapper(BasePipelineWrapper):
    def setup(self) -> None:
        self.pipeline = pipeline

    def run_api(self, query: str, top_k: int = 5) -> dict:
        found = ask(query, top_k)
        documents = [{{"content": each.content, "meta": {{"file_path": each.meta["file"]}}}}
                     for each in found["retriever"]["documents"]]
        return {{"answer": found["model"]["replies"][0].text, "documents": documents}}

    def run_chat_completion(self, model: str, messages: list[dict], body: dict):
        query = get_last_user_message(messages)
        inputs = {{"retriever": {{"query": query}}, "prompt": {{"question": query}}}}
        return streaming_generator(pipeline=self.pipeline, pipeline_run_args=inputs)
"""


def langserve(folder: Path, port: int) -> list[str]:
    (folder / "serve.py").write_text(LANGSERVE.format(port=port), encoding="utf-8")
    return [sys.executable, "serve.py"]


def langgraph(folder: Path, port: int) -> list[str]:
    (folder / "langgraph.json").write_text(LANGGRAPH, encoding="utf-8")
    return [program("langgraph"), "dev", "--no-browser", "--no-reload", "--port", str(port)]


def hayhooks(folder: Path, port: int) -> list[str]:
    wrapper = folder / "pipelines" / "rag" / "pipeline_wrapper.py"
    wrapper.parent.mkdir(parents=True)
    wrapper.write_text(HAYHOOKS.format(folder=str(folder)), encoding="utf-8")
    return [program("hayhooks"), "run", "--host", "127.0.0.1", "--port", str(port), "--pipelines-dir", "pipelines"]


def program(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


@contextlib.contextmanager
def served(command: list[str], folder: Path, port: int) -> Iterator[None]:
    """Runs the server until the end of the block."""
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        try:
            limit = time.monotonic() + 60
            while server.poll() is None and time.monotonic() < limit:
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                    break
                time.sleep(0.1)
            yield
        finally:
            server.terminate()
            server.wait(30)


@pytest.mark.parametrize(
    ("heading", "start"),
    [
        pytest.param("LangServe", langserve, id="langserve"),
        pytest.param("LangGraph's server", langgraph, id="langgraph"),
        pytest.param("Haystack's hayhooks", hayhooks, id="hayhooks"),
        pytest.param(WITHOUT_PASSAGES, hayhooks, id="hayhooks streamed"),
    ],
)
def test_a_real_server_is_tested_by_the_settings_of_the_page(
    heading: str, start: Callable[[Path, int], list[str]], reader: Callable[..., Reader], tmp_path: Path
) -> None:
    package, recipe = SERVED[start.__name__]
    if find_spec(package) is None:
        needed = f"the server needs the package {package}: tox run -e recipes-{start.__name__}"
        if os.environ.get("RAGCHECK_RECIPES"):
            pytest.fail(needed)
        pytest.skip(needed)
    folder = tmp_path / "server"
    folder.mkdir()
    (code,) = (block.text for block in BLOCKS if block.file == f"{recipe}/conftest.py")
    (folder / "recipe.py").write_text(code, encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    page = SETTINGS if f"### {heading}\n" in SETTINGS else SHAPES
    someone = reader()
    (someone.folder / "pytest.ini").write_text(settings_of(page, heading, port), encoding="utf-8")
    (someone.folder / "billing.rag.yaml").write_text(questions_for(heading), encoding="utf-8")
    with served(start(folder, port), folder, port):
        ran = someone.run("python -m pytest --rag-judge=offline")
        probed = someone.run("ragcheck probe --json --question 'Within how many days are refunds possible?'")
    assert "1 PASS, 1 FAIL, 0 ERROR, 0 skipped" in ran.output, ran.output + (folder / "server.log").read_text()
    assert "contexts=" in json.loads(probed.output)["settings"]["rag_response"], "the probe finds that they read it"
