"""The public names: their list, the cost of importing them, their page and their typed examples."""

from __future__ import annotations

import ast
import asyncio
import inspect
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import pytest_ragcheck
from tests import typing_examples
from tests.docs.pages import DOCS

LAZY = [name for name in pytest_ragcheck.__all__ if not name.startswith("__")]
LIGHT = sorted(set(LAZY) - {"RagClient", "Evaluation", "OpenAIJudge", "evaluate"})
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
    checked = source[source.index("if TYPE_CHECKING") : source.index("_HOMES")]
    lines = [line.strip(" ,") for line in checked.splitlines()]
    named = {word for line in lines for word in line.rpartition("import ")[2].strip("()").split(", ") if word}
    assert set(LAZY) <= named


def test_star_gives_them_all() -> None:
    names: dict[str, object] = {}
    exec("from pytest_ragcheck import *", names)
    assert set(pytest_ragcheck.__all__) <= set(names)


def test_the_package_itself_loads_nothing_of_its_own() -> None:
    assert {name for name in loaded_after("import pytest_ragcheck") if name.startswith("pytest_ragcheck")} == {
        "pytest_ragcheck",
        "pytest_ragcheck._version",
    }


def test_only_server_clients_and_evaluate_import_heavy_packages() -> None:
    assert not loaded_after(f"from pytest_ragcheck import {', '.join(LIGHT)}") & PACKAGES


def test_the_version_is_that_of_the_installed_package() -> None:
    assert pytest_ragcheck.__version__ == version("pytest-ragcheck")


def test_the_page_lists_the_names_that_are_exported_and_no_others() -> None:
    page = (DOCS / "reference" / "public-names.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \| \S.*\|$", page, flags=re.MULTILINE)
    assert sorted(listed) == sorted(pytest_ragcheck.__all__)


def test_the_docs_import_public_names_only() -> None:
    pages = "\n".join(path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md"))
    imports = re.findall(r"^\+? *from pytest_ragcheck import (.+)$", pages, flags=re.MULTILINE)
    assert imports
    assert {name for names in imports for name in names.split(", ")} <= set(pytest_ragcheck.__all__)
    internal = set(re.findall(r"^\+? *(?:from|import) (pytest_ragcheck\.[\w.]+)", pages, flags=re.MULTILINE))
    assert internal <= {"pytest_ragcheck.testing"}


def test_every_name_has_a_typed_example() -> None:
    tree = ast.parse(Path(typing_examples.__file__).read_text(encoding="utf-8"))
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    used |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert set(pytest_ragcheck.__all__) <= used


def test_a_run_takes_every_kind_of_client_judge_and_metric_of_the_examples() -> None:
    records = asyncio.run(typing_examples.whole_run())
    assert [record.verdict.value for record in records] == ["PASS"] * 5
    assert [record.scores["length"].value for record in records[:2]] == [45.0, 45.0]


def test_arguments_that_hold_a_time_end_in_their_unit() -> None:
    times = re.compile(r"time|interval|delay|wait")
    found = set()
    for name in LAZY:
        thing = getattr(pytest_ragcheck, name)
        members = [getattr(thing, key, None) for key in dir(thing) if key == "__init__" or not key.startswith("_")]
        for function in (getattr(each, "__func__", each) for each in [thing, *members]):
            if inspect.isfunction(function):
                found |= {f"{name}.{argument}" for argument in inspect.signature(function).parameters}
    found = {argument for argument in found if times.search(argument)}
    others = {argument for argument in found if not argument.endswith("_seconds")}
    assert "OpenAIJudge.timeout_seconds" in found
    assert others == {"RagClient.timeout", "RagClient.poll_interval"}, "only wait_for_batch, whose signature is given"
