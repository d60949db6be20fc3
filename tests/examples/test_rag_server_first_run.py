"""The conftest.py of the first run, over a small corpus of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.harness import OTHERS, exhaustive, python_of_forks

from .conftest import EXAMPLES, write_corpus

if TYPE_CHECKING:
    from pathlib import Path

SHOP = """\
# Shop

## Refunds

A refund is possible within 30 days.

## Opening hours

The shop opens at 9 and closes at 18.
"""

QUESTIONS = """\
questions:
  - question: Within how many days is a refund possible?
    expected_answer: 30 days
  - question: When does the shop close?
    expected_answer: "18"
  - question: Who founded the company?
    answerable: false
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project laid out as this one: `examples/first_run` beside `examples/rag_server`, and `docs`."""
    write_corpus(tmp_path / "docs", {"shop.md": SHOP})
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(EXAMPLES / "rag_server", tmp_path / "examples" / "rag_server", ignore=ignored)
    first_run = tmp_path / "examples" / "first_run"
    first_run.mkdir()
    for name in ("conftest.py", "pytest.ini"):
        shutil.copy(EXAMPLES / "first_run" / name, first_run)
    return first_run


def run_pytest(folder: Path, *arguments: str, fault: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*python_of_forks("-m", "pytest"), *OTHERS, "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env={**os.environ, "RAG_SERVER_FAULT": fault},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("arguments", [(), pytest.param(("-n2",), marks=exhaustive)], ids=["plain", "two_workers"])
def test_questions_pass_over_a_server_that_is_right(folder: Path, arguments: tuple[str, ...]) -> None:
    (folder / "shop.rag.yaml").write_text(QUESTIONS)
    ended = run_pytest(folder, *arguments)
    assert ended.returncode == 0, ended.stdout
    assert "3 passed" in ended.stdout


def test_the_same_questions_fail_over_a_server_that_states_wrong_numbers(folder: Path) -> None:
    (folder / "shop.rag.yaml").write_text(QUESTIONS)
    ended = run_pytest(folder, fault="number")
    assert ended.returncode == 1, ended.stdout
    assert "2 failed, 1 passed" in ended.stdout


def has_ended(url: str) -> bool:
    for _ in range(300):
        try:
            httpx.get(url, trust_env=False)
        except httpx.TransportError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize(
    ("ending", "status"),
    [("pass", 0), pytest.param("assert False", 1, marks=exhaustive), ("os.kill(os.getpid(), 9)", -9)],
)
def test_the_server_ends_with_the_run_even_with_one_that_is_killed(folder: Path, ending: str, status: int) -> None:
    (folder / "test_server.py").write_text(
        "import os\n"
        "def test_server(rag_client):\n"
        '    assert "30 days" in rag_client.blocking.query("Within how many days is a refund possible?").text\n'
        '    print("asked", rag_client.endpoint, flush=True)\n'
        f"    {ending}\n"
    )
    ended = run_pytest(folder, "-s")
    assert ended.returncode == status, ended.stdout + ended.stderr
    asked = re.search(r"asked (\S+)", ended.stdout)
    assert asked
    assert has_ended(asked[1])


def test_a_server_that_does_not_start_is_an_error_with_its_own_words(folder: Path) -> None:
    shutil.rmtree(folder.parents[1] / "docs")
    (folder / "test_server.py").write_text("def test_server(rag_client): pass\n")
    ended = run_pytest(folder)
    assert ended.returncode == 1
    assert (
        "the RAG server ended at once with exit status 2 and said why on stderr; "
        'if packages are missing: pip install "pytest-ragcheck[example]"'
    ) in ended.stdout
    assert "docs is no folder" in ended.stdout
