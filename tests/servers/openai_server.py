"""An OpenAI-compatible server on 127.0.0.1 with the replies of a test, which keeps the requests."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

_NONCE = re.compile(r'^"nonce": (?:the string|строка) "([0-9a-f]+)"', re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request as it came."""

    path: str
    headers: Mapping[str, str]
    """Names in lower case."""

    body: bytes

    @property
    def json(self) -> Any:
        """The body, read."""
        return json.loads(self.body)

    @property
    def prompt(self) -> str:
        """The text of the first message."""
        return str(self.json["messages"][0]["content"])

    @property
    def nonce(self) -> str:
        """The nonce for the reply, read from the instructions as a model would."""
        (nonce,) = _NONCE.findall(self.prompt)
        return str(nonce)

    def block(self, name: str) -> Any:
        """The JSON value between the marks of that name."""
        (text,) = re.findall(
            rf"(?s)=== BEGIN {name} {self.nonce} ===\n(.*?)\n=== END {name} {self.nonce} ===", self.prompt
        )
        return json.loads(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One reply as it goes out."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    wait_for: threading.Event | None = None
    """The body's last byte is held back until this is set."""

    drip_seconds: float = 0
    """Above 0: the body goes out byte by byte with this pause between, until the client hangs up."""


Script = Callable[[Request], Reply]


def json_reply(value: Any, *, status: int = 200, **headers: str) -> Reply:
    """Any JSON; header names with `_` for `-`."""
    names = {name.replace("_", "-"): text for name, text in headers.items()}
    return Reply(status=status, body=json.dumps(value).encode(), headers=names)


def error(
    status: int, message: str = "no", *, code: str | None = None, param: str | None = None, **headers: str
) -> Reply:
    """An error in OpenAI's form."""
    return json_reply({"error": {"message": message, "code": code, "param": param}}, status=status, **headers)


def completion(content: Any, *, finish_reason: str = "stop", **message: Any) -> Reply:
    """A chat completion with that content."""
    choice = {
        "index": 0,
        "finish_reason": finish_reason,
        "message": {"role": "assistant", "content": content, **message},
    }
    return json_reply({"id": "c-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})


def verdict_text(nonce: Any, **fields: Any) -> str:
    """The JSON of a verdict; a field given as `...` is left out."""
    verdict = {"nonce": nonce, "answer_correctness": 1, "groundedness": 1, "error_message": "", **fields}
    return json.dumps({name: value for name, value in verdict.items() if value is not ...})


def verdict(**fields: Any) -> Script:
    """A script that replies with a verdict carrying the nonce of the request."""
    return lambda request: completion(verdict_text(**{"nonce": request.nonce, **fields}))


def embeddings(*vectors: Any) -> Reply:
    """Embeddings in the order of the texts."""
    data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    return json_reply({"object": "list", "model": "m", "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}})


def embeds(vector_of: Callable[[str], list[float]]) -> Script:
    """A script that replies with the vector of every text that it is sent."""
    return lambda request: embeddings(*map(vector_of, request.json["input"]))


def by_path(**scripts: Script | Reply) -> Script:
    """A script that lets the last part of the path say who replies: `chat` completions, or `embeddings`."""

    def script(request: Request) -> Reply:
        chosen = scripts["embeddings" if request.path.endswith("/embeddings") else "chat"]
        return chosen if isinstance(chosen, Reply) else chosen(request)

    return script


def says(text: str) -> Script:
    """A script that replies with a text, with the nonce of the request in place of NONCE."""
    return lambda request: completion(text.replace("NONCE", request.nonce))


class _Server(ThreadingHTTPServer):
    request_queue_size = 256  # of the usual five some are reset where dozens connect at once


class OpenAIServer:
    """
    Serves `{url}/chat/completions` and any other path.

    Args:
        scripts: The replies to the first request, the second, ...; the last one is for all further requests.
    """

    def __init__(self, *scripts: Script | Reply) -> None:
        self._scripts = scripts or (verdict(),)
        self._lock = threading.Lock()
        self._mistakes: list[Exception] = []
        self.requests: list[Request] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                body = self.rfile.read(int(headers.get("content-length", 0)))
                outer._send(self, Request(path=self.path, headers=headers, body=body))

            do_GET = do_POST  # noqa: N815 - the base class looks for this name

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
                pass

        self._server = _Server(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        """The base URL of the API."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def _send(self, handler: BaseHTTPRequestHandler, request: Request) -> None:
        with self._lock:
            script = self._scripts[min(len(self.requests), len(self._scripts) - 1)]
            self.requests.append(request)
        try:
            reply = script if isinstance(script, Reply) else script(request)
        except Exception as mistake:
            self._mistakes.append(mistake)
            raise
        if reply.status == 0:  # hang up
            handler.close_connection = True
            handler.connection.shutdown(socket.SHUT_RDWR)
            return
        handler.send_response(reply.status)
        for name, value in {
            "content-type": reply.content_type,
            "content-length": str(len(reply.body)),
            **reply.headers,
        }.items():
            handler.send_header(name, value)
        handler.end_headers()
        if reply.drip_seconds:
            with contextlib.suppress(OSError):
                for byte in reply.body:
                    handler.wfile.write(bytes([byte]))
                    time.sleep(reply.drip_seconds)
            handler.close_connection = True
            return
        if reply.wait_for is not None:
            handler.wfile.write(reply.body[:-1])
            reply.wait_for.wait(10)
            handler.close_connection = True
            return
        handler.wfile.write(reply.body)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        # To the client a script that failed looks like a server that hung up.
        if self._mistakes:
            raise self._mistakes[0]
