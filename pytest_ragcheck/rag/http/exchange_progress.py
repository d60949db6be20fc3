"""Tracks the progress of an HTTP exchange."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any


class Phase(Enum):
    """A part of an exchange; error texts show the value."""

    CONNECTING = "connecting"
    WAITING = "waiting for the reply"
    READING = "reading the reply's body"


class Progress:
    """Tracks an exchange by the trace events of the HTTP library."""

    def __init__(self) -> None:
        self.phase = Phase.WAITING  # a user's own transport may report no events
        self.is_traced = False
        """True if the transport reports events, unlike `httpx.ASGITransport`, which does not stream."""

        self._has_connected = False
        self._connected: Any = None

    @property
    def is_over_kept_connection(self) -> bool:
        """True if the request went over the connection of an earlier exchange."""
        return self.is_traced and not self._has_connected

    async def cut_short(self) -> None:
        """
        Closes the connection of an exchange that was cancelled in a TLS handshake.

        The library would leave the socket open.
        """
        if self._connected is not None and self.phase is Phase.CONNECTING:
            await self._connected.aclose()

    async def trace(self, event: str, details: Mapping[str, Any]) -> None:
        self.is_traced = True
        if event.endswith((".connect_tcp.started", ".start_tls.started")):
            self.phase = Phase.CONNECTING
            self._has_connected = True
        elif event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._connected = details["return_value"]
        elif event.endswith(".send_request_headers.started"):
            self.phase = Phase.WAITING
