"""
A sample project runs with each other plugin of the matrix, all installed together.

The page `docs/reference/other-plugins.md` shows these rows.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.plugin.asking.schedule import AGAIN
from tests.matrix.rows import ROWS, SAME, Row
from tests.matrix.sample import order_of_tests, run_sample, write_sample

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.matrix.sample import Facts

pytestmark = pytest.mark.usefixtures("all_plugins")


def rows_of(test: str) -> pytest.MarkDecorator:
    """Runs the test for each row that names it, in each of the row's ways."""
    cases = [(row, way) for row in ROWS if row.test == test for way in row.ways]
    ids = [f"{' '.join((row.name, *row.options))} {way}".replace(" ", "_") for row, way in cases]
    return pytest.mark.parametrize(("row", "way"), cases, ids=ids)


two_ways = pytest.mark.parametrize("way", [["-p", "no:randomly"], ["-p", "no:randomly", "-n2"]], ids=["plain", "-n2"])


def options_of(row: Row, way: str) -> list[str]:
    # An installed pytest-randomly is active unless an option disables it.
    order = [] if any("randomly" in option for option in row.options) else ["-p", "no:randomly"]
    return [*order, *row.options, *([way] if way != "plain" else [])]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_sample(tmp_path / "project")


def extend_conftest(project: Path, code: str) -> None:
    with (project / "conftest.py").open("a", encoding="utf-8") as conftest:
        conftest.write(code)


def assert_same(facts: Facts, ordinary: Facts) -> None:
    """One by one, so that a difference shows by its name."""
    assert facts.outcomes == ordinary.outcomes, facts.text
    assert facts.exit_status == ordinary.exit_status
    assert facts.asked == ordinary.asked
    assert facts.properties == ordinary.properties
    assert facts.documents == ordinary.documents
    assert facts.section == ordinary.section


def documents_of(ordinary: Facts, *, rerun: int) -> dict[str, Any]:
    """The same files, after that number of prefetched questions were asked again for their last attempt."""
    summary = ordinary.documents["rag_summary.json"]
    on_demand = {**summary["on_demand"], AGAIN: rerun}
    return {**ordinary.documents, "rag_summary.json": {**summary, "on_demand": on_demand}}


def test_the_ordinary_run_has_a_bit_of_everything(ordinary: Facts) -> None:
    assert ordinary.exit_status == 1
    assert Counter(ordinary.outcomes.values()) == {"passed": 10, "failure": 7, "error": 1, "skipped": 2}
    assert ordinary.documents["rag_summary.json"]["counts"] == {"pass": 9, "fail": 7, "error": 2, "skipped": 1}
    (plugins,) = re.findall(r"^plugins: (.+)$", ordinary.text, re.MULTILINE)
    for plugin in ("rerunfailures", "timeout", "asyncio", "anyio", "repeat", "cov", "html", "hypothesis", "syrupy"):
        assert f"{plugin}-" in plugins


@rows_of(SAME)
def test_the_run_is_the_same(row: Row, way: str, project: Path, ordinary: Facts) -> None:
    facts = run_sample(project, *options_of(row, way))
    assert_same(facts, ordinary)
    for name in row.leaves:
        assert (project / name).exists()


@rows_of("test_reruns_ask_again_and_the_last_attempt_counts")
def test_reruns_ask_again_and_the_last_attempt_counts(row: Row, way: str, project: Path, ordinary: Facts) -> None:
    facts = run_sample(project, *options_of(row, way))
    assert facts.outcomes == ordinary.outcomes, facts.text
    assert facts.exit_status == ordinary.exit_status
    assert facts.properties == ordinary.properties
    assert facts.documents == documents_of(ordinary, rerun=4)
    assert facts.asked["What about terms?"] == 1
    assert facts.asked["What about known?"] == 1, "an xfail is no failure"
    assert facts.asked["What about prices?"] == facts.asked["What about refunds?"] == 3
    assert facts.asked["What about city-bad?"] == 2 * 3, "for each city"


def test_errors_alone_can_be_rerun(project: Path, ordinary: Facts) -> None:
    options = ("-p", "no:randomly", "--reruns=2", "--only-rerun=QuestionErrored")
    facts = run_sample(project, *options)
    assert facts.documents == documents_of(ordinary, rerun=1)
    assert facts.asked["What about prices?"] == 1
    assert facts.asked["What about refunds?"] == facts.asked["What about call-broken?"] == 3


