from __future__ import annotations

import inspect
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import pytest_ragcheck

LAZY = [name for name in pytest_ragcheck.__all__ if not name.startswith("__")]
LIGHT = sorted(set(LAZY) - {"RagClient", "Evaluation", "evaluate"})
PACKAGES = {"httpx", "httpx2", "openai", "pydantic", "yaml", "anyio", "jsonschema"}


def loaded_after(code: str) -> set[str]:
    """The modules that a fresh Python has loaded after *code*."""
    command = [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules, sep='\\n')"]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize("name", LAZY)
def test_a_public_name_is_the_class_or_function_of_that_name(name: str) -> None:
    thing = getattr(pytest_ragcheck, name)
    assert isinstance(thing, type) or inspect.isfunction(thing)
    assert thing.__name__ == name
    assert thing.__module__.startswith("pytest_ragcheck.")
    assert thing.__doc__


def test_the_names_for_type_checkers_are_those_that_are_loaded() -> None:
    source = Path(pytest_ragcheck.__file__).read_text(encoding="utf-8")
    checked = source[source.index("if TYPE_CHECKING") : source.index("__version__")]
    lines = [line.strip(" ,") for line in checked.splitlines()]
    named = {word for line in lines for word in line.rpartition("import ")[2].strip("()").split(", ") if word}
    assert set(LAZY) <= named


def test_star_gives_them_all() -> None:
    names: dict[str, object] = {}
    exec("from pytest_ragcheck import *", names)
    assert set(pytest_ragcheck.__all__) <= set(names)


def test_the_package_itself_loads_nothing_of_its_own() -> None:
    assert {name for name in loaded_after("import pytest_ragcheck") if name.startswith("pytest_ragcheck")} == {
        "pytest_ragcheck"
    }


def test_no_name_but_the_client_and_a_whole_run_brings_a_heavy_package_along() -> None:
    assert not loaded_after(f"from pytest_ragcheck import {', '.join(LIGHT)}") & PACKAGES


def test_the_version_is_that_of_the_installed_package() -> None:
    assert pytest_ragcheck.__version__ == version("pytest-ragcheck")
