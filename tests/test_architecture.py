"""The rules that docs/explanation/architecture.md states, checked against the source."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest

import pytest_ragcheck
from tests.docs.pages import DOCS

PACKAGE = Path(pytest_ragcheck.__file__).parent
NAME = "pytest_ragcheck"
HEAVY = (
    "openai",
    "httpx",
    "httpx2",
    "pydantic",
    "jsonschema",
    "jmespath",
    "yaml",
    "sqlite3",
    "ragas",
    "numpy",
)
LIGHT_MODULES = (
    "pytest_ragcheck",
    "pytest_ragcheck.errors",
    "pytest_ragcheck.plugin",
    "pytest_ragcheck.questions.question",
    "pytest_ragcheck.rag.answer",
    "pytest_ragcheck.judging.judgement",
)


def order() -> list[str]:
    """The rooms of the package from the first to the last, as the table of the page lists them."""
    page = (DOCS / "explanation" / "architecture.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1].strip(" `/") for line in page.splitlines() if line.startswith("| `")]
    return [row.removesuffix(".py") for row in rows]


def modules() -> dict[str, Path]:
    """Every module by its dotted name."""
    return {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
        for path in PACKAGE.rglob("*.py")
    }


def imported(path: Path) -> set[str]:
    """The names that the file imports anywhere, those under TYPE_CHECKING included."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: use an absolute import"
            module = node.module or ""
            found |= {
                f"{module}.{alias.name}" if f"{module}.{alias.name}" in MODULES else module for alias in node.names
            }
    return found


MODULES = modules()


@cache
def imports() -> dict[str, set[str]]:
    """The imports of each module."""
    return {name: imported(path) for name, path in MODULES.items()}


def own_imports() -> dict[str, set[str]]:
    """By module the others of the package that it imports."""
    return {name: (names & set(MODULES)) - {name} for name, names in imports().items()}


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """The groups of names that reach each other (strongly connected components of two and more)."""
    reach: dict[str, set[str]] = {}
    for start in arrows:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            new = arrows.get(waiting.pop(), set()) - seen
            seen |= new
            waiting += new
        reach[start] = seen
    groups = {frozenset(b for b in reach[a] if a in reach.get(b, ())) for a in arrows if a in reach[a]}
    return [sorted(group) for group in groups]


def test_imports_between_rooms_point_one_way() -> None:
    rooms = order()
    rank = {room: place for place, room in enumerate(rooms)}
    found = {name.split(".")[1] for name in MODULES if name != NAME}
    assert found == set(rooms)
    upward = [
        f"{name} -> {other}"
        for name, others in own_imports().items()
        for other in others
        if name != NAME and (other == NAME or rank[other.split(".")[1]] > rank[name.split(".")[1]])
    ]
    assert upward == []


def test_imports_inside_a_room_point_one_way() -> None:
    folders = {name.rpartition(".")[0] for name in MODULES if "." in name}
    for folder in folders:
        arrows: dict[str, set[str]] = defaultdict(set)
        for name, others in own_imports().items():
            for other in others:
                parts = [each.removeprefix(f"{folder}.").split(".")[0] for each in (name, other)]
                if all(each.startswith(f"{folder}.") for each in (name, other)) and parts[0] != parts[1]:
                    arrows[parts[0]].add(parts[1])
        assert circles(arrows) == [], folder


def test_no_file_imports_itself_through_others() -> None:
    assert circles(own_imports()) == []


def test_a_folder_has_at_most_15_modules_and_each_module_a_name_of_its_own() -> None:
    files = [path for path in MODULES.values() if path.name != "__init__.py"]
    assert {folder: number for folder, number in Counter(path.parent for path in files).items() if number > 15} == {}
    assert [stem for stem, number in Counter(path.stem for path in files).items() if number > 1] == []


def test_the_checkout_has_nothing_at_its_top_but_the_project() -> None:
    root = PACKAGE.parent
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    folders = {path.partition("/")[0] for path in listed.stdout.splitlines() if "/" in path}
    assert folders == {".ci", ".github", "action", "docs", "examples", "pytest_ragcheck", "tests"}


def test_coverage_leaves_out_existing_modules_only() -> None:
    settings = (PACKAGE.parent / "pyproject.toml").read_text("utf-8")
    left_out = re.findall(r'^    "\*/(.+\.py)",$', settings, re.MULTILINE)
    assert left_out
    assert [name for name in left_out if not (PACKAGE / name).is_file()] == []


def test_no_two_public_classes_share_a_name() -> None:
    names = Counter(
        node.name
        for path in MODULES.values()
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, number in names.items() if number > 1] == []


def test_only_the_plugin_and_the_test_harness_import_pytest() -> None:
    users = {
        name.split(".")[1]
        for name, names in imports().items()
        if {each.partition(".")[0] for each in names} & {"pytest", "xdist", "pluggy"}
    }
    assert users <= {"plugin", "testing"}


def test_nothing_private_of_pytest_is_imported() -> None:
    assert [name for name, names in imports().items() if any(each.split(".")[0] == "_pytest" for each in names)] == []


@pytest.mark.parametrize("module", LIGHT_MODULES)
def test_importing_it_loads_no_heavy_package(module: str) -> None:
    code = f"import sys, {module}; print(*sorted({{*{sorted(HEAVY)!r}}}.intersection(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.split() == []


def test_another_name_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match=r"^module 'pytest_ragcheck' has no attribute 'ask'$"):
        pytest_ragcheck.ask  # noqa: B018 - the access is tested
