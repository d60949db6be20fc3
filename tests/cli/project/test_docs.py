"""`ragcheck docs`: the pages, by the names that error texts have."""

from __future__ import annotations

import bz2
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pytest_ragcheck

if TYPE_CHECKING:
    from collections.abc import Callable

    Ragcheck = Callable[..., tuple[int, str, str]]

DOCS = Path(__file__).parents[3] / "docs"


def test_without_a_name_all_pages_are_listed_with_their_titles(ragcheck: Ragcheck) -> None:
    status, printed, _ = ragcheck("docs")
    assert status == 0
    names = [line.split()[0] for line in printed.splitlines()]
    assert names == sorted(path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md"))
    assert "reference/errors/endpoint " in printed
    assert "  Errors of a baseline\n" in printed


@pytest.mark.parametrize("name", ["reference/errors/baseline", "errors/baseline", "baseline", "baseline.md"])
def test_a_page_is_printed_by_as_much_of_its_name_as_tells_it_from_others(name: str, ragcheck: Ragcheck) -> None:
    status, printed, _ = ragcheck("docs", name)
    assert status == 0
    assert printed.startswith("# Errors of a baseline\n")
    assert "[Gate on regressions](how-to/gate-on-regressions)" in printed


def test_a_name_that_several_pages_end_in_is_wrong_usage(ragcheck: Ragcheck) -> None:
    assert ragcheck("docs", "endpoint") == (
        2,
        "",
        ("ragcheck docs: 'endpoint' could be reference/endpoint, reference/errors/endpoint. Write more of it.\n"),
    )


def test_a_name_of_no_page_is_wrong_usage(ragcheck: Ragcheck) -> None:
    text = "ragcheck docs: 'endpoints' is not a page here. ragcheck docs lists them; the repository has all.\n"
    assert ragcheck("docs", "endpoints") == (2, "", text)


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The package alone, as pip puts it into a folder."""
    package = tmp_path / "pytest_ragcheck"
    shutil.copytree(Path(pytest_ragcheck.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    return package


def docs_of(package: Path) -> tuple[int, str, str]:
    """The result of `ragcheck docs baseline` of the package."""
    code = "import sys; from pytest_ragcheck.cli import main; sys.exit(main(['docs', 'baseline']))"
    # A copy of the package is nothing whose coverage counts.
    counted = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    environment = {**counted, "PYTHONPATH": str(package.parent)}
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, cwd=package, env=environment, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout, ended.stderr


def test_the_installed_package_has_its_pages_in_it(installed: Path) -> None:
    pages = {"errors/baseline.md": "# Ours\n", "index.md": "# Index\n"}
    (installed / "pages.json.bz2").write_bytes(bz2.compress(json.dumps(pages).encode()))
    assert docs_of(installed) == (0, "# Ours\n", "")


def test_a_package_without_pages_says_so(installed: Path) -> None:
    text = "ragcheck docs: this installation has no pages. Install the package from its wheel.\n"
    assert docs_of(installed) == (1, "", text)
