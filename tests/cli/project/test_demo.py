"""`ragcheck demo`: a whole run over the pages that come with the package."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.cli.project.docs import QUESTIONS, shipped_texts
from tests.docs.pages import DOCS
from tests.harness import exhaustive

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_the_demo_passes_and_leaves_its_project(
    ragcheck: Callable[..., tuple[int, str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    # A user's own settings are not for the demo.
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option")
    monkeypatch.setenv("RAGCHECK_URL", "http://127.0.0.1:9/query")
    folder = tmp_path / "demo"
    status, out, err = ragcheck("demo", "--keep", str(folder))
    assert (status, err) == (0, "")
    assert out.splitlines()[1:3] == [f"Report:  {folder / 'report.html'}", f"Again:   pytest {folder}"]
    summary = json.loads((folder / "ragcheck-results" / "rag_summary.json").read_bytes())
    assert summary["counts"]["pass"] >= 30
    assert summary["counts"]["fail"] == summary["counts"]["error"] == 0
    assert (folder / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert {path.name for path in folder.iterdir()} >= {"conftest.py", "documents", "pytest.ini", "ragcheck.rag.yaml"}


@pytest.mark.parametrize("fault", ["number", *(pytest.param(each, marks=exhaustive) for each in ("best", "invent"))])
def test_a_fault_is_red(ragcheck: Callable[..., tuple[int, str, str]], tmp_path: Path, fault: str):
    status, _, _ = ragcheck("demo", "--fault", fault, "--keep", str(tmp_path))
    assert status == 1
    counts = json.loads((tmp_path / "ragcheck-results" / "rag_summary.json").read_bytes())["counts"]
    assert counts["fail"] >= 3
    assert counts["error"] == 0


def test_a_folder_with_files_is_refused(ragcheck: Callable[..., tuple[int, str, str]], tmp_path: Path):
    (tmp_path / "conftest.py").write_text("mine = True\n", encoding="utf-8")
    status, out, err = ragcheck("demo", "--keep", str(tmp_path))
    assert (status, out) == (2, "")
    assert err == f"ragcheck demo: {tmp_path} is not an empty folder. Name a new one.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["conftest.py"]


def test_the_shipped_files_are_those_of_the_checkout():
    texts = shipped_texts()
    assert len(texts) == len(list(DOCS.rglob("*.md"))) + 1
    assert texts["how-to/cost.md"] == (DOCS / "how-to" / "cost.md").read_text(encoding="utf-8")
    assert texts[QUESTIONS] == (DOCS.parent / "examples" / "first_run" / QUESTIONS).read_text(encoding="utf-8")
