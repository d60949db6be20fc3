"""Makes reports about the run as a whole, in addition to those of its items."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import pytest


def report_failure(
    session: pytest.Session, node_id: str, text: str, *, when: Literal["setup", "call"], path: Path | None = None
) -> None:
    """
    Report a failed item that was not collected, so that the exit status, the terminal and the JUnit file agree.

    *session* is that of the process that shows the results. *when* is `setup` for an ERROR, and `call` for a FAIL.
    *path* is the file that the text is about.
    """
    session.testscollected += 1
    location = ("ragcheck", None, node_id)
    hook = session.config.hook
    hook.pytest_runtest_logstart(nodeid=node_id, location=location)
    phases: tuple[Literal["setup", "call", "teardown"], ...] = ("setup", "call", "teardown")
    for phase in phases:
        if when == "setup" and phase == "call":
            continue
        hook.pytest_runtest_logreport(
            report=pytest.TestReport(
                nodeid=node_id,
                location=location,
                keywords={node_id: 1},
                outcome="failed" if phase == when else "passed",
                longrepr=_longrepr(text, path) if phase == when else None,
                when=phase,
            )
        )
    hook.pytest_runtest_logfinish(nodeid=node_id, location=location)


def forget_failure(config: pytest.Config, node_id: str, *, at_fault: Iterable[str] = ()) -> None:
    """Replace the item in `--last-failed`, which could never run it again, by the items that made it fail."""
    cache = getattr(config, "cache", None)  # there is none under -p no:cacheprovider
    if cache is not None:
        failed = cache.get("cache/lastfailed", {})
        if failed.pop(node_id, None) is not None:
            cache.set("cache/lastfailed", {**failed, **dict.fromkeys(at_fault, True)})


def _longrepr(text: str, path: Path | None) -> Any:
    from pytest_ragcheck.plugin.guests.traceback_texts import text_repr

    try:
        # At the end of a stopped session another exception is being handled, and must not be shown.
        raise AssertionError(text) from None  # noqa: TRY301 - pytest formats raised exceptions only
    except AssertionError:
        return text_repr(pytest.ExceptionInfo.from_current(), text, path=path, line=1)
