"""Distinguishes a user's own code from this package and from libraries."""

from __future__ import annotations

import sys
import traceback
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from pytest_ragcheck.errors import RagcheckError

_PACKAGE = Path(__file__).resolve().parents[1]

_ROLES = {
    "judging/checked_judgement.py": "rag_judge",
    "metrics/metric.py": "metric",
    "rag/http/asgi_lifespan.py": "lifespan",
    "rag/http/asgi_app.py": "app",
    "rag/ask.py": "rag_client",
    "rag/function_endpoint.py": "rag_client",
}
"""The kind of user's object by the module that calls it. The first match counts, because `ask.py` calls all of them."""

_CALLERS_OF_USERS = {
    ("rag/ask.py", "settled"),
    ("rag/function_endpoint.py", "called"),
    ("rag/function_endpoint.py", "awaited"),
    ("rag/shapes/reading.py", "__getitem__"),
    ("concurrency/tasks.py", "run"),
    ("rag/http/asgi_lifespan.py", "_run"),
    ("rag/http/asgi_app.py", "_run_app"),
}
"""The functions that call the objects of users, by module and name."""


_SHOWN_PLACES = 3

_STANDARD_LIBRARY = Path(traceback.__file__).resolve().parent

_INSTALLED = frozenset({"site-packages", "dist-packages"})
"""Names of the folders of installed packages: of this and other environments, of the user, and of Debian."""


def is_users(filename: str) -> bool:
    """True if the file belongs to neither this package, nor Python, nor an installed library."""
    # A package that is installed as editable counts as the user's. A module in a zip has no file: it is a library's.
    path = Path(filename).resolve()
    installed = not _INSTALLED.isdisjoint(path.parts) or not {_PACKAGE, _STANDARD_LIBRARY}.isdisjoint(path.parents)
    return path.suffix == ".py" and not installed and path.is_file()


def from_users_frame(found: TracebackType | None) -> TracebackType | None:
    """The traceback from its first frame in a user's file on, or else the whole one; None if it says nothing."""
    # A traceback that ends where this package calls a user's object has only frames of this package.
    entry, file = found, ""
    while entry is not None and not is_users(file := entry.tb_frame.f_code.co_filename):
        entry = entry.tb_next
    return entry or (None if _PACKAGE in Path(file).resolve().parents else found)


def is_own_failure(error: BaseException) -> bool:
    """
    True if the exception is a bug of this package, not of a user's client, judge or callable.

    The innermost frame of the package or of a user decides, unless the package has called a user's object, which may
    come from a library and may call the package. An OSError, as of a full disk, is a failure of the machine.
    """
    is_own = calls_users = False
    chain = causes(error)
    for each in chain:
        is_own = calls_users = False
        for frame, _ in traceback.walk_tb(each.__traceback__):
            path = Path(frame.f_code.co_filename).resolve()
            in_package = _PACKAGE in path.parents
            if calls_users and not in_package:
                return False
            name = path.relative_to(_PACKAGE).as_posix() if in_package else ""
            calls_users = (name, frame.f_code.co_name) in _CALLERS_OF_USERS
            is_own = in_package or (is_own and not is_users(frame.f_code.co_filename))
    is_other = isinstance(chain[-1], (RagcheckError, OSError, MemoryError)) or not isinstance(chain[-1], Exception)
    return is_own and not calls_users and not is_other


def causes(error: BaseException) -> list[BaseException]:
    """The exception and its causes, each once, as in the circle of `raise error from error`."""
    found = [error]
    while (cause := found[-1].__cause__) is not None and cause not in found:
        found.append(cause)
    return found


def shown_place(filename: str, line: int | None) -> str:
    """`file:line`, relative to the current folder if the file is in it."""
    path = Path(filename)
    with suppress(ValueError):
        path = path.relative_to(Path.cwd())
    return f"{path}:{line}"


def users_places(error: BaseException) -> str:
    """
    The `file:line` of the frames in the user's code, innermost first.

    Without such frames, the place of the last frame; empty if a cause has it, and for an exception never raised.
    """
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if is_users(frame.filename)]
    if not own and causes(error) == [error]:
        own = frames[-1:]
    return ", from ".join(shown_place(frame.filename, frame.lineno) for frame in own[: -_SHOWN_PLACES - 1 : -1])


def blocking_call(thread_id: int) -> str:
    """The user's call that a loop's thread runs, such as `rag_client: answer (conftest.py:14)`; empty without one."""
    frame = sys._current_frames().get(thread_id)
    frames = list(traceback.walk_stack(frame)) if frame is not None else []
    frames.reverse()
    called = next((each for each in frames if is_users(each[0].f_code.co_filename)), None)
    if called is None:
        return ""
    code = called[0].f_code
    name = getattr(code, "co_qualname", code.co_name)
    callers = {Path(each.f_code.co_filename).resolve() for each, _ in frames}
    role = next((role for module, role in _ROLES.items() if _PACKAGE / module in callers), "code")
    return f"{role}: {name} ({shown_place(code.co_filename, called[1])})"
