"""Lets go of what parts hold open; users' own clients, judges and metrics need not hold anything."""

from __future__ import annotations

from typing import Any


async def close(*parts: Any) -> None:
    """Calls and awaits `aclose` of each part that has it, in order."""
    for part in parts:
        closing = getattr(part, "aclose", None)
        if closing is not None:
            await closing()
