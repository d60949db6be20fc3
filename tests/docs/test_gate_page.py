"""The pages about the gate can be followed line by line, and show the real output."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.cli import main

if TYPE_CHECKING:
    from tests.harness import Project, Run

DOCS = Path(__file__).parents[2] / "docs"
PAGE = "".join(
    page.read_text(encoding="utf-8")
    for page in (DOCS / "how-to" / "gate-on-regressions.md", DOCS / "reference" / "gates.md")
)


def blocks(language: str) -> list[str]:
    """The texts of the blocks of the language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def follow(project: Project, block: str) -> Run | None:
    """The result of the last pytest of the block."""
    run = None
    for line in block.splitlines():
        program, *arguments = shlex.split(line.removeprefix("$ "))
        if program == "pytest":
            run = project.run(*arguments)
        else:
            assert (program, main(arguments)) == ("ragcheck", 0)
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


def replace_in(project: Project, file: str, old: str, new: str) -> None:
    text = (project.folder / file).read_text(encoding="utf-8")
    assert old in text
    project.write(file, text.replace(old, new))


def test_the_way_to_a_red_gate_and_out_of_it(followed: Project) -> None:
    project, (_, compare, accept) = followed, blocks("console")
    quiet, red, *_ = blocks("text")
    run = follow(project, compare)
    assert run is not None
    assert (run.exit_status, quiet in run.text) == (0, True)

    replace_in(project, "conftest.py", "are possible for 30 days.", "are possible for 14 days.")
    questions = (project.folder / "billing.rag.yaml").read_text(encoding="utf-8")
    project.write("billing.rag.yaml", questions.partition("  - id: returns")[0])
    project.write("pytest.ini", blocks("ini")[0])
    run = project.run()
    assert run.exit_status == 1
    assert "\n".join(run.section("ragcheck::gate")) == red.rstrip("\n")
    assert run.junit["gate"] == ("failure", red.partition("\n")[0])
    assert project.run("-p", "no:ragcheck-gate").outcomes == {"failed": 1}

    project.run()
    follow(project, accept)
    assert project.run().exit_status == 0


def test_runs_that_are_not_the_whole_say_what_the_page_shows(followed: Project) -> None:
    _, _, _, not_run, stopped, rate = (text.strip() for text in blocks("text"))
    assert not_run in followed.run("--rag-judge=none", "-k", "refund").lines
    replace_in(followed, "conftest.py", "30 days", "14 days")
    assert stopped in followed.run("--rag-judge=none", "--rag-gate=each", "-x").lines
    assert rate in followed.run("--rag-judge=none", "--rag-gate=rate:0.9").lines


def test_a_pull_request_is_compared_with_the_baseline_of_the_main_branch(followed: Project) -> None:
    for line in ("init -q -b main", "add .", "-c user.name=A -c user.email=a@b.c commit -qm A", "remote add origin ."):
        subprocess.run(["git", *line.split()], cwd=followed.folder, check=True)
    fetch, compare = blocks("shell")[0].splitlines()
    subprocess.run(shlex.split(fetch), cwd=followed.folder, check=True)
    (followed.folder / "ragcheck-baseline.json").unlink()
    replace_in(followed, "conftest.py", "30 days", "14 days")
    run = followed.run("--rag-judge=none", *shlex.split(compare)[1:])
    assert run.junit["gate"][1].startswith("1 confirmed as failing against git:origin/main:ragcheck-baseline.json")
    advice = "accept them: ragcheck baseline accept, and compare with that file instead of "
    assert f"{advice}git:origin/main:ragcheck-baseline.json" in run.text


def test_a_saved_run_that_fails_names_the_flaky_question(followed: Project, capsys: pytest.CaptureFixture[str]) -> None:
    replace_in(followed, "conftest.py", "The customer pays", "Somebody pays")
    followed.run("--rag-judge=none", "--rag-gate=each")
    capsys.readouterr()
    follow(followed, blocks("console")[0].splitlines()[-1])
    assert capsys.readouterr().out == blocks("text")[2]