@rows_of("test_a_shuffled_run_leaves_rows_in_the_order_of_the_files")
def test_a_shuffled_run_leaves_rows_in_the_order_of_the_files(
    row: Row, way: str, project: Path, ordinary: Facts
) -> None:
    facts = run_sample(project, *options_of(row, way))
    assert order_of_tests(project) != list(ordinary.outcomes)
    assert_same(facts, ordinary)
    rows = facts.documents["rag_predictions.json"]["predictions"]
    assert [row["question_id"] for row in rows if row["dataset_name"] == "billing"] == ["terms", "prices", "known"]


HANGING = """
import asyncio

class Hanging(CannedRag):
    async def ask(self, question):
        answer = await super().ask(question)
        if 'terms' in question.question or 'call-good' in question.question:
            await asyncio.sleep(3600)
        return answer

@pytest.fixture(scope='session')
def rag_client():
    return Hanging()

# What is imported once a process takes longer than that on a busy machine: the first items do it, without a limit.
def pytest_collection_modifyitems(items):
    hanging = [item for item in items if item.name in ('terms', 'test_one_call', 'test_two_calls')]
    for item in hanging:
        item.add_marker(pytest.mark.timeout(1))
    items.sort(key=lambda item: 2 if item.name == 'test_broken_call' else item in hanging)
"""


@two_ways
def test_a_question_that_hangs_is_an_error_and_the_run_goes_on(way: list[str], project: Path) -> None:
    extend_conftest(project, HANGING)
    facts = run_sample(project, *way, "billing.rag.yaml", "test_calls.py")
    assert facts.outcomes["billing.rag.yaml::terms"] == "error"
    assert facts.outcomes["billing.rag.yaml::prices"] == "failure"
    assert facts.outcomes["test_calls::test_one_call"] == "failure"
    errors = facts.documents["rag_predictions.json"]["errors"]
    said = {row["question_id"]: row["message"] for row in errors if row["kind"] == "not_evaluated"}
    assert said == dict.fromkeys(
        ("terms", "test_one_call-1", "test_two_calls-1"), "Timeout (>1.0s) from pytest-timeout."
    )
    # pytest-timeout may print the stacks of all threads, ours among them, into the captured output.
    shown = facts.text.partition("ERROR at setup of terms")[2].partition("\n___")[0].partition(" Captured ")[0]
    assert "Timeout (>1.0s) from pytest-timeout." in shown
    assert "pytest_ragcheck" not in shown


@pytest.mark.parametrize(("way", "left"), [([], {}), (["-n2"], {"pass": 0, "fail": 2, "error": 2, "skipped": 1})])
def test_a_timeout_by_thread_ends_the_process(way: list[str], left: dict[str, int], project: Path) -> None:
    extend_conftest(project, HANGING)
    options = ("-p", "no:randomly", *way, "--timeout-method=thread", "billing.rag.yaml")
    facts = run_sample(project, *options)
    assert facts.exit_status == 1
    assert facts.documents.get("rag_summary.json", {}).get("counts", {}) == left


@two_ways
def test_fixtures_may_be_async_and_async_tests_may_use_ours(way: list[str], project: Path) -> None:
    (project / "pytest.ini").write_text(
        "[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n", encoding="utf-8"
    )
    (project / "own" / "conftest.py").write_text(
        "import asyncio, pytest\n\n"
        "@pytest.fixture\n"
        "async def rag_client(rag_client):\n"
        "    await asyncio.sleep(0)\n"
        "    yield rag_client\n",
        encoding="utf-8",
    )
    (project / "own" / "own.json").rename(project / "own" / "own.rag.json")
    (project / "own" / "test_own.py").write_text(
        "import asyncio, pytest\n\n"
        "@pytest.mark.rag_questions('own.rag.json')\n"
        "async def test_own(rag_result):\n"
        "    await asyncio.sleep(0)\n"
        "    rag_result.assert_passed()\n",
        encoding="utf-8",
    )
    facts = run_sample(project, *way, "own")
    assert facts.outcomes == {
        "own.own.rag.json::own-good": "passed",
        "own.own.rag.json::own-bad": "failure",
        "own.test_own::test_own[own-good]": "passed",
        "own.test_own::test_own[own-bad]": "failure",
    }


