"""
Checks that a shared document is uploaded once: `python -m tests.check_documents [DOCUMENTS QUESTIONS]`.

By default 5,000 questions share 1,000 of them. The uploads are counted at the server, in one process and with two
workers of pytest-xdist; tox has it as `test-documents`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.servers.document_server import DocumentServer

THERE = {"old": "shop_0.txt"}
"""Is on the server before the runs, and is to be there after them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Observations of a run, most of them at the server."""

    status: int
    uploads: int
    distinct: int
    left: dict[str, str]
    text: str


class PriceServer(DocumentServer):
    """Finds the document that a question names by its number; comparing words would take it too long."""

    def __init__(self) -> None:
        super().__init__(there=THERE)
        self._ids: dict[str, str] = {}

    def _answer(self, query: str) -> tuple[int, Any]:
        name = f"shop_{query.rpartition(' ')[2].rstrip('?')}.txt"
        if name not in self._ids:
            self._ids = {name: key for key, name in self.documents.items() if key in self.texts}
        key = self._ids[name]
        return 200, {"answer": self.texts[key], "sources": [{"document_id": key, "text": self.texts[key]}]}


def question(number: int, *, item: int) -> dict[str, Any]:
    return {
        "id": f"q{number}",
        "question": f"In year {number}, what is the price of item {item}?",
        "expected_answer": f"{item} euro",
        "gold_passages": [{"doc_id": f"shop:{item}", "text": f"Item {item} costs {item} euro."}],
    }


def run(folder: Path, *options: str, documents: int, questions: int) -> Seen:
    """The observations of a pytest run whose questions share their documents."""
    folder.mkdir()
    entries = [question(number, item=number % documents) for number in range(questions)]
    (folder / "shop.rag.json").write_text(json.dumps({"ingest": True, "questions": entries}))
    with PriceServer() as server:
        command = [sys.executable, "-m", "pytest", "-q", f"--rag-url={server.url}", "--rag-judge=offline", *options]
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        return Seen(
            status=ended.returncode,
            uploads=len(server.uploaded),
            distinct=len(set(server.uploaded)),
            left=dict(server.documents),
            text=ended.stdout,
        )


def main() -> int:
    documents, questions = map(int, sys.argv[1:3] or (1000, 5000))
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for options in ((), ("-n2",)):
            seen = run(Path(folder, f"run{len(options)}"), *options, documents=documents, questions=questions)
            print(f"{questions:,} questions {' '.join(options)}: {seen.uploads:,} uploads, left {seen.left}")
            wrong += (seen.status, seen.uploads, seen.distinct, seen.left) != (0, documents, documents, THERE)
    print("not as it should be" if wrong else "all as it should be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
