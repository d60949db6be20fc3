"""Talks to the YAML language server as an editor does."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = {"yaml": {"schemaStore": {"enable": False}, "validate": True, "completion": True, "hover": True}}
LONGEST_WAIT_SECONDS = 60


class LanguageServer:
    """
    A running server, in whose folder files are opened.

    Args:
        command: The command that starts it over standard input and output.
        folder: The project that is open in the editor.
    """

    def __init__(self, command: list[str], folder: Path) -> None:
        self._folder = folder
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder)
        self._received: queue.Queue[dict[str, Any]] = queue.Queue()
        self._reader = threading.Thread(target=self._receive, daemon=True)
        self._reader.start()
        self._number = 0
        root = folder.as_uri()
        capabilities = {"workspace": {"configuration": True}, "textDocument": {"hover": {}, "completion": {}}}
        self.ask("initialize", {"processId": None, "rootUri": root, "capabilities": capabilities})
        self._send({"method": "initialized", "params": {}})
        self._send({"method": "workspace/didChangeConfiguration", "params": {"settings": SETTINGS}})

    def close(self) -> None:
        """Ends the server."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                stream.close()

    def problems(self, name: str, text: str) -> list[tuple[int, str]]:
        """Line, from 1, and message of each mistake that the editor underlines in a file *name* with *text*."""
        uri = self._open(name, text)
        while True:
            message = self._next()
            if message.get("method") == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri:
                found = message["params"]["diagnostics"]
                return [(one["range"]["start"]["line"] + 1, one["message"]) for one in found]

    def proposals(self, name: str, text: str) -> dict[str, str]:
        """The proposals at the `|` in *text*, each with its description."""
        before, _, after = text.partition("|")
        uri = self._open(name, before + after)
        place = {"line": before.count("\n"), "character": len(before.rpartition("\n")[2])}
        answer = self.ask("textDocument/completion", {"textDocument": {"uri": uri}, "position": place})
        return {item["label"]: str(item.get("documentation", "")) for item in answer["items"]}

    def hover(self, name: str, text: str) -> str:
        """The text that the editor shows for the place of `|` in *text*."""
        before, _, after = text.partition("|")
        uri = self._open(name, before + after)
        place = {"line": before.count("\n"), "character": len(before.rpartition("\n")[2])}
        answer = self.ask("textDocument/hover", {"textDocument": {"uri": uri}, "position": place})
        return json.dumps(answer)

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        """The server's answer."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        while True:
            message = self._next()
            if message.get("id") == self._number and "method" not in message:
                assert "error" not in message, message["error"]
                return message["result"]

    def _open(self, name: str, text: str) -> str:
        uri = (self._folder / name).as_uri()
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        return uri

    def _next(self) -> dict[str, Any]:
        while True:
            message = self._received.get(timeout=LONGEST_WAIT_SECONDS)
            if "id" in message and "method" in message:
                wanted = message["params"].get("items", []) if message["method"] == "workspace/configuration" else None
                result = None if wanted is None else [SETTINGS.get(item.get("section"), {}) for item in wanted]
                self._send({"id": message["id"], "result": result})
            else:
                return message

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()

    def _receive(self) -> None:
        stream = self._process.stdout
        assert stream
        while line := stream.readline():
            length = int(line.partition(b":")[2])
            while stream.readline().strip():
                pass
            self._received.put(json.loads(stream.read(length)))
