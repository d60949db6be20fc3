"""`--rag-dataset`: the questions of a dataset as items beside those of question files."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.cli import main
from tests.canned import good
from tests.harness import three_ways, two_ways
from tests.questions.datasets.sources import OWN
from tests.servers.fake_endpoint import FakeEndpoint, json_reply

if TYPE_CHECKING:
    from tests.harness import Project

CONFTEST = """
from pathlib import Path

import pytest

from pytest_ragcheck import RagClient

WRONG = {"Who founded the sailors' library?"}


@pytest.fixture(scope="session")
def rag_client():
    def say(question):
        with (Path(__file__).parent / "asked.txt").open("a", encoding="utf-8") as log:
            log.write(question + "\\n")
        answer = "Nobody told me." if question in WRONG else f"{question} Yes."
        return {"answer": answer, "contexts": [answer]}

    return RagClient.from_callable(say)
"""

RAGBENCH = "--rag-dataset=ragbench:hagrid=ragbench.jsonl"
HOTPOTQA = "--rag-dataset=hotpotqa=hotpotqa.json"
KEYLESS = ("--rag-judge=none", "--rag-min=f1=0")
# Not below any answer but the one that has no word of the expected answer's.
STRICT = ("--rag-judge=none", "--rag-min=f1=0.01")


@pytest.fixture(autouse=True)
def harbour(project: Project) -> None:
    """The datasets' own files, and a system that is wrong on one question."""
    project.write("conftest.py", CONFTEST)
    for path in OWN.values():
        shutil.copy(path, project.folder)


def collected(project: Project, *arguments: str) -> list[str]:
    return [line for line in project.run("--co", "-q", *arguments).lines if "::" in line]


@two_ways
def test_a_sample_without_a_dataset_is_named_because_question_files_are_asked_whole(project: Project) -> None:
    project.ask(good("terms"), good("prices"))
    run = project.run("--rag-samples=1", *KEYLESS)
    assert run.outcomes == {"passed": 2}
    assert "rag_samples samples rag_dataset alone; question files are asked whole" in run.lines


@three_ways
def test_a_dataset_s_questions_run_once_each_and_their_results_are_complete(project: Project) -> None:
    run = project.run(RAGBENCH, HOTPOTQA, "--rag-samples=5", *STRICT)
    assert run.outcomes == {"passed": 7, "failed": 1}
    assert len(run.asked) == len(set(run.asked)) == 8
    assert "FAILED ragbench:hagrid::hagrid_4" in run.text
    assert run.summary["complete"] is True
    assert {name: numbers["origin"] for name, numbers in run.summary["datasets"].items()} == {
        "ragbench:hagrid": {
            "source": "ragbench.jsonl", "split": None, "available": 8, "left_out": 0, "samples": 5, "seed": 0,
        },
        "hotpotqa": {"source": "hotpotqa.json", "split": None, "available": 3, "left_out": 0, "samples": 5, "seed": 0},
    }  # fmt: skip
    assert {name.partition("-")[0] for name in run.files} == {
        "hotpotqa_questions.json", "rag_predictions.json", "rag_summary.json", "ragbench_hagrid",
    }  # fmt: skip
    (written,) = (project.folder / "ragcheck-results").glob("ragbench_hagrid-*_questions.json")
    assert json.loads(written.read_bytes())["num_questions"] == 5


def test_the_header_says_which_questions_are_taken(project: Project) -> None:
    run = project.run(RAGBENCH, HOTPOTQA, "--rag-samples=5@7", *KEYLESS)
    assert "ragcheck: ragbench:hagrid: 5 of 8 questions (seed 7) of ragbench.jsonl" in run.lines
    assert "ragcheck: hotpotqa: all 3 questions of hotpotqa.json" in run.lines


def test_a_larger_sample_has_the_questions_of_a_smaller_one(project: Project) -> None:
    three, five = (collected(project, RAGBENCH, f"--rag-samples={size}") for size in (3, 5))
    assert (len(three), len(five)) == (3, 5)
    assert set(three) < set(five)
    other = collected(project, RAGBENCH, "--rag-samples=3@1")
    assert set(other) != set(three)


def test_datasets_run_alone_unless_a_path_is_given(project: Project) -> None:
    project.write("test_own.py", "def test_own(): pass\n")
    assert collected(project, HOTPOTQA) == ["hotpotqa::5a8b0001", "hotpotqa::5a8b0002", "hotpotqa::5a8b0003"]
    assert collected(project, HOTPOTQA, "test_own.py") == ["test_own.py::test_own", *collected(project, HOTPOTQA)]
    assert collected(project, HOTPOTQA, ".")[0] == "test_own.py::test_own"


