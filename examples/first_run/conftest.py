"""
Starts the example RAG server over this project's own docs, for the questions that stand in this folder.

To do the same for a server of yours, change `COMMAND`; for one that runs elsewhere, give `--rag-url` instead.
"""

from __future__ import annotations

import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck import RagClient

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = Path(__file__).resolve().parent.parent
DOCS = EXAMPLES.parent / "docs"
COMMAND = [sys.executable, "-m", "rag_server", "--corpus", str(DOCS), "--port", "0", "--stop-with-stdin"]


@pytest.fixture(scope="session")
def rag_client() -> Iterator[RagClient]:
    """Takes the place of the plugin's client; the server lives as long as the session."""
    # The open pipe to its standard input ends the server even where this process is killed.
    with subprocess.Popen(COMMAND, cwd=EXAMPLES, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield RagClient(f"{url_of(server)}/query")
        finally:
            server.terminate()


def url_of(server: subprocess.Popen[str]) -> str:
    """The URL that the server prints first, once it answers there."""
    assert server.stdout
    url = server.stdout.readline().strip()
    if not url:
        pytest.fail(
            f"the RAG server ended at once with exit status {server.wait()} and said why on stderr; "
            'if packages are missing: pip install "pytest-ragcheck[example]"',
            pytrace=False,
        )
    # Past any proxy of the environment: the server is on this machine.
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    direct.open(f"{url}/health", timeout=30).close()
    return url
