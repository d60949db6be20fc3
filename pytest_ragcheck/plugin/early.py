"""What comes later is loaded while the first questions are being asked, and this thread has nothing else to do."""

from __future__ import annotations

import gc
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_ragcheck.judging.judgement import Judge

_AT_THE_END = ("plugin.properties", "plugin.ending")
_OF_A_MODEL = ("judging.reply",)


def load_what_comes_later(judge: Judge | None) -> None:
    """Of this package alone, and only what the run will need."""
    of_judge = _OF_A_MODEL if getattr(judge, "chat", None) is not None else ()
    for name in (*of_judge, *_AT_THE_END):
        import_module(f"pytest_ragcheck.{name}")
    # It all lasts as long as the process. Left out of later collections, of which pytest and the interpreter each make
    # some at their end, it saves 0.2 s of a short run.
    gc.freeze()