def test_node_ids_and_dataset_names_can_be_arguments(project: Project) -> None:
    run = project.run(RAGBENCH, HOTPOTQA, *KEYLESS, "hotpotqa::5a8b0002", "ragbench:hagrid::hagrid_1")
    assert run.outcomes == {"passed": 2}
    assert len(run.asked) == 2
    assert "partial: 9 of the collected questions were not run" in run.lines
    whole = project.run(RAGBENCH, HOTPOTQA, *KEYLESS, "hotpotqa", "hotpotqa::5a8b0002")
    assert (whole.outcomes, whole.summary["complete"]) == ({"passed": 3}, True)


def test_a_node_id_works_from_below_the_root_folder_as_it_is_shown_there(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("pytest.ini", "[pytest]\nrag_dataset = hotpotqa=hotpotqa.json\n")
    project.write("below/empty.txt", "")
    monkeypatch.chdir(project.folder / "below")
    run = project.run(*KEYLESS, "../hotpotqa::5a8b0002", "-rA", "-c", str(project.folder / "pytest.ini"))
    assert run.outcomes == {"passed": 1}
    assert "PASSED ../hotpotqa::5a8b0002" in run.lines


def test_workers_get_the_ids_of_the_given_questions(project: Project) -> None:
    project.write("test_own.py", "def test_own(): pass\n")
    run = project.run("-n1", RAGBENCH, HOTPOTQA, *KEYLESS, "hotpotqa::5a8b0002")
    assert run.outcomes == {"passed": 1}
    assert "partial: 2 of the collected questions were not run" in run.lines


def test_a_node_id_that_the_run_does_not_have_is_said(project: Project) -> None:
    run = project.run(HOTPOTQA, "--rag-samples=2", *KEYLESS, "hotpotqa::5a8b0001", "hotpotqa::other")
    assert run.exit_status == 2
    assert (
        "not found: hotpotqa::other\nIt is not among the 2 questions that the run takes from the dataset: check "
        "--rag-samples."
    ) in run.text


def test_keywords_and_the_last_failed_select_among_them(project: Project) -> None:
    project.write("test_own.py", "def test_own(): assert 0\n")
    assert collected(project, RAGBENCH, "-k", "hagrid_3") == ["ragbench:hagrid::hagrid_3"]
    first = project.run(RAGBENCH, "test_own.py", *STRICT)
    assert first.outcomes == {"passed": 7, "failed": 2}
    again = project.run(RAGBENCH, "test_own.py", *STRICT, "--lf")
    # pytest leaves out the files without a failure, and takes a dataset for one.
    assert again.outcomes == {"failed": 2, "deselected": 7}


@two_ways
def test_the_newest_first_option_sorts_them_too(project: Project) -> None:
    assert project.run(RAGBENCH, *KEYLESS, "--nf").outcomes == {"passed": 8}


@two_ways
def test_the_hooks_of_the_root_folder_are_called_for_them(project: Project) -> None:
    project.extend_conftest(
        """
def pytest_generate_tests(metafunc):
    metafunc.fixturenames.append("language")
    metafunc.parametrize("language", ["en"])

def pytest_runtest_setup(item):
    if "hagrid_3" in item.name:
        pytest.skip("by the hook")
"""
    )
    run = project.run(RAGBENCH, *KEYLESS)
    assert run.outcomes == {"passed": 7, "skipped": 1}
    assert list(run.summary["datasets"]) == ["ragbench:hagrid[en]"]


def test_another_variant_of_a_fixture_is_another_item(project: Project) -> None:
    project.extend_conftest(
        "@pytest.fixture(params=['short', 'long'], autouse=True)\ndef style(request):\n    return request.param\n"
    )
    assert collected(project, HOTPOTQA, "hotpotqa::5a8b0001") == [
        "hotpotqa::5a8b0001[short]", "hotpotqa::5a8b0001[long]",
    ]  # fmt: skip
    assert collected(project, HOTPOTQA, "hotpotqa::5a8b0001[long]") == ["hotpotqa::5a8b0001[long]"]


def test_a_path_is_seen_from_where_it_is_typed_and_one_in_the_ini_file_from_the_root(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("pytest.ini", "[pytest]\nrag_dataset = hotpotqa=data/h.json ragbench=ragbench.jsonl\n")
    (project.folder / "data").mkdir()
    (project.folder / "hotpotqa.json").rename(project.folder / "data/h.json")
    assert len(collected(project)) == 11
    monkeypatch.chdir(project.folder / "data")
    assert len(collected(project, "--rag-dataset=hotpotqa=h.json")) == 3


@two_ways
def test_wrong_pairs_of_dataset_and_tier_are_refused_before_anything_is_asked(project: Project) -> None:
    run = project.run(HOTPOTQA, "--rag-dataset=squad_v2=squad_v2.json", "--rag-dataset=golden=golden.json", *KEYLESS)
    assert (run.exit_status, run.asked) == (4, [])
    assert (
        "ERROR: ragcheck: --rag-dataset: the tier 'end_to_end' is not supported by squad_v2 (supports generation), "
        "golden (supports generation). Choose a tier that they support with --rag-tier, or leave them out."
    ) in run.stderr


def test_a_foreign_file_is_a_collection_error_that_says_what_was_expected_and_found(project: Project) -> None:
    run = project.run("--rag-dataset=hotpotqa=golden.json", *KEYLESS)
    assert run.asked == []
    assert "golden.json: row 1: expected a list of pairs of title and sentences under 'context', found the" in run.text
    assert "hotpotqa is read from a JSON list of" in run.text


def test_a_question_file_of_the_same_name_is_refused(project: Project) -> None:
    project.write("own.rag.json", json.dumps({"dataset_name": "hotpotqa", "questions": ["Who?"]}))
    run = project.run(HOTPOTQA, "own.rag.json", *KEYLESS)
    assert (
        "hotpotqa:1: the dataset name 'hotpotqa' is also that of own.rag.json. Give one of them another dataset_name."
    ) in run.lines


FAQ = """

def read_faq(rows, dataset_name):
    from pytest_ragcheck import Question
    for row in rows:
        yield Question(dataset_name=dataset_name, id=row.text("key"), question=row.text("q"), expected_answer=row["a"])


def pytest_ragcheck_datasets():
    from pytest_ragcheck import Dataset
    return [Dataset(name="faq", tests="our own", tiers=("end_to_end",), read=read_faq, subsets=("shop",))]
"""


def test_a_conftest_file_adds_datasets(project: Project) -> None:
    project.extend_conftest(FAQ)
    project.write("faq.jsonl", '{"key": 1, "q": "Who?", "a": "Ann"}\n{"key": 2, "q": "Why?", "a": "So"}\n')
    run = project.run("--rag-dataset=faq:shop=faq.jsonl", *KEYLESS, "-v")
    assert run.outcomes == {"passed": 2}
    assert sorted(run.asked) == ["Who?", "Why?"]
    assert "faq:shop::1" in run.text


OWN_QUESTION = """
from pytest_ragcheck import Dataset, Question

def cited(question, answer):
    return 0.5

def read_faq(rows, dataset_name):
    yield from (Question(dataset_name="other", id="a", question="Who?", {values}) for row in rows)

def pytest_ragcheck_metrics():
    return [cited]

def pytest_ragcheck_datasets():
    return [Dataset(name="faq", tests="our own", tiers=("end_to_end",), read=read_faq)]
"""


def test_questions_of_an_own_dataset_may_have_tags_and_thresholds_of_own_metrics(project: Project) -> None:
    project.extend_conftest(OWN_QUESTION.replace("{values}", 'tags=("smoke",), thresholds={"cited": 0.6}'))
    project.write("faq.json", "[{}]")
    run = project.run("--rag-dataset=faq=faq.json", *KEYLESS, "--strict-markers", "-m", "smoke")
    assert run.outcomes == {"failed": 1}
    assert run.predictions["predictions"][0]["dataset_name"] == "faq"


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (
            'thresholds={"cites": 1}',
            "question 'a': thresholds: there is no metric 'cites'; the metrics are answer_correctness, ",
        ),
        (
            'gold_passages=["x"]',
            "question 'a': gold_passages is ['x']; give a tuple of GoldPassage objects, with text='' for none.",
        ),
    ],
)
def test_a_question_of_an_own_dataset_that_cannot_be_asked_is_refused(
    project: Project, values: str, problem: str
) -> None:
    project.extend_conftest(OWN_QUESTION.replace("{values}", values))
    project.write("faq.json", "[{}]")
    run = project.run("--rag-dataset=faq=faq.json", *KEYLESS)
    assert run.exit_status == pytest.ExitCode.INTERRUPTED
    assert f"faq.json: {problem}" in run.section("ERROR collecting faq")[0]


