"""Counts how often systems under test were asked each question, and how many at once."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import TYPE_CHECKING

from tests.servers.fake_endpoint import Request, json_reply

if TYPE_CHECKING:
    import socket

REPLY = json_reply({"answer": "30 days", "contexts": ["Within 30 days."]})
BUSY = json_reply({"error": "busy"}, status=429, **{"retry-after": "0"})


class Counting:
    """A system that takes some time, and counts how many requests it has at once."""

    def __init__(self, *, seconds: float = 0.02, limit: int = 1000) -> None:
        self.seconds = seconds
        self.limit = limit
        self.running = self.most = self.refused = 0
        self.answered: Counter[str] = Counter()
        self._changing = threading.Lock()

    def __call__(self, connection: socket.socket, request: Request) -> bool:
        with self._changing:
            if self.running >= self.limit:
                self.refused += 1
                return BUSY(connection, request)
            self.running += 1
            self.most = max(self.most, self.running)
        time.sleep(self.seconds)
        with self._changing:
            self.running -= 1
            self.answered[request.json["query"]] += 1
        return REPLY(connection, request)
