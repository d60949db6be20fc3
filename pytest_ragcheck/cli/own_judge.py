"""Loads a user's judge named as `MODULE:NAME` on the command line."""

from __future__ import annotations

import inspect
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.judging.function_judge import as_judge

if TYPE_CHECKING:
    from pytest_ragcheck.judging.judgement import Judge


def own_judge(place: str) -> Judge:
    """
    Return the judge of that name; the current folder is on the search path.

    Args:
        place: `MODULE:NAME`: a judge, a function of question and answer, or a class or function without arguments
            that makes a judge.

    Raises:
        UsageError: The module or name does not exist, or is not a judge.
    """
    module, _, name = place.partition(":")
    sys.path.insert(0, str(Path.cwd()))
    try:
        found: Any = getattr(import_module(module), name)
        made: Any = found() if inspect.isclass(found) or _takes_nothing(found) else found
        judge = as_judge(made)
    except Exception as error:
        # The user's module may raise anything; the text names the module.
        raise UsageError(f"--judge: {place!r} cannot be loaded as a judge: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(Path.cwd()))
    if not hasattr(judge, "judge"):
        raise UsageError(
            f"--judge: {place!r} is {judge!r:.80}, not a judge. Name an object with a method judge(question, answer), "
            "or a class or function that makes one."
        )
    return judge


def _takes_nothing(found: object) -> bool:
    """True for a function that can be called without arguments; a judge is called with two."""
    if not inspect.isroutine(found):
        return False
    try:
        inspect.signature(found).bind()
    except TypeError:
        return False
    return True
