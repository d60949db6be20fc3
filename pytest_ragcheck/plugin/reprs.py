"""A failure text as a report's `longrepr`, the same under every supported pytest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from pytest_ragcheck.record import Record


def failure_repr(excinfo: pytest.ExceptionInfo[BaseException], record: Record, *, whole: bool = True) -> Any:
    """
    The record's text without a traceback; its first line alone stands in the short summary.

    Where it is not wanted *whole*, pytest shows the first line by itself, after the question's place.
    """
    question = record.question
    return text_repr(excinfo, record.text(), path=question.path, line=question.line, whole=whole)


def text_repr(
    excinfo: pytest.ExceptionInfo[BaseException],
    text: str,
    *,
    path: Path | None,
    line: int | None,
    whole: bool = True,
) -> Any:
    """
    The text in place of the exception's own, with what it points at.

    A plain string would do from pytest 9.0 on, but with `CI` set the whole of it would go into the summary.
    """
    shown: Any = excinfo.getrepr(style="value")
    try:
        (entry,) = shown.reprtraceback.reprentries
        entry.lines[:] = text.splitlines() if whole else []
        _set_crash(shown, text, path, line)
    except (AttributeError, TypeError, ValueError):
        return text
    return shown


def set_crash(shown: Any, record: Record) -> None:
    """Makes the short summary and JUnit say the text's first line, and point at the question."""
    _set_crash(shown, record.text(), record.question.path, record.question.line)


def _set_crash(shown: Any, text: str, path: Path | None, line: int | None) -> None:
    crash = shown.reprcrash
    crash.message = text.partition("\n")[0]
    if path and line:
        crash.path, crash.lineno = str(path), line
