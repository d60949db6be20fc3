"""A run in parts, and `ragcheck merge`: as if it had been run at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from tests.canned import bad, broken, good
from tests.harness import OTHERS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.harness import Project

SHARDS = ("1/4", "2/4", "3/4", "4/4")


def asking(project: Project) -> None:
    """Questions of every kind, of files and of calls."""
    names = [f"q{number}" for number in range(9)]
    project.ask(
        *(good(name) for name in names), bad("prices"), broken("hours"), good("later", skip="not yet"), good("end")
    )
    project.can(good("refunds"), good("returns"))
    project.write(
        "test_calls.py",
        "def test_refunds(rag_check):\n    rag_check('What about refunds?').assert_passed()\n"
        "def test_returns(rag_check):\n    rag_check('What about returns?').assert_passed()\n"
        "def test_plain(): pass\n",
    )


def shard(project: Project, part: str, *options: str) -> subprocess.CompletedProcess[str]:
    """One part as a process of its own, with results in a folder of its own."""
    folder = f"--rag-output=part-{part.partition('/')[0]}"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *OTHERS, "-p", "no:cacheprovider", f"--rag-shard={part}", folder, *options],
        cwd=project.folder,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def merge(project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from pytest_ragcheck.cli import main; sys.exit(main())",
            "merge",
            *arguments,
        ],
        cwd=project.folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def timeless(path: Path) -> Any:
    """The document without what no two runs have in common."""

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without(part) for key, part in value.items() if key not in {"timestamp", "latency_seconds"}}
        return [without(part) for part in value] if isinstance(value, list) else value

    return without(json.loads(path.read_text(encoding="utf-8")))


def test_the_shards_of_a_run_merged_are_the_run(project: Project) -> None:
    asking(project)
    whole = project.run("--rag-output=whole", "-p", "no:cacheprovider")
    ran = [shard(project, part, *(["-n2"] if part == "2/4" else [])) for part in SHARDS]
    assert all("ragcheck merge puts all of them together" in each.stdout for each in ran)
    # 12 questions, 3 or 4 a shard, and two tests that call; the plain test runs in each.
    asked = [
        len(timeless(project.folder / f"part-{n}/rag.partial_predictions.json")["predictions"]) for n in (1, 2, 3, 4)
    ]
    assert sum(asked) == 13
    assert max(asked) - min(asked) <= 2  # of which one may be the ERROR and one the skipped question
    done = merge(project, "part-1", "part-2", "part-3", "part-4", "-o", "merged")
    assert done.returncode == 1, done.stderr
    assert "12 PASS, 1 FAIL, 1 ERROR, 1 skipped" in done.stdout
    names = sorted(path.name for path in (whole.folder / "whole").glob("*.json"))
    assert sorted(path.name for path in (whole.folder / "merged").glob("*.json")) == names
    for name in names:
        assert timeless(project.folder / "merged" / name) == timeless(project.folder / "whole" / name), name

    incomplete = merge(project, "part-1", "part-2", "part-4")
    assert (incomplete.returncode, incomplete.stderr) == (
        2,
        "ragcheck merge: of 4 shards there is no 3. Give the folders that all shards of one run wrote.\n",
    )
    compared = merge(project, "part-1", "part-2", "part-3", "part-4", "--baseline", "whole/rag_predictions.json")
    assert "baseline whole/rag_predictions.json: 1 not measured, 1 still failing, 12 as before" in compared.stdout


def test_every_question_falls_to_one_shard_and_the_split_is_even(project: Project) -> None:
    project.ask(*(good(f"q{number}") for number in range(10)))
    seen = [project.run("--co", "-q", f"--rag-shard={number}/3").lines for number in (1, 2, 3)]
    ids = [[line for line in lines if "::" in line] for lines in seen]
    assert sorted(map(len, ids)) == [3, 3, 4]
    assert sorted(node for part in ids for node in part) == sorted(f"billing.rag.yaml::q{n}" for n in range(10))


def test_a_shard_that_no_question_falls_to_is_not_missing(project: Project) -> None:
    project.ask(good("only"))
    for part in ("1/2", "2/2"):
        shard(project, part)
    assert merge(project, "part-1", "part-2").returncode == 0


def test_one_shard_of_one_is_a_whole_run(project: Project) -> None:
    project.ask(good("terms"))
    run = project.run("--rag-shard=1/1")
    assert run.summary["complete"] is True
