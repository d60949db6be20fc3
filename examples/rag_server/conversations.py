"""Keeps what the conversations are about, so that a follow-up can be understood."""

from __future__ import annotations

import re
import threading
import uuid
from collections import OrderedDict

MOST_KEPT = 1_000
"""Sessions that are remembered; the oldest ones are forgotten first."""

_POINTS_BACK = re.compile(
    r"^(?:and|but|what about|how about)\b|\b(?:it|its|that|this|these|those|they|them|their|there|then|one)\b",
    re.IGNORECASE,
)


class Conversations:
    """
    The topics of the sessions, in memory. Any thread may call any method.

    Args:
        forgets: Whether each turn is taken for the first one.
    """

    def __init__(self, *, forgets: bool) -> None:
        self._forgets = forgets
        self._lock = threading.Lock()
        self._topics: OrderedDict[str, str] = OrderedDict()

    def begin(self) -> str:
        """The id of a new session."""
        session_id = str(uuid.uuid4())
        with self._lock:
            self._topics[session_id] = ""
            while len(self._topics) > MOST_KEPT:
                self._topics.popitem(last=False)
        return session_id

    def topic(self, session_id: str, question: str) -> str:
        """
        The earlier questions that a follow-up is about; empty for a question that stands alone.

        The question becomes part of the topic of the session.

        Raises:
            KeyError: There is no such session.
        """
        with self._lock:
            earlier = self._topics[session_id] if _POINTS_BACK.search(question) else ""
            self._topics[session_id] = f"{earlier} {question}".strip()
        return "" if self._forgets else earlier
