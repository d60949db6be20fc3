"""The rules of the package's structure, held against its source."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_ragcheck

PACKAGE = Path(pytest_ragcheck.__file__).parent

# Each may import from those before it and from itself. A module at the top of the package stands between the
# folders where its own imports allow it.
ORDER = (
    {"errors", "metrics.score", "metrics.catalogue"},
    {"closing", "redaction", "loop", "threads", "library_logs", "transient"},
    {"questions"},
    {"rag"},
    {
        "baseline_place",
        "option_numbers",
        "option_values",
        "options",
        "setting_checks",
        "settings",
        "given",
    },  # whose values the parts above read
    {"judging"},
    {"metrics"},
    {"verdict"},
    {"report.failure"},  # the text of a record, which the record gives whoever asks; it knows the record's type only
    {"record"},
    {"repeats"},
    {"reason", "without_secrets"},
    {"check"},
    {"engine"},
    {"documents"},
    {"summary"},
    {"report"},
    {"preflight"},
    {"evaluation"},
    {"plugin", "cli"},
)

HEAVY = ("openai", "httpx", "httpx2", "pydantic", "jsonschema", "jmespath", "yaml", "sqlite3", "ragas", "numpy")

LIGHT_MODULES = (
    "pytest_ragcheck",
    "pytest_ragcheck.errors",
    "pytest_ragcheck.plugin",
    "pytest_ragcheck.questions.question",
    "pytest_ragcheck.rag.answer",
    "pytest_ragcheck.judging.judgement",
)


def modules() -> dict[str, Path]:
    """Every module of the package by its name below the package; the package itself is left out."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
        if name != "__init__":
            found[name] = path
    return found


def imported(path: Path) -> set[str]:
    """Every module that the file imports anywhere in it, inside functions too, except for type checking only."""
    found: set[str] = set()
    nodes: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            nodes += node.orelse
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import hides where it leads"
            found.add(node.module or "")
        nodes += ast.iter_child_nodes(node)
    return found


def rank(module: str) -> int:
    """The place of a module below the package in `ORDER`; its own entry wins over that of its folder."""
    for name in (module, module.partition(".")[0]):
        for place, names in enumerate(ORDER):
            if name in names:
                return place
    raise AssertionError(f"{module}: give it a place in ORDER")


@pytest.mark.parametrize("module", modules())
def test_imports_point_one_way(module: str) -> None:
    own = {name.removeprefix("pytest_ragcheck.") for name in imported(modules()[module]) if "pytest_ragcheck." in name}
    against = sorted(name for name in own if rank(name) > rank(module))
    assert not against, f"{module} imports from what comes after it: {', '.join(against)}"


@pytest.mark.parametrize("module", modules())
def test_only_the_plugin_imports_pytest(module: str) -> None:
    tops = {name.partition(".")[0] for name in imported(modules()[module])}
    assert module.partition(".")[0] == "plugin" or not tops & {"pytest", "_pytest", "xdist", "pluggy"}


@pytest.mark.parametrize("module", modules())
def test_nothing_private_of_pytest_is_imported(module: str) -> None:
    assert not {name for name in imported(modules()[module]) if name.partition(".")[0] == "_pytest"}


@pytest.mark.parametrize("module", LIGHT_MODULES)
def test_importing_it_loads_no_heavy_package(module: str) -> None:
    code = f"import sys, {module}; print(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    # Measured, the process would have what coverage loads.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    loaded = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout
    assert loaded.split() == []


def test_another_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match=r"^module 'pytest_ragcheck' has no attribute 'ask'$"):
        pytest_ragcheck.ask  # noqa: B018 - the access is what is tested
