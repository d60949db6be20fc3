"""Has Python load the modules of this package, in place of pytest."""

# pytest rewrites the asserts of each module of an installed plugin. There are none here, but it compiles each module
# once more in a new environment, and takes three times as long as Python to load it from then on.

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_NAMED = "pytest_ragcheck.testing"
"""pytest warns of a module in `pytest_plugins` that it has not loaded."""


class _PlainModules:
    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, _: ModuleType | None = None) -> ModuleSpec | None:
        if name.startswith("pytest_ragcheck.") and not name.startswith(_NAMED):
            return PathFinder.find_spec(name, path)
        return None


sys.meta_path.insert(0, _PlainModules)
