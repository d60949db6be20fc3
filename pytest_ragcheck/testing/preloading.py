"""Imports modules that pytester must not unload after a run in this process."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages


def import_all() -> None:
    """
    Import the package once, so that pytester keeps it.

    pytester unloads after each test the modules that its runs imported first. A second import costs time, and breaks
    PyYAML and httpcore: PyYAML's C part and the error tables of httpx hold the classes of the first import.
    """
    for module in ("yaml", "httpcore", "httpcore2"):
        with suppress(ImportError):
            import_module(module)
    for found in walk_packages([str(Path(__file__).parents[1])], "pytest_ragcheck."):
        if not found.name.startswith("pytest_ragcheck.testing"):
            import_module(found.name)