@rows_of("test_every_repetition_is_a_dataset_of_its_own")
def test_every_repetition_is_a_dataset_of_its_own(row: Row, way: str, project: Path, ordinary: Facts) -> None:
    facts = run_sample(project, *options_of(row, way))
    assert facts.exit_status == ordinary.exit_status
    assert facts.asked == ordinary.asked + ordinary.asked
    # Each repeat of a test looks for a snapshot under its own name.
    ours = Counter(outcome for name, outcome in ordinary.outcomes.items() if "snapshot" not in name)
    assert Counter(outcome for name, outcome in facts.outcomes.items() if "snapshot" not in name) == ours + ours
    once, twice = ordinary.documents["rag_summary.json"], facts.documents["rag_summary.json"]
    assert twice["counts"] == {verdict: 2 * times for verdict, times in once["counts"].items()}
    assert twice["overall_metrics"] == once["overall_metrics"]
    assert twice["datasets"]["billing[1-2]"] == twice["datasets"]["billing[2-2]"] == once["datasets"]["billing"]
    assert {"cities__cities[Paris-2-2]", "own__own[test_own][2-2]"} <= twice["datasets"].keys()
    assert twice["complete"]


@rows_of("test_without_a_terminal_only_the_text_is_missing")
def test_without_a_terminal_only_the_text_is_missing(row: Row, way: str, project: Path, ordinary: Facts) -> None:
    facts = run_sample(project, *options_of(row, way))
    assert facts.text == ""
    assert facts.outcomes == ordinary.outcomes
    assert facts.exit_status == ordinary.exit_status
    assert facts.documents == ordinary.documents


@rows_of("test_a_root_elsewhere_has_the_results_and_names_datasets_by_file")
def test_a_root_elsewhere_has_the_results_and_names_datasets_by_file(
    row: Row, way: str, project: Path, ordinary: Facts
) -> None:
    elsewhere = project.parent / "elsewhere"
    elsewhere.mkdir()
    options = options_of(row, way)
    facts = run_sample(project, *options, output=elsewhere / "ragcheck-results")
    assert facts.exit_status == ordinary.exit_status
    assert Counter(facts.outcomes.values()) == Counter(ordinary.outcomes.values())
    assert facts.asked == ordinary.asked
    assert sorted(facts.documents["rag_summary.json"]["datasets"]) == sorted(
        name.rpartition("__")[2] for name in ordinary.documents["rag_summary.json"]["datasets"]
    )
    assert not (project / "ragcheck-results").exists()


@rows_of("test_a_folder_may_have_any_name")
def test_a_folder_may_have_any_name(row: Row, way: str, tmp_path: Path, ordinary: Facts) -> None:
    project = write_sample(tmp_path / "Prüf ordner 检 'a' %d")
    assert_same(run_sample(project, *options_of(row, way)), ordinary)


@pytest.fixture
def read_only(project: Path) -> Iterator[list[str]]:
    """The command under which the project cannot be written to; empty where its rights see to that."""
    if os.geteuid() == 0:
        yield read_only_mount(project)
        return
    folders = [project, *(path for path in project.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    yield []
    for folder in folders:
        folder.chmod(stat.S_IRWXU)


def read_only_mount(project: Path) -> list[str]:
    mount = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && cd "$0" && exec "$@"'
    command = ["unshare", "--mount", "sh", "-c", mount, str(project)]
    if shutil.which("unshare") is None or subprocess.run([*command, "true"], check=False).returncode != 0:
        pytest.skip("root can write everywhere, and no read-only mount can be made here")
    return command


@rows_of("test_a_read_only_root_wants_another_folder_for_the_results")
def test_a_read_only_root_wants_another_folder_for_the_results(
    row: Row, way: str, project: Path, read_only: list[str], ordinary: Facts
) -> None:
    options = options_of(row, way)
    (project.parent / "asked.txt").touch()
    refused = run_sample(project, *(each for each in options if each not in row.options), prefix=read_only)
    assert refused.exit_status == pytest.ExitCode.USAGE_ERROR
    assert not refused.asked
    assert re.search(
        r"(?m)^ERROR: ragcheck: \S+: cannot be written \((Read-only file system|Permission denied)\)\. "
        r"Free some space, allow writing there, or use another folder\. Name it with --rag-output\.$",
        refused.text,
    )
    results = project.parent / "results"
    there = replace(ordinary, text=ordinary.text.replace("results: ragcheck-results/", f"results: {results}/"))
    assert_same(run_sample(project, *options, output=results, prefix=read_only), there)
