"""Starts the example RAG server as a user does: as a process of its own."""

from __future__ import annotations

import os
import subprocess
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import httpx
import pytest

from tests import forks
from tests.harness import python_of_forks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

EXAMPLES = Path(__file__).parents[2] / "examples"
REFUSAL = "The documents do not answer this question."


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningServer:
    url: str
    process: subprocess.Popen[str]
    client: httpx.Client

    def post(self, **request: Any) -> httpx.Response:
        return self.client.post("/query", **request)

    def ask(self, query: str, **more: Any) -> dict[str, Any]:
        response = self.post(json={"query": query, **more})
        assert response.status_code == 200, response.text
        reply: dict[str, Any] = response.json()
        return reply

    def answer(self, query: str) -> str:
        answer: str = self.ask(query)["answer"]
        return answer

    def ask_with(self, query: str, *passages: tuple[str, str], **more: Any) -> dict[str, Any]:
        """The reply to a question that brings its passages, each an id and a text."""
        rows = [{"doc_id": doc_id, "text": text} for doc_id, text in passages]
        response = self.client.post("/query/with-context", json={"query": query, "context_passages": rows, **more})
        assert response.status_code == 200, response.text
        reply: dict[str, Any] = response.json()
        return reply

    def upload(self, *files: tuple[str, str | bytes]) -> dict[str, Any]:
        """The status of the batch of these files when each of them is done."""
        response = self.client.post("/upload", files=[("files", (name, content)) for name, content in files])
        assert response.status_code == 202, response.text
        while True:
            status: dict[str, Any] = self.client.get(f"/tasks/{response.json()['batch_id']}/status").json()
            if all(task["status"] in {"completed", "failed"} for task in status["tasks"]):
                return status

    def documents(self) -> dict[str, str]:
        """The file name of every document by its id."""
        return {row["id"]: row["file_name"] for row in self.client.get("/documents").json()}


class Serve(Protocol):
    def __call__(
        self,
        corpus: Mapping[str, str | bytes],
        *arguments: str,
        fault: str = "",
        environment: Mapping[str, str] | None = None,
    ) -> RunningServer: ...


def write_corpus(folder: Path, corpus: Mapping[str, str | bytes]) -> Path:
    for name, content in corpus.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def command(corpus: Path, *arguments: str) -> list[str]:
    return [*python_of_forks("-m", "rag_server"), "--corpus", str(corpus), "--port", "0", *arguments]


@contextmanager
def running(
    corpus: Path, *arguments: str, fault: str = "", environment: Mapping[str, str] | None = None
) -> Iterator[RunningServer]:
    with subprocess.Popen(
        command(corpus, "--stop-with-stdin", *arguments),
        cwd=EXAMPLES,
        env={**os.environ, "RAG_SERVER_FAULT": fault, **(environment or {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:  # its exit closes the server's standard input and waits for it
        assert process.stdout
        url = process.stdout.readline().strip()
        with httpx.Client(base_url=url, trust_env=False, timeout=30) as client:
            yield RunningServer(url=url, process=process, client=client)


@pytest.fixture(scope="session", autouse=True)
def servers_in_forks(request: pytest.FixtureRequest) -> None:
    """Starts the servers in forks; see `tests.forks`."""
    if forks.POSSIBLE:
        request.getfixturevalue("forks")


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    with ExitStack() as servers:

        def start(
            corpus: Mapping[str, str | bytes],
            *arguments: str,
            fault: str = "",
            environment: Mapping[str, str] | None = None,
        ) -> RunningServer:
            folder = write_corpus(tmp_path_factory.mktemp("corpus"), corpus)
            return servers.enter_context(running(folder, *arguments, fault=fault, environment=environment))

        yield start
