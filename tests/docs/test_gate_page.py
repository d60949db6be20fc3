"""The page about the gate is followed line by line, and shows what comes of it."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.harness import Project, Run

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "gate-on-regressions.md"


def blocks(language: str) -> list[str]:
    """What stands in the page's blocks of the language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def follow(project: Project, block: str) -> Run | None:
    """What the last pytest of the block came to."""
    run = None
    for line in block.splitlines():
        program, *arguments = shlex.split(line.removeprefix("$ "))
        if program == "pytest":
            run = project.run(*arguments)
        else:
            assert program == "cp"
            shutil.copy(*(project.folder / name for name in arguments))
    return run


@pytest.fixture
def followed(project: Project) -> Project:
    """The page's project with its baseline."""
    for language, name in (("yaml", "billing.rag.yaml"), ("python", "conftest.py")):
        (code,) = blocks(language)
        assert code.startswith(f"# {name}\n")
        project.write(name, code)
    run = follow(project, blocks("console")[0])
    assert run is not None
    assert run.verdicts == {"refund-window": "PASS", "returns": "PASS"}
    return project


def test_the_way_to_a_red_gate_and_out_of_it(followed: Project) -> None:
    project, (_, compare, accept) = followed, blocks("console")
    quiet, red, *_ = blocks("text")
    run = follow(project, compare)
    assert run is not None
    assert (run.exit_status, quiet.strip() in run.lines) == (0, True)

    conftest, questions = ((project.folder / name).read_text() for name in ("conftest.py", "billing.rag.yaml"))
    project.write("conftest.py", conftest.replace("are possible for 30 days.", "are possible for 14 days."))
    project.write("billing.rag.yaml", questions.partition("  - id: returns")[0])
    project.write("pytest.ini", blocks("ini")[0])
    run = project.run()
    assert run.exit_status == 1
    assert "\n".join(run.section("ragcheck::gate")) == red.rstrip("\n")
    assert run.junit["gate"] == ("failure", red.partition("\n")[0])
    assert project.run("-p", "no:ragcheck-gate").outcomes == {"failed": 1}

    follow(project, accept)
    assert "gate" not in project.run().junit


def test_runs_that_are_not_the_whole_say_what_the_page_shows(followed: Project) -> None:
    _, _, not_run, stopped, rate, _ = (text.strip() for text in blocks("text"))
    gated = ("--rag-judge=none", "--rag-baseline=baseline.json")
    assert not_run in followed.run(*gated, "-k", "refund").lines
    conftest = (followed.folder / "conftest.py").read_text()
    followed.write("conftest.py", conftest.replace("30 days", "14 days"))
    assert stopped in followed.run(*gated, "-x").lines
    assert rate in followed.run("--rag-judge=none", "--rag-gate=rate:0.9").lines
