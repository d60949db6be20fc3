from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(autouse=True)
def far_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the proxies, settings and colours of the environment of these tests."""
    for name in list(os.environ):
        if name.startswith("RAGCHECK_") or name.lower() in {"http_proxy", "https_proxy", "all_proxy", "no_color"}:
            monkeypatch.delenv(name)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def ragcheck(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs the command; returns its exit status, stdout and stderr."""

    def run(*arguments: str) -> tuple[int, str, str]:
        try:
            status = main(arguments)
        except SystemExit as ended:
            status = int(ended.code or 0)
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run
