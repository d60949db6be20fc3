"""`MODULE:NAME` on the command line -> a judge of the user's own."""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pytest_ragcheck.errors import UsageError

if TYPE_CHECKING:
    from pytest_ragcheck.judging.judgement import Judge


def own_judge(place: str) -> Judge:
    """
    The judge of that name in that module, which is looked for in the current folder, too.

    Args:
        place: `MODULE:NAME`; the name is that of a judge, or of a class or function that gives one without arguments.

    Raises:
        UsageError: There is no such module or name, or it is no judge.
    """
    module, _, name = place.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(import_module(module), name)
        judge = found() if inspect.isclass(found) or inspect.isroutine(found) else found
    except Exception as error:
        # Whatever the user's module raises, the command has to say which module it was.
        raise UsageError(f"--judge: {place!r} gives no judge: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(Path.cwd()))
    if not hasattr(judge, "judge"):
        raise UsageError(
            f"--judge: {place!r} is {judge!r:.80}, not a judge. Name an object with a method judge(question, answer), "
            "or a class or function that makes one."
        )
    return cast("Judge", judge)
