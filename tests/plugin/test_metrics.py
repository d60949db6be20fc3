"""The groups of `rag_metrics`, and metrics of one's own by the hook of a conftest.py."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from tests.canned import bad, good
from tests.harness import three_ways, two_ways

if TYPE_CHECKING:
    from tests.harness import Project

HOOK = """
closed = Path(__file__).parent / "closed.txt"

class Length:
    name = "length"
    async def score(self, question, answer):
        return len(answer.text) / 100
    async def aclose(self):
        with closed.open("a") as log:
            log.write("closed\\n")

def pytest_ragcheck_metrics():
    return [Length()]
"""


def test_groups_without_the_judges_need_no_judge_and_assert_what_is_given(project: Project) -> None:
    project.conftest("@pytest.fixture(scope='session')\ndef rag_client():\n    return CannedRag()\n")
    project.ask(good("terms", expected_answer="The window"))
    run = project.run("-o", "rag_metrics=overlap", "--rag-min=f1=0.9")
    # 1 of 4 and of 1 words: the article does not count.
    assert run.verdicts == {"terms": "FAIL"}
    assert run.predictions["predictions"][0]["metrics"] == {"exact_match": 0.0, "f1": 0.4}
    assert any("; judge not asked; f1 >= 0.9; " in line for line in run.lines)
    assert run.summary["judge"] == {"kind": "none", "model": None, "url": None, "prompt_version": None}


@pytest.mark.parametrize("statement", ["pytest.skip('no model')", "pytest.importorskip('no_such_module')"])
def test_a_metric_that_skips_is_unscored_and_leaves_the_verdict(project: Project, statement: str) -> None:
    project.ask(good("terms"), bad("prices"))
    project.extend_conftest(
        f"def length(question, answer):\n    {statement}\n\ndef pytest_ragcheck_metrics():\n    return [length]\n"
    )
    run = project.run()
    assert run.verdicts == {"terms": "PASS", "prices": "FAIL"}
    assert run.outcomes == {"passed": 1, "failed": 1}
    assert all(row["unscored"]["length"].startswith("Skipped: ") for row in run.predictions["predictions"])


def test_a_run_that_leaves_out_the_judge_asserts_something_or_is_an_error(project: Project) -> None:
    project.conftest("@pytest.fixture(scope='session')\ndef rag_client():\n    return CannedRag()\n")
    gone = good("gone", answerable=False)
    project.ask(good("terms", expected_answer="The window"), gone, good("fees", must_mention="30 days"))
    run = project.run("-o", "rag_metrics=ragas", "--rag-judge=offline")
    assert run.verdicts == {"terms": "ERROR", "gone": "FAIL", "fees": "PASS"}
    assert run.errors_by_id == {
        "terms": (
            "nothing_to_assert",
            (
                "nothing is left to assert (rag_metrics leaves out the group judge). Write +GROUP in rag_metrics to "
                "keep it, assert a metric by rag_min, or give --rag-judge=none."
            ),
        )
    }
    assert "; only thresholds of questions are asserted; other questions are ERRORs; " in run.text
    assert project.run("-o", "rag_metrics=ragas", "--rag-judge=none").verdicts["terms"] == "PASS"
    assert project.run("-o", "rag_metrics=overlap", "--rag-max=latency_seconds=60").verdicts["terms"] == "PASS"


def test_a_weighted_score_says_what_it_is_without(project: Project) -> None:
    project.ask(good("terms", expected_answer="14 days"), good("hours"))
    weights = "rag_weights=groundedness=1 f1=1 ragas_faithfulness=1"
    run = project.run("-o", weights, "--rag-min=overall_score=0.9")
    # No word of "The window is 30 days." but "days": f1 = 2 * 1 / (4 + 2) = 1/3; (1 + 1/3) / 2.
    assert run.section(" terms ")[0] == "overall_score 0.67 < 0.90 (without ragas_faithfulness)"
    assert "overall_score without ragas_faithfulness on 2, f1 on 1" in run.lines
    rows = run.predictions["predictions"]
    assert [row["overall_score_lacks"] for row in rows] == [["ragas_faithfulness"], ["f1", "ragas_faithfulness"]]
    assert [row["metrics"]["overall_score"] for row in rows] == [0.666667, 1.0]


def test_questions_without_gold_among_others_with_gold_are_counted(project: Project) -> None:
    project.ask(good("terms", gold_passages=["Refunds are possible for 30 days."]), good("hours"))
    run = project.run()
    assert run.summary["overall_metrics"]["recall_at_5"] == 1.0
    assert run.summary["n_without_gold"] == run.summary["datasets"]["billing"]["n_without_gold"] == 1
    assert "retrieval not measured on 1: no gold passages" in run.lines


@pytest.mark.skipif(find_spec("rapidfuzz") is not None, reason="the extra lexical is installed")
def test_a_metric_group_that_is_not_installed_ends_the_run_before_the_first_question(
    project: Project,
) -> None:
    project.ask(good("terms"))
    refused = project.run("-o", "rag_metrics=+lexical")
    assert (refused.exit_status, refused.asked) == (4, [])
    text = 'the group lexical needs rapidfuzz and sacrebleu, not installed here: pip install "pytest-ragcheck[lexical]"'
    assert f"ERROR: ragcheck: rag_metrics: {text}, or leave the group out" in refused.stderr
    project.extend_conftest(
        "@pytest.fixture(scope='session')\ndef rag_settings(rag_settings):\n"
        "    return rag_settings.replace(metrics=('judge', 'lexical'))\n"
    )
    named = project.run()
    assert (named.outcomes, named.asked) == ({"error": 1}, [])
    assert f"rag_metrics: {text}, or leave the group out" in named.text


@three_ways
def test_it_is_measured_asserted_shown_written_and_closed(project: Project, way: str) -> None:
    project.ask(good("terms"), good("prices", thresholds={"length": 0.9}))
    project.extend_conftest(HOOK)
    run = project.run("--rag-min=length=0.1")
    assert run.verdicts == {"terms": "PASS", "prices": "FAIL"}
    # "The window is 30 days." has 22 characters.
    assert [row["metrics"]["length"] for row in run.predictions["predictions"]] == [0.22, 0.22]
    assert run.summary["overall_metrics"]["length"] == 0.22
    assert (project.folder / "closed.txt").exists()


def test_a_plain_aclose_is_called_too(project: Project) -> None:
    project.ask(good("terms"))
    project.extend_conftest(HOOK.replace("async def aclose", "def aclose"))
    run = project.run(subprocess=True)
    assert (run.exit_status, run.stderr) == (0, "")
    assert (project.folder / "closed.txt").read_text() == "closed\n"


@three_ways
@pytest.mark.parametrize("options", [(), ("-x",)])
def test_an_aclose_that_fails_is_a_line_of_the_report(project: Project, options: tuple[str, ...]) -> None:
    project.ask(bad("terms") if options else good("terms"), good("prices"))
    status = project.run(*options).exit_status
    raising = "raise OSError('gone, Authorization: Bearer sk-abcdef0123456789abcdef')"
    project.extend_conftest(HOOK.replace("with closed.open", f"{raising}\n        with closed.open"))
    run = project.run(*options)
    assert run.exit_status == status
    assert "Length.aclose() failed: OSError: gone, Authorization: Bearer [redacted]" in run.lines
    assert "Traceback" not in run.text + run.stderr


def test_a_recorded_score_outlives_a_change_of_the_metric_unless_its_name_changes(project: Project) -> None:
    project.ask(good("terms"))
    project.extend_conftest("def half(q, a): return 0.5\ndef pytest_ragcheck_metrics(): return [half]\n")
    project.run("--rag-output=recorded")
    project.extend_conftest(
        "def half(q, a): return 0.25\ndef new(q, a): return 0.25\ndef pytest_ragcheck_metrics(): return [half, new]\n"
    )
    replayed = project.run("--rag-replay=recorded/rag_predictions.json").scores["terms"]
    assert (replayed["half"], replayed["new"]) == (0.5, 0.25)


def test_one_that_never_works_is_shown_with_its_reason(project: Project) -> None:
    project.ask(good("terms"), good("prices"))
    project.extend_conftest("def pytest_ragcheck_metrics(): return [half]\ndef half(question): return 0.5\n")
    run = project.run()
    assert run.outcomes == {"passed": 2}
    assert "half not measured on 2: TypeError: half() takes 1 positional argument but 2 were given" in run.lines


def test_one_in_a_folder_deeper_down_is_heard_too(project: Project) -> None:
    project.ask(good("terms"), file="deep/billing.rag.yaml")
    project.write(
        "deep/conftest.py", "def pytest_ragcheck_metrics():\n    return [half]\n\ndef half(q, a): return 0.5\n"
    )
    run = project.run()
    assert run.summary["overall_metrics"]["half"] == 0.5


@two_ways
def test_a_folders_settings_may_name_its_own_metric_whichever_folder_is_run(project: Project) -> None:
    for folder, metric, value in (("a", "tone", 0.2), ("b", "tune", 0.9)):
        project.ask(good(folder), file=f"teams/{folder}/billing.rag.yaml")
        project.write(
            f"teams/{folder}/conftest.py",
            f"import pytest\n\ndef {metric}(q, a): return {value}\n"
            f"def pytest_ragcheck_metrics(): return [{metric}]\n\n"
            "@pytest.fixture(scope='session')\ndef rag_settings(rag_settings):\n"
            f"    return rag_settings.replace(min='{metric}=0.5')\n",
        )
    for arguments, verdicts in ((["teams/b"], {"b": "PASS"}), ([], {"a": "FAIL", "b": "PASS"})):
        # The option makes pytest read the settings before it reads the folders.
        for early in ([], ["--rag-threshold=0.7"]):
            run = project.run(*arguments, *early)
            assert run.verdicts == verdicts, run.text
    (row,) = [row for row in run.predictions["predictions"] if row["question_id"] == "a"]
    assert (row["thresholds"]["tone"], row["metrics"]["tone"]) == (0.5, 0.2)


OWN = "def {0}(q, a): return {1}\ndef pytest_ragcheck_metrics(): return [{0}]\n"
SHARED = "import pytest\n@pytest.mark.rag_questions('../b/b.rag.yaml')\ndef test_it(rag_result): pass\n"


@three_ways
def test_metrics_of_a_folder_hold_for_its_items_alone(project: Project, way: str) -> None:
    for name in ("a/a", "b/b", "b/deep/c", "d"):
        project.ask(good(name[-1]), file=f"{name}.rag.yaml")
    project.extend_conftest(OWN.format("everywhere", 0.1))
    project.write("a/conftest.py", OWN.format("tone", 0.2))
    project.write("b/conftest.py", OWN.format("tone", 0.6))
    project.write("b/deep/conftest.py", OWN.format("depth", 0.7))
    project.write("a/test_shared.py", SHARED)
    # pytest reads the settings before the folder `deep`.
    run = project.run("a", "b", "d.rag.yaml", "--rag-min=tone=0.5", "--rag-min=everywhere=0.1")
    rows = {row["dataset_name"]: row for row in run.predictions["predictions"]}
    own = {name: {each: row["metrics"].get(each) for each in ("tone", "depth")} for name, row in rows.items()}
    assert own == {
        "a__a": {"tone": 0.2, "depth": None},
        "b__b[test_it]": {"tone": 0.2, "depth": None},
        "b__b": {"tone": 0.6, "depth": None},
        "b__deep__c": {"tone": 0.6, "depth": 0.7},
        "d": {"tone": None, "depth": None},
    }
    assert all(row["metrics"]["everywhere"] == row["thresholds"]["everywhere"] == 0.1 for row in rows.values())
    assert run.errors_by_id == {}
    assert [name for name, row in rows.items() if row["verdict"] == "FAIL"] == ["a__a", "b__b[test_it]"]
    assert "tone not asserted on 1: it does not apply to the question" in run.lines


def test_two_metrics_of_one_name_that_hold_for_one_folder_stop_its_collection(project: Project) -> None:
    project.ask(good("a"), file="a/a.rag.yaml")
    project.ask(good("b", thresholds={"depth": 0.5}), file="a/deep/b.rag.yaml")
    project.ask(good("c", thresholds={"depth": 0.5}), file="c.rag.yaml")
    project.write("a/conftest.py", OWN.format("tone", 0.2))
    project.write("a/deep/conftest.py", OWN.format("depth", 0.6))
    run = project.run("--continue-on-collection-errors")
    assert run.verdicts == {"a": "PASS", "b": "PASS"}
    assert "question 'c' has a threshold for the unknown metric 'depth'. Choose from: " in run.text
    project.write("a/deep/conftest.py", OWN.format("tone", 0.6))
    project.ask(good("b"), file="a/deep/b.rag.yaml")
    project.ask(good("c"), file="c.rag.yaml")
    run = project.run("--continue-on-collection-errors")
    assert run.verdicts == {"a": "PASS", "c": "PASS"}
    assert "pytest_ragcheck_metrics: 'tone' is also the name of another metric: give it another name." in run.text


def test_what_is_no_metric_ends_the_run_before_the_first_question(project: Project) -> None:
    project.ask(good("terms"))
    project.extend_conftest("def pytest_ragcheck_metrics():\n    return [1]\n")
    run = project.run("--rag-threshold=0.5")
    assert run.exit_status == 4
    assert "ERROR: ragcheck: pytest_ragcheck_metrics: 1 is not a metric: give functions of (question" in run.stderr
    late = project.run()
    assert "ragcheck: pytest_ragcheck_metrics: 1 is not a metric" in late.text
    assert late.asked == []


def test_a_minimum_for_an_unmeasured_metric_names_what_can_be_asserted(project: Project) -> None:
    project.ask(good("terms"))
    project.extend_conftest(HOOK)
    run = project.run("--rag-min=lenght=0.1")
    assert run.exit_status == 4
    assert "ERROR: ragcheck: --rag-min: 'lenght=0.1' names no metric that can be asserted; did you mean 'length'?" in (
        run.stderr
    )