def test_a_row_that_an_own_dataset_gives_back_is_refused(project: Project) -> None:
    project.extend_conftest(FAQ.replace("def read_faq", "def read_faq(rows, name): return rows\n\ndef unused"))
    project.write("faq.json", '[{"q": "Who?"}]')
    run = project.run("--rag-dataset=faq=faq.json", *KEYLESS)
    assert "faq.json: the dataset's read returned Row(" in run.section("ERROR collecting faq")[0]


def test_a_dataset_without_passages_puts_nothing_into_the_system(project: Project) -> None:
    project.write("conftest.py", FAQ)
    project.write("faq.jsonl", '{"key": 1, "q": "Who?", "a": "Ann"}\n')
    with FakeEndpoint(json_reply({"answer": "Ann", "contexts": []})) as endpoint:
        run = project.run("--rag-dataset=faq=faq.jsonl", f"--rag-url={endpoint.url}", *KEYLESS)
        assert [request.json["query"] for request in endpoint.requests] == ["Who?"]
    assert (run.outcomes, "documents" in run.text) == ({"passed": 1}, False)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (
            "['faq']",
            "pytest_ragcheck_datasets returned 'faq', not a dataset. Return a list of pytest_ragcheck.Dataset.",
        ),
        (
            "[pytest_ragcheck.Dataset(name='golden', tests='', tiers=('generation',), read=len)]",
            "Dataset 'golden': there is another of this name. Give yours another.",
        ),
    ],
)  # fmt: skip
def test_what_a_conftest_file_gives_and_is_no_dataset_is_refused(project: Project, given: str, problem: str) -> None:
    project.extend_conftest(f"def pytest_ragcheck_datasets():\n    import pytest_ragcheck\n    return {given}\n")
    run = project.run(HOTPOTQA)
    assert run.exit_status == 4
    assert f"ERROR: ragcheck: {problem}" in run.stderr


