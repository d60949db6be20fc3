"""How far an exchange over HTTP has come."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class Phase(Enum):
    """A part of an exchange; the value stands in texts."""

    CONNECTING = "connecting"
    WAITING = "waiting for the reply"
    READING = "reading the reply's body"


class Progress:
    """Follows an exchange through the events that the library's transport reports."""

    def __init__(self) -> None:
        self.phase = Phase.WAITING  # an app that is called in this process reports no events, and connects to nothing
        self.before: BaseException | None = None
        """What the caller was already handling when the question was sent."""

        self._connected: Any = None
        """The connection that came about last."""

    async def cut_short(self) -> None:
        """
        Closes the connection of an exchange that was cancelled in the middle of a TLS handshake.

        The library leaves its socket open then, for the garbage collector to complain of.
        """
        if self._connected is not None and self.phase is Phase.CONNECTING:
            with anyio.CancelScope(shield=True):
                await self._connected.aclose()

    async def trace(self, event: str, details: Mapping[str, Any]) -> None:
        """Takes an event; `details` are the library's."""
        if event.endswith((".connect_tcp.started", ".start_tls.started")):
            self.phase = Phase.CONNECTING
        elif event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._connected = details["return_value"]
        elif event.endswith(".send_request_headers.started"):
            self.phase = Phase.WAITING
