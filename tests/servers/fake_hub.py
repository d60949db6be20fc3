"""A Hugging Face hub on this machine with one model."""

from __future__ import annotations

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

_COMMIT = "0123456789abcdef0123456789abcdef01234567"


class FakeHub:
    """
    Serves the files of a folder as the model of any name.

    Args:
        folder: The model's files.
    """

    def __init__(self, folder: Path) -> None:
        self.downloaded: list[str] = []
        """The names of the files that were sent, in any order."""

        self.n_requests = 0
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self._reply(with_body=False)

            def do_GET(self) -> None:
                self._reply(with_body=True)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in the base class
                """Prints nothing."""

            def _reply(self, *, with_body: bool) -> None:
                hub.n_requests += 1
                file = folder / self.path.rpartition("/")[2]
                names = sorted(path.name for path in folder.iterdir())
                if "/tree/" in self.path:
                    body = json.dumps(
                        [{"type": "file", "path": name, "size": 1, "oid": name} for name in names]
                    ).encode()
                elif self.path.startswith("/api/models/"):
                    files = [{"rfilename": name} for name in names]
                    body = json.dumps({"id": "someone/tiny", "sha": _COMMIT, "siblings": files}).encode()
                elif file.is_file():
                    body = file.read_bytes()
                    if with_body:
                        hub.downloaded.append(file.name)
                else:
                    self.send_error(404)
                    return
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("ETag", f'"{hashlib.sha256(body).hexdigest()}"')
                self.send_header("X-Repo-Commit", _COMMIT)
                self.end_headers()
                if with_body:
                    self.wfile.write(body)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> FakeHub:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
