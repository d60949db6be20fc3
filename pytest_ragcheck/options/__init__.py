"""
Every option: where it may be given, how its text is read, what it means.

Each stands once in `OPTIONS`; the pytest options, their help, the reference page, the error texts and the fields of
`Settings` come from there.
"""

from __future__ import annotations

from pytest_ragcheck.options.asking import ASKING
from pytest_ragcheck.options.judging import JUDGING
from pytest_ragcheck.options.option import Option
from pytest_ragcheck.options.running import RUNNING

__all__ = ["OPTIONS", "Option"]

OPTIONS: tuple[Option, ...] = (*ASKING, *JUDGING, *RUNNING)
