"""Each recipe of the page of frameworks runs with the real package; `tox run -e recipes` installs them all."""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from tests.docs.pages import page

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.docs.pages import Reader

BLOCKS = page("how-to/frameworks.md", "In process")
PACKAGES = {
    "langchain": "langchain_core",
    "langgraph": "langgraph",
    "llamaindex": "llama_index",
    "haystack": "haystack",
    "mcp": "mcp",
}


def test_every_recipe_is_run() -> None:
    folders = {block.file.partition("/")[0] for block in BLOCKS if block.file and "/" in block.file}
    assert folders == set(PACKAGES)


@pytest.mark.parametrize("folder", PACKAGES)
def test_the_recipe_runs_as_it_stands(folder: str, reader: Callable[..., Reader]) -> None:
    if find_spec(PACKAGES[folder]) is None:
        needed = f"the recipe needs the package {PACKAGES[folder]}: tox run -e recipes"
        if os.environ.get("RAGCHECK_RECIPES"):
            pytest.fail(needed)
        pytest.skip(needed)
    someone = reader()
    for block in BLOCKS:
        if block.file is not None and (block.file.startswith(f"{folder}/") or "/" not in block.file):
            name = block.file.removeprefix(f"{folder}/")
            (someone.folder / name).write_text(block.text, encoding="utf-8")
    ran = someone.run("python -m pytest --rag-judge=offline")
    (shown,) = (block.text for block in BLOCKS if block.language == "text")
    assert shown in ran.output, ran.output
    summary = json.loads((someone.folder / "ragcheck-results" / "rag_summary.json").read_text(encoding="utf-8"))
    assert summary["overall_metrics"]["recall_at_1"] == 1.0, "the gold passage is found by the id of its document"
