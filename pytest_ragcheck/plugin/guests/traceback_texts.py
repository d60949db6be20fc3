"""Makes the `longrepr` of a report from a failure text, alike in every supported pytest."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

    from pytest_ragcheck.verdict.record import Record


PYTEST_RICH = "rich-terminal-reporter"
"""The name of pytest-rich's reporter, which shows a string, but nothing of a representation without a traceback."""


def failure_repr(excinfo: pytest.ExceptionInfo[BaseException], record: Record, *, whole: bool = True) -> Any:
    """
    The text of the record without a traceback. The short summary shows its first line.

    *whole* is False for `--tb=line`, where pytest itself shows the first line after the place of the question.
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
    The representation of the exception with another text, file and line.

    A plain string would appear whole in the short summary if `CI` is set.
    """
    shown: Any = excinfo.getrepr(style="value")
    try:
        (entry,) = shown.reprtraceback.reprentries
        entry.lines[:] = text.splitlines() if whole else []
        set_crash(shown, text, path, line)
    except (AttributeError, TypeError, ValueError):
        return text
    return shown


def set_crash(shown: Any, text: str, path: Path | None, line: int | None) -> None:
    """Show the first line of the text, and the place of the question, in the short summary and in JUnit files."""
    crash = shown.reprcrash
    crash.message = text.partition("\n")[0]
    if path and line:
        crash.path, crash.lineno = str(path), line