def test_a_smaller_sample_misses_nothing_of_its_baseline(project: Project) -> None:
    project.run(RAGBENCH, *KEYLESS, "--rag-output=before")
    baseline = "--rag-baseline=before/rag_predictions.json"
    whole = json.loads((project.folder / "before/rag_predictions.json").read_text(encoding="utf-8"))
    assert whole["reach"]["searched"] == ["ragbench:hagrid::*"]
    run = project.run(RAGBENCH, *KEYLESS, "--rag-samples=4", baseline)
    assert "searched" not in run.predictions["reach"]
    assert run.outcomes == {"passed": 4}
    assert run.exit_status == 0


def test_a_question_that_went_away_within_the_sample_is_missed(project: Project) -> None:
    project.run(RAGBENCH, *KEYLESS, "--rag-samples=4", "--rag-output=before")
    lines = (project.folder / "ragbench.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    project.write("ragbench.jsonl", "".join(line for line in lines if '"hagrid_6"' not in line))
    run = project.run(RAGBENCH, *KEYLESS, "--rag-samples=4", "--rag-baseline=before/rag_predictions.json")
    assert run.exit_status == 1
    assert "  hagrid_6: PASS before: What is the name of the harbour master's dog?" in run.text
    assert run.predictions["reach"]["searched"] == ["ragbench:hagrid::hagrid_6"]


def test_a_run_without_the_dataset_or_of_single_questions_misses_none_of_it(project: Project) -> None:
    project.run(RAGBENCH, *KEYLESS, "--rag-output=before")
    project.write("own.rag.json", '["Who?"]')
    baseline = "--rag-baseline=before/rag_predictions.json"
    assert project.run(*KEYLESS, baseline).exit_status == 0
    assert project.run(RAGBENCH, "ragbench:hagrid::hagrid_1", *KEYLESS, baseline).exit_status == 0


def test_the_files_of_a_run_that_skipped_questions_can_be_checked_and_judged_again(project: Project) -> None:
    run = project.run(RAGBENCH, "--rag-tier=retrieval", "--rag-judge=none")
    assert run.summary["counts"]["skipped"] == 1
    assert main(["check", "ragcheck-results"]) == 0
    assert main(["rejudge", "ragcheck-results", "--rag-judge=none", "--rag-output=again"]) == 1
    again = json.loads(project.folder.joinpath("again/rag_summary.json").read_bytes())
    assert again["counts"] == run.summary["counts"]
    origin = again["datasets"]["ragbench:hagrid"]["origin"]
    assert origin["source"] == "ragbench.jsonl"
    assert origin == run.summary["datasets"]["ragbench:hagrid"]["origin"]
    project.folder.joinpath("ragcheck-results/rag_summary.json").unlink()
    assert main(["rejudge", "ragcheck-results", "--rag-judge=none", "--rag-output=again"]) == 1
    again = json.loads(project.folder.joinpath("again/rag_summary.json").read_bytes())
    assert "origin" not in again["datasets"]["ragbench:hagrid"]


def test_a_question_without_gold_passages_beside_others_fails_judged_again_too(project: Project) -> None:
    options = ("--rag-judge=none", "--rag-min=recall_at_5=0.5")
    run = project.run(RAGBENCH, *options)
    assert main(["rejudge", "ragcheck-results", *options, "--rag-output=again"]) == 1
    again = json.loads(project.folder.joinpath("again/rag_predictions.json").read_bytes())
    assert again["predictions"] == run.predictions["predictions"]
