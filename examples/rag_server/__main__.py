"""Starts the server: `python -m rag_server`, in the folder `examples`."""

from __future__ import annotations

import argparse
import os
import socket
import sqlite3
import threading
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn

from .accounts import accounts_from, create_app_with_accounts
from .app import create_app
from .documents import DocumentIndex
from .faults import faults_from
from .llm import LanguageModel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.applications import Starlette


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m rag_server",
        description="A small RAG server over a folder of texts, and what is uploaded to it.",
    )
    parser.add_argument(
        "--corpus", type=Path, help="folder whose .md and .txt files are read, at any depth; default: no documents"
    )
    parser.add_argument("--database", type=Path, help="file that keeps the index; default: in memory")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000, help="0: a free one; the first line printed names it")
    parser.add_argument(
        "--stop-with-stdin", action="store_true", help="end when standard input closes, thus with the parent"
    )
    options = parser.parse_args(arguments)
    try:
        faults = faults_from(os.environ.get("RAG_SERVER_FAULT", ""))
    except ValueError as error:
        parser.error(str(error))
    if options.corpus is not None and not options.corpus.is_dir():
        parser.error(f"--corpus {options.corpus} is no folder")
    try:
        index = DocumentIndex(options.database)
    except sqlite3.Error as error:
        parser.error(f"--database {options.database}: {error}")
    try:
        listening = socket.create_server((options.host, options.port))
    except OSError as error:
        parser.error(f"cannot listen on {options.host}:{options.port}: {error.strerror}")
    with closing(index):
        if options.corpus is not None:
            index.update(options.corpus)
        model, cites = model_from(os.environ), os.environ.get("RAG_SERVER_CITATIONS") == "1"
        accounts = accounts_from(os.environ.get("RAG_SERVER_ACCOUNTS", ""))
        if accounts:
            app = create_app_with_accounts(accounts, index, faults, model, cites=cites)
        else:
            app = create_app(index, faults, model, cites=cites)
        serve(app, listening, stop_with_stdin=options.stop_with_stdin)


def model_from(environment: Mapping[str, str]) -> LanguageModel | None:
    """The model that answers; None where none is configured."""
    model = environment.get("RAG_SERVER_LLM_MODEL")
    if not model:
        return None
    url, api_key = environment.get("RAG_SERVER_LLM_URL"), environment.get("RAG_SERVER_LLM_API_KEY")
    return LanguageModel(url=url or None, model=model, api_key=api_key)


def serve(app: Starlette, listening: socket.socket, *, stop_with_stdin: bool) -> None:
    """Prints the server's URL and serves until a signal, or the end of standard input if so wished."""
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=5))

    def wait_for_end_of_stdin() -> None:
        # os.read, not sys.stdin: a daemon thread that holds sys.stdin's lock makes the interpreter's exit fail.
        while os.read(0, 4096):
            pass
        server.should_exit = True

    if stop_with_stdin:
        threading.Thread(target=wait_for_end_of_stdin, daemon=True).start()
    host, port = listening.getsockname()[:2]
    # Whoever reads this line can connect at once: the socket listens already.
    print(f"http://{host}:{port}", flush=True)
    with suppress(KeyboardInterrupt):
        server.run(sockets=[listening])


if __name__ == "__main__":
    main()
