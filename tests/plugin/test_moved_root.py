"""pytest's root folder, where the value of an option stands after a blank and pytest takes it for a path to tests."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.plugin.moved_root import moved_root
from tests.canned import good

if TYPE_CHECKING:
    from tests.harness import Project


@pytest.mark.parametrize(
    ("files", "arguments", "moved"),
    [
        ([], "--rag-output OUT", True),
        (["mine/pytest.ini"], "--rag-baseline OUT/b.json", True),
        (["mine/setup.cfg:[tool:pytest]"], "--rag-replay OUT/b.json", True),
        (["mine/inside/pytest.ini"], "--rag-output inside", True),
        ([], "here.rag.yaml --rag-agent OUT", True),
        (["mine/pytest.ini"], "here.rag.yaml --rag-agent OUT", False),
        (["pytest.ini"], "--rag-output OUT", False),
        (["pytest.ini", "mine/pyproject.toml:[project]"], "--rag-output OUT", False),
        (["setup.py"], "--rag-output OUT", False),
        ([], "--rag-output inside", False),
        ([], "--rag-output ../nothing", False),
        ([], "--rag-output OUT --rootdir=.", False),
        (["mine/own.ini:[pytest]"], "--rag-output OUT -c own.ini", False),
    ],
)
def test_it_is_told_where_the_blank_moved_it_and_nowhere_else(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, files: list[str], arguments: str, moved: bool
) -> None:
    for file in [*files, "mine/here.rag.yaml", "mine/inside/none", "out/b.json"]:
        name, _, text = file.partition(":")
        path = pytester.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    monkeypatch.chdir(pytester.path / "mine")
    given = arguments.replace("OUT", "../out")
    with_blank = pytester.parseconfig(*given.split())
    right = pytester.parseconfig(*re.sub(r"(--rag-[a-z]+) ", r"\1=", given).split())
    assert (with_blank.rootpath != right.rootpath) is moved
    assert bool(moved_root(with_blank)) is moved
    assert moved_root(right) == ""


def test_a_path_to_tests_after_an_option_without_a_value_is_one(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(pytester.mkdir("mine"))
    assert moved_root(pytester.parseconfig("--rag-required", "..")) == ""


@pytest.mark.parametrize("errors", [False, True])
def test_the_run_says_what_to_write(project: Project, monkeypatch: pytest.MonkeyPatch, errors: bool) -> None:
    project.ask(good("terms"))
    project.write("here/pytest.ini", "[pytest]\n")
    project.write("out/kept", "")
    monkeypatch.chdir(project.folder / "here")
    monkeypatch.setenv("PYTEST_ADDOPTS", "--rag-output ../out")
    run = project.run("..", *(["-W", "error"] if errors else []))
    said = (
        "ragcheck: --rag-output ../out: pytest took what stands after the blank for a path to tests, too, and chose "
        f"{project.folder} as its root folder, which says what ini file is read and what datasets are called. "
        "Write --rag-output=../out"
    )
    if errors:
        assert run.exit_status == pytest.ExitCode.USAGE_ERROR
        assert f"ERROR: {said}" in run.errors
    else:
        assert run.outcomes == {"passed": 1, "warning": 1}
        assert f"PytestConfigWarning: {said}" in run.text
