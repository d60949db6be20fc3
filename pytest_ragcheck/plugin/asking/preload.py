"""Imports the modules of later steps while the main thread waits for the first answers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_ragcheck.judging.judgement import Judge

_ALWAYS = ("plugin.guests.junit_properties", "plugin.ending.session_end")
_FOR_A_MODEL = ("judging.model.judge_reply",)


def preload(judge: Judge | None) -> None:
    """Import the modules of this package that the run will need."""
    for_judge = _FOR_A_MODEL if getattr(judge, "chat", None) is not None else ()
    for name in (*for_judge, *_ALWAYS):
        import_module(f"pytest_ragcheck.{name}")
