"""The parts of pytest-split merge into the results of the undivided run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.cli import main
from tests.canned import good
from tests.harness import two_ways
from tests.plugin.test_shards import asking, timeless

if TYPE_CHECKING:
    from tests.harness import Project, Run

pytestmark = pytest.mark.usefixtures("all_plugins")

OPTIONS = ("-p", "no:randomly", "-p", "no:cacheprovider", "-o", "asyncio_default_fixture_loop_scope=function")
TALK = """
questions:
  - id: talk
    turns:
      - question: What about refunds?
        expected_answer: 30 days
      - question: What about vouchers?
        expected_answer: 30 days
      - question: What about gifts?
        expected_answer: 30 days
"""


def group(project: Project, number: int, *options: str, count: int = 3) -> Run:
    split = (f"--splits={count}", f"--group={number}", f"--rag-output=part-{number}")
    return project.run(*OPTIONS, *split, *options, fresh=True)


@two_ways
@pytest.mark.parametrize("algorithm", ["duration_based_chunks", "least_duration"])
def test_the_merged_groups_are_the_run(project: Project, capsys: pytest.CaptureFixture[str], algorithm: str) -> None:
    asking(project)
    project.write("talk.rag.yaml", TALK)
    project.reply_to(good("vouchers"), good("gifts"))
    whole = project.run(*OPTIONS, "--rag-output=whole", "--store-durations", fresh=True)
    # Of the conversation none is an ERROR, whose later turns a group may not have.
    assert whole.outcomes == {"passed": 17, "failed": 1, "error": 1, "skipped": 1}
    for number in (1, 2, 3):
        ran = group(project, number, f"--splitting-algorithm={algorithm}")
        assert f"partial: shard {number} of 3; ragcheck merge combines the shards" in ran.text
    folders = [str(project.folder / f"part-{number}") for number in (1, 2, 3)]
    assert main(["merge", *folders, "-o", str(project.folder / "merged")]) == 1, capsys.readouterr()
    names = sorted(path.name for path in (project.folder / "whole").glob("*.json"))
    assert sorted(path.name for path in (project.folder / "merged").glob("*.json")) == names
    for name in names:
        assert timeless(project.folder / "merged" / name) == timeless(project.folder / "whole" / name), name
    assert main(["merge", *folders[:2], "-o", str(project.folder / "again")]) == 2
    assert "of 3 shards, 3 is missing" in capsys.readouterr().err


def test_groups_by_other_durations_are_refused(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    project.ask(*(good(f"q{number}") for number in range(4)))
    for number, slow in ((1, 3), (2, 0)):
        durations = {f"billing.rag.yaml::q{each}": 100 if each == slow else 1 for each in range(4)}
        (project.folder / ".test_durations").write_text(json.dumps(durations), encoding="utf-8")
        group(project, number, count=2)
    assert main(["merge", *(str(project.folder / f"part-{number}") for number in (1, 2))]) == 2
    assert "both have billing::q" in capsys.readouterr().err


def test_a_group_without_questions_is_not_missing_and_a_project_without_questions_writes_no_files(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project.write("test_own.py", "def test_own(): pass\n")
    group(project, 1, count=2)
    assert not (project.folder / "part-1").exists()
    project.reply_to(good("a"))
    project.write("test_own.py", "def test_call(rag_check): rag_check('What about a?')\n\ndef test_own(): pass\n")
    for number in (1, 2):
        group(project, number, count=2)
    capsys.readouterr()
    assert main(["merge", *(str(project.folder / f"part-{n}") for n in (1, 2)), "-o", str(project.folder)]) == 0
    assert "partial" not in capsys.readouterr().out


def test_tests_that_were_deselected_otherwise_make_the_merged_run_partial(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    asking(project)
    for number in (1, 2):
        group(project, number, "-k", "not returns", count=2)
    capsys.readouterr()
    main(["merge", *(str(project.folder / f"part-{n}") for n in (1, 2)), "-o", str(project.folder)])
    assert "partial: tests that use rag_check were deselected" in capsys.readouterr().out
