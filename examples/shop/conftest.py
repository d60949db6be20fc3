"""Starts the example RAG server over the shop's documents, for as long as the session lasts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck import RagClient

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parent
COMMAND = [
    *(sys.executable, "-m", "rag_server", "--corpus", str(HERE / "documents")),
    *("--port", "0", "--stop-with-stdin"),
]


@pytest.fixture(scope="session")
def rag_client() -> Iterator[RagClient]:
    with subprocess.Popen(COMMAND, cwd=HERE.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        # The first line is the server's URL; the end of the pipe to its standard input will end it.
        url = server.stdout.readline().strip()
        assert url, 'the server did not start; pip install "pytest-ragcheck[example]" brings what it needs'
        yield RagClient(f"{url}/query")
