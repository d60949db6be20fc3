"""Distinguishes a user's own code from this package and from libraries."""

from __future__ import annotations

import sys
import sysconfig
import traceback
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType, TracebackType

_PACKAGE = Path(__file__).resolve().parents[1]
_LIBRARIES = ("stdlib", "platstdlib", "purelib", "platlib")

_ROLES = {"judging/checked_judgement.py": "rag_judge", "metrics/user_metric.py": "metric", "rag/ask.py": "rag_client"}
"""The user's object by the module that calls it; the first one found counts, because `ask.py` calls all of them."""


@cache
def _folders() -> frozenset[Path]:
    return frozenset(Path(sysconfig.get_path(name)).resolve() for name in _LIBRARIES)


def is_users(filename: str) -> bool:
    """Return True if the file belongs to neither this package, nor Python, nor an installed library."""
    path = Path(filename).resolve()
    return path.suffix == ".py" and not {_PACKAGE, *_folders()} & set(path.parents)


def from_users_frame(found: TracebackType | None) -> TracebackType | None:
    """Return the traceback from its first frame in a user's file on; the whole one if it has no such frame."""
    entry = found
    while entry is not None and not is_users(entry.tb_frame.f_code.co_filename):
        entry = entry.tb_next
    return entry or found


def shown_place(filename: str, line: int | None) -> str:
    """Return `file:line`, relative to the current folder if the file is in it."""
    path = Path(filename)
    with suppress(ValueError):
        path = path.relative_to(Path.cwd())
    return f"{path}:{line}"


def blocking_call(thread_id: int) -> str:
    """
    Return the user's call that a thread runs, such as `rag_client: answer (conftest.py:14)`; empty without one.

    Args:
        thread_id: The id of a thread that runs an event loop.
    """
    frame = sys._current_frames().get(thread_id)
    frames = list(traceback.walk_stack(frame)) if frame is not None else []
    frames.reverse()
    called = next((each for each in frames if is_users(each[0].f_code.co_filename)), None)
    if called is None:
        return ""
    code = called[0].f_code
    name = getattr(code, "co_qualname", code.co_name)
    return f"{_role(each for each, _ in frames)}: {name} ({shown_place(code.co_filename, called[1])})"


def _role(frames: Iterable[FrameType]) -> str:
    callers = {Path(frame.f_code.co_filename).resolve() for frame in frames}
    return next((role for module, role in _ROLES.items() if _PACKAGE / module in callers), "code")
