"""
A RAG server that takes documents, for tests in which it has to misbehave; each question is answered with one of them.

    with DocumentServer(there={"old": "old.txt"}) as server:
        ...
        assert server.documents == {"old": "old.txt"}
"""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from tests.servers.fake_endpoint import FakeEndpoint, Request, json_reply

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping

_FILE = re.compile(rb'filename="([^"]+)".*?\r\n\r\n(.*)\r\n--', re.DOTALL)


class DocumentServer(FakeEndpoint):
    """
    Keeps documents in memory.

    Args:
        there: Documents before anybody uploads, names by id.
        replies: Other replies, as status and JSON, by method and beginning of the path.
        failing: A file with this in its name cannot be read.
        stuck: A file with this in its name is never read to its end.
        undeletable: A document with this in its name cannot be deleted.
        on_upload: Is called with every file name, before the document is there.
    """

    def __init__(
        self,
        *,
        there: Mapping[str, str] | None = None,
        replies: Mapping[str, tuple[int, Any]] | None = None,
        failing: str | None = None,
        stuck: str | None = None,
        undeletable: str | None = None,
        on_upload: Callable[[DocumentServer, str], None] | None = None,
    ) -> None:
        super().__init__(self._reply)
        self.documents = dict(there or {})
        self.texts: dict[str, str] = {}
        self.uploaded: list[str] = []
        self.replies = dict(replies or {})
        self.stuck = stuck
        self._failing, self._undeletable = failing, undeletable
        self._on_upload = on_upload
        self._lock = threading.Lock()

    def _reply(self, connection: socket.socket, request: Request) -> bool:
        with self._lock:
            status, value = self._value(request)
        return json_reply(value, status)(connection, request)

    def _value(self, request: Request) -> tuple[int, Any]:
        called = f"{request.method} {request.path}"
        for beginning, reply in self.replies.items():
            if called.startswith(beginning):
                return reply
        if called == "POST /upload":
            return self._upload(request)
        if called == "GET /documents":
            return 200, [{"id": key, "file_name": name} for key, name in self.documents.items()]
        if request.path.startswith("/tasks/"):
            return self._status(unquote(request.path.split("/")[2]))
        if request.method == "DELETE":
            return self._delete(unquote(request.path.removeprefix("/documents/")))
        return self._answer(request.json["query"])

    def _upload(self, request: Request) -> tuple[int, Any]:
        found = _FILE.search(request.body)
        assert found
        name = found[1].decode()
        self.uploaded.append(name)
        if self._on_upload is not None:
            self._on_upload(self, name)
        if not any(part is not None and part in name for part in (self._failing, self.stuck)):
            key = f"id-{len(self.uploaded)}"
            self.documents[key] = name
            self.texts[key] = found[2].decode()
        return 202, {"batch_id": name}

    def _status(self, name: str) -> tuple[int, Any]:
        if self._failing is not None and self._failing in name:
            return 200, {"total": 1, "completed": 0, "tasks": [{"status": "failed", "error": "no text in it"}]}
        stuck = self.stuck is not None and self.stuck in name
        return 200, {"total": 1, "completed": 0 if stuck else 1, "tasks": []}

    def _delete(self, key: str) -> tuple[int, Any]:
        if key not in self.documents:
            return 404, {}
        if self._undeletable is not None and self._undeletable in self.documents[key]:
            return 500, {"error": "it is held"}
        del self.documents[key]
        return 200, {}

    def _answer(self, query: str) -> tuple[int, Any]:
        def shared(key: str) -> int:
            return len(_words(query) & _words(self.texts[key]))

        there = [key for key in self.texts if key in self.documents]
        best = max(there, key=shared, default="")
        text = self.texts.get(best, "")
        sources = [{"document_id": best, "text": text}] if there else []
        return 200, {"answer": text, "sources": sources}


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))
