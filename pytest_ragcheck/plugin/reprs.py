"""The failure text as a report's `longrepr`, the same under every supported pytest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

    from pytest_ragcheck.record import Record


def failure_repr(excinfo: pytest.ExceptionInfo[BaseException], record: Record, *, whole: bool = True) -> Any:
    """
    The record's text without a traceback; its first line alone stands in the short summary.

    Where it is not wanted *whole*, pytest shows the first line by itself, after the question's place.

    A plain string would do from pytest 9.0 on, but with `CI` set the whole of it would go into the summary.
    """
    text = record.text()
    shown: Any = excinfo.getrepr(style="value")
    try:
        (entry,) = shown.reprtraceback.reprentries
        entry.lines[:] = text.splitlines() if whole else []
        set_crash(shown, record)
    except (AttributeError, TypeError, ValueError):
        return text
    return shown


def set_crash(shown: Any, record: Record) -> None:
    """Makes the short summary and JUnit say the text's first line, and point at the question."""
    crash = shown.reprcrash
    crash.message = record.text().partition("\n")[0]
    if record.question.path and record.question.line:
        crash.path, crash.lineno = str(record.question.path), record.question.line
