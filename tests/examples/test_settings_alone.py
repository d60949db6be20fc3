"""The examples without code, of settings and questions only, run against a running server."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from .conftest import EXAMPLES, running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.examples.conftest import RunningServer
    from tests.harness import Project


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running(EXAMPLES / "shop" / "documents") as started:
        yield started


@pytest.mark.parametrize(
    ("folder", "route"), [("stream", "/query/stream"), ("search", "/search"), ("conversation", "/chat")]
)
def test_an_example_of_settings_alone_passes(project: Project, server: RunningServer, folder: str, route: str) -> None:
    shutil.copytree(EXAMPLES / folder, project.folder, dirs_exist_ok=True)
    assert f":8000{route}\n" in (project.folder / "pytest.ini").read_text(encoding="utf-8")
    run = project.run(f"--rag-url={server.url}{route}")
    assert set(run.verdicts.values()) == {"PASS"}, run.text
    for row in run.predictions["predictions"]:
        assert row["metrics"]["recall_at_5"] == 1.0
        assert row["source_ids"][0].endswith(".md")
        assert ("first_token_seconds" in row) == (folder == "stream")
        assert ("answer_correctness" in row["metrics"]) == (folder != "search")
