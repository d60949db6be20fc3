"""The shards of a run, merged by `ragcheck merge`, equal an undivided run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.cli import main
from tests.canned import bad, broken, good
from tests.harness import two_ways

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.harness import Project, Run

TIMES = {"timestamp", "latency_seconds", "asked_at"}
SHARDS = ("1/4", "2/4", "3/4", "4/4")


def asking(project: Project) -> None:
    """Questions of every kind, of files and of calls."""
    names = [f"q{number}" for number in range(9)]
    project.ask(
        *(good(name) for name in names), bad("prices"), broken("hours"), good("later", skip="not yet"), good("end")
    )
    project.reply_to(good("refunds"), good("returns"))
    project.write(
        "test_calls.py",
        "def test_refunds(rag_check):\n    rag_check('What about refunds?').assert_passed()\n"
        "def test_returns(rag_check):\n    rag_check('What about returns?').assert_passed()\n"
        "def test_search(rag_check):\n    gold = ['Refunds are possible for 30 days.']\n"
        "    rag_check('What about returns?', tier='retrieval', gold_passages=gold).assert_passed()\n"
        "def test_plain(): pass\n",
    )


def shard(project: Project, part: str, *options: str) -> Run:
    """Run one shard, with results in its own folder."""
    folder = f"--rag-output=part-{part.partition('/')[0]}"
    return project.run("-p", "no:cacheprovider", f"--rag-shard={part}", folder, *options)


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    status: int
    out: str
    err: str


@pytest.fixture
def merge(capsys: pytest.CaptureFixture[str]) -> Callable[..., Merged]:
    """Runs `ragcheck merge`."""

    def run(*arguments: str) -> Merged:
        capsys.readouterr()
        status = main(["merge", *arguments])
        printed = capsys.readouterr()
        return Merged(status=status, out=printed.out, err=printed.err)

    return run


def timeless(path: Path) -> Any:
    """The document without the values that differ between any two runs."""

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without(part) for key, part in value.items() if key not in TIMES}
        return [without(part) for part in value] if isinstance(value, list) else value

    return without(json.loads(path.read_text(encoding="utf-8")))


def test_the_shards_of_a_run_merged_are_the_run(project: Project, merge: Callable[..., Merged]) -> None:
    asking(project)
    whole = project.run("--rag-output=whole", "-p", "no:cacheprovider")
    ran = [shard(project, part, *(["-n2"] if part == "2/4" else [])) for part in SHARDS]
    assert all("ragcheck merge combines the shards" in each.text for each in ran)
    # 12 questions, 3 or 4 a shard, and three tests that call; the plain test runs in each.
    asked = [
        len(timeless(project.folder / f"part-{n}/rag.partial_predictions.json")["predictions"]) for n in (1, 2, 3, 4)
    ]
    assert sum(asked) == 14
    assert max(asked) - min(asked) <= 2  # of which one may be the ERROR and one the skipped question
    done = merge("part-1", "part-2", "part-3", "part-4", "-o", "merged")
    assert done.status == 1, done.err
    assert "13 PASS, 1 FAIL, 1 ERROR, 1 skipped" in done.out
    names = sorted(path.name for path in (whole.folder / "whole").glob("*.json"))
    assert sorted(path.name for path in (whole.folder / "merged").glob("*.json")) == names
    for name in names:
        assert timeless(project.folder / "merged" / name) == timeless(project.folder / "whole" / name), name

    incomplete = merge("part-1", "part-2", "part-4")
    assert (incomplete.status, incomplete.err) == (
        2,
        "ragcheck merge: of 4 shards, 3 is missing. Give the folders that all shards of one run wrote.\n",
    )
    compared = merge("part-1", "part-2", "part-3", "part-4", "--baseline", "whole/rag_predictions.json")
    assert "baseline whole/rag_predictions.json: 1 not measured, 1 still failing, 13 as before" in compared.out


@pytest.mark.parametrize(
    ("option", "names"),
    [
        ("--rag-judge=none", ['rag_judge null and "none"']),
        ("-orag_top_k=3", ["rag_top_k 5 and 3"]),
        ("--rag-threshold=0.5", ["rag_threshold 0.7 and 0.5"]),
        ("--rag-min=f1=0.5", ["rag_min {}", 'and {"f1": 0.5}']),
        ("-orag_timeout=9", []),
    ],
)
def test_shards_whose_verdicts_have_other_settings_are_refused(
    project: Project, merge: Callable[..., Merged], option: str, names: list[str]
) -> None:
    project.ask(good("hours"), good("prices"))
    shard(project, "1/2")
    shard(project, "2/2", option)
    done = merge("part-1", "part-2")
    assert done.status == (2 if names else 0)
    assert not [name for name in names if name not in done.err], done.err


@pytest.mark.parametrize(
    ("arguments", "partial"),
    [([], False), (["news.rag.yaml"], True), (["--ignore=x"], False), (["--ignore=gone.rag.yaml"], True)],
)
def test_a_deleted_question_file_does_not_make_merged_runs_partial(
    project: Project, merge: Callable[..., Merged], arguments: list[str], partial: bool
) -> None:
    project.ask(good("hours"), file="news.rag.yaml")
    project.ask(good("prices"), file="gone.rag.yaml")
    for further in ([], arguments):
        for part in ("1/2", "2/2"):
            shard(project, part, *further)
        done = merge("part-1", "part-2", "-o", "merged")
        (project.folder / "gone.rag.yaml").unlink(missing_ok=True)
    assert (done.status, done.err) == (0, "")
    assert ("partial: the last full result also has gone; delete rag_summary.json" in done.out) is partial


def test_shards_of_a_selection_miss_what_an_undivided_run_of_it_misses(
    project: Project, merge: Callable[..., Merged]
) -> None:
    project.ask(good("hours"), good("prices"), good("terms"), good("gone"))
    project.ask(good("news"), file="news.rag.yaml")
    project.run_before("--rag-output=before")
    project.ask(good("hours"), good("prices"), good("terms"))
    (project.folder / "news.rag.yaml").unlink()
    against = ("-k", "not terms", "--rag-baseline=before/rag_predictions.json")
    line = "baseline before/rag_predictions.json: 1 missing, 2 as before"
    assert line in project.run_before(*against).lines
    for part in ("1/2", "2/2"):
        shard(project, part, *against)
    # By default, the merge compares with the baseline of the parts.
    for given in ([], ["--baseline=before/rag_predictions.json"]):
        done = merge("part-1", "part-2", *given)
        assert (done.status, line in done.out.splitlines()) == (1, True)


def test_every_question_falls_to_one_shard_and_the_split_is_even(project: Project) -> None:
    project.ask(*(good(f"q{number}") for number in range(10)))
    seen = [project.run("--co", "-q", f"--rag-shard={number}/3").lines for number in (1, 2, 3)]
    ids = [[line for line in lines if "::" in line] for lines in seen]
    assert sorted(map(len, ids)) == [3, 3, 4]
    assert sorted(node for part in ids for node in part) == sorted(f"billing.rag.yaml::q{n}" for n in range(10))


def test_a_shard_that_no_question_falls_to_is_not_missing(project: Project, merge: Callable[..., Merged]) -> None:
    project.ask(good("only"))
    for part in ("1/2", "2/2"):
        shard(project, part)
    assert merge("part-1", "part-2").status == 0


@two_ways
def test_a_shard_that_was_stopped_before_its_end_is_red(project: Project, merge: Callable[..., Merged]) -> None:
    project.ask(good("terms"), good("prices"))
    project.write("a/test_stops.py", "def test_stops(request): request.session.shouldstop = 'enough'\n")
    shard(project, "1/2", "--deselect=a/test_stops.py")
    shard(project, "2/2")
    done = merge("part-1", "part-2")
    assert done.status == 1
    assert done.out.splitlines()[-1] == (
        "shard 2 of 2 is incomplete: the run was stopped before its end. Run it again, and merge."
    )
    summary = json.loads((project.folder / "ragcheck-results/rag.partial_summary.json").read_bytes())
    assert summary["stopped"] == "the run was stopped before its end"


def test_tests_that_failed_besides_their_questions_are_red(project: Project, merge: Callable[..., Merged]) -> None:
    project.ask(good("terms"), good("prices"))
    project.reply_to(good("refunds"))
    project.write(
        "test_calls.py",
        "import pytest\n"
        "def test_plain(): assert False\n"
        "def test_slow(rag_check): rag_check('What about refunds?').assert_passed(); assert False\n"
        "@pytest.mark.rag_questions('billing.rag.yaml')\n"
        "def test_words(rag_result): rag_result.assert_passed(); assert rag_result.question.id != 'terms'\n",
    )
    for part in ("1/2", "2/2"):
        shard(project, part)
    done = merge("part-1", "part-2")
    assert done.status == 1
    assert done.out.splitlines()[-1] == (
        "failed besides the questions: test_calls.py::test_plain, test_calls.py::test_slow, "
        "test_calls.py::test_words[terms]"
    )
    summary = json.loads((project.folder / "ragcheck-results/rag_summary.json").read_bytes())
    assert summary["failed_otherwise"] == done.out.splitlines()[-1].partition(": ")[2].split(", ")
    project.run("-p", "no:cacheprovider", "--rag-output=whole")
    names = "ragcheck-results/rag_predictions.json", "whole/rag_predictions.json"
    reach, undivided = (json.loads((project.folder / name).read_bytes())["reach"] for name in names)
    assert reach == undivided


def test_a_test_that_failed_besides_a_fail_that_is_tolerated_is_red(
    project: Project, merge: Callable[..., Merged]
) -> None:
    project.reply_to(bad("prices"))
    project.write(
        "test_calls.py",
        "def test_slow(rag_check):\n    assert rag_check('What about prices?').latency_seconds > 1000\n"
        "def test_fails(rag_check): rag_check('What about prices?').assert_passed()\n",
    )
    shard(project, "1/1", "--rag-gate=rate:0")
    done = merge("part-1")
    assert done.status == 1
    assert done.out.splitlines()[-1] == "failed besides the questions: test_calls.py::test_slow"


def test_a_shard_that_is_refused_writes_nothing(project: Project) -> None:
    project.ask(good("hours"), good("prices"))
    refused = project.run("--rag-shard=1/2", "--rag-baseline=missing.json")
    assert refused.exit_status == pytest.ExitCode.USAGE_ERROR
    assert not (project.folder / "ragcheck-results").exists()


def test_a_shard_that_writes_nothing_leaves_no_earlier_one_to_merge(
    project: Project, merge: Callable[..., Merged]
) -> None:
    project.ask(good("hours"), good("prices"))
    for part in ("1/2", "2/2"):
        shard(project, part)
    assert shard(project, "2/2", "--rag-dry-run").exit_status == 0
    assert merge("part-1", "part-2").status == 0
    assert shard(project, "2/2", "--rag-baseline=missing.json").exit_status == pytest.ExitCode.USAGE_ERROR
    refused = merge("part-1", "part-2")
    assert (refused.status, "part-2: it has no shard file" in refused.err) == (2, True)


def test_one_shard_of_one_is_a_whole_run(project: Project) -> None:
    project.ask(good("terms"))
    run = project.run("--rag-shard=1/1")
    assert run.summary["complete"] is True
