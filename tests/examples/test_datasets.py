"""Standard datasets over the example server, from small files in their official shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.cli import main
from pytest_ragcheck.questions.datasets.registry import known_datasets
from pytest_ragcheck.questions.question import TIERS
from tests.examples.conftest import running
from tests.harness import two_ways
from tests.questions.datasets.sources import OWN, SLICES
from tests.servers.fake_endpoint import FakeEndpoint, json_reply

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.examples.conftest import RunningServer
    from tests.harness import Project, Run

SUPPORTED = known_datasets()

GENERATION = {"ragbench": 8, "squad_v2": 9, "golden": 3}
"""By dataset that runs with its passages how many questions its file has."""

END_TO_END = {"ragbench": 8, "qasper": 4, "hotpotqa": 3, "msmarco": 4}
"""By dataset that the system has to retrieve for how many questions its file has."""

RETRIEVAL = ("recall", "precision", "ndcg", "hit_rate", "mrr", "map")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Without a document."""
    with running(tmp_path_factory.mktemp("corpus")) as started:
        yield started


def run_over(project: Project, server: RunningServer, *arguments: str, judge: str = "offline") -> Run:
    return project.run(f"--rag-url={server.url}/query", f"--rag-judge={judge}", *arguments)


def given(*names: str) -> list[str]:
    return [f"--rag-dataset={name}={OWN[name]}" for name in names]


def of_retrieval(numbers: dict[str, Any]) -> dict[str, float]:
    return {metric: mean for metric, mean in numbers["overall_metrics"].items() if metric.startswith(RETRIEVAL)}


@two_ways
def test_in_the_tier_generation_every_question_has_an_outcome_and_nothing_is_uploaded(
    project: Project, server: RunningServer
) -> None:
    run = run_over(project, server, *given(*GENERATION), "--rag-tier=generation")
    datasets = run.summary["datasets"]
    assert {name: sum(numbers["counts"].values()) for name, numbers in datasets.items()} == GENERATION
    assert run.counts["error"] == run.counts["skipped"] == 0
    assert {numbers["tier"] for numbers in datasets.values()} == {"generation"}
    assert all(not of_retrieval(numbers) for numbers in datasets.values())
    # The server answers in the passages' own sentences.
    assert all(numbers["overall_metrics"]["groundedness"] >= 0.95 for numbers in datasets.values())
    assert all(numbers["overall_metrics"]["answer_correctness"] > 0 for numbers in datasets.values())
    assert server.documents() == {}
    assert any(line.split() == ["by", "dataset", *GENERATION] for line in run.lines)


@two_ways
def test_end_to_end_the_documents_go_up_are_found_and_are_gone_again(project: Project, server: RunningServer) -> None:
    run = run_over(project, server, *given(*END_TO_END))
    datasets = run.summary["datasets"]
    assert {name: sum(numbers["counts"].values()) for name, numbers in datasets.items()} == END_TO_END
    assert run.counts["error"] == run.counts["skipped"] == 0
    assert {numbers["tier"] for numbers in datasets.values()} == {"end_to_end"}
    for numbers in datasets.values():
        assert min(numbers["overall_metrics"][metric] for metric in ("recall_at_5", "mrr", "map", "groundedness")) > 0.5
    assert server.documents() == {}


@pytest.mark.parametrize("tier", TIERS)
def test_rows_of_the_published_files_have_an_outcome_each(project: Project, server: RunningServer, tier: str) -> None:
    published = {
        "ragbench": SLICES / "ragbench" / "raw_row.constructed.jsonl",
        "squad_v2": SLICES / "squad_v2" / "dev-v2.0.slice.json",
        "qasper": SLICES / "qasper" / "qasper-v0.1.slice.json",
        "hotpotqa": SLICES / "hotpotqa" / "hotpot_dev_distractor_v1.slice.json",
    }
    if not all(path.exists() for path in published.values()):
        pytest.skip("the slices of the published files do not lie beside the checkout")
    names = [name for name in published if tier in SUPPORTED[name].tiers]
    chosen = [f"--rag-dataset={name}={published[name]}" for name in names]
    run = run_over(project, server, *chosen, f"--rag-tier={tier}", "--rag-samples=4")
    datasets = run.summary["datasets"]
    assert {name: sum(numbers["counts"].values()) for name, numbers in datasets.items()} == {
        name: 1 if name == "ragbench" else 4 for name in names
    }
    assert run.counts["error"] == run.counts["skipped"] == 0
    for numbers in datasets.values():
        found = of_retrieval(numbers)
        assert found["recall_at_5"] > 0 < found["mrr"] if tier != "generation" else not found
    assert server.documents() == {}


def test_the_same_questions_of_ragbench_have_scores_in_both_tiers(project: Project, server: RunningServer) -> None:
    means = {}
    for tier in ("generation", "end_to_end"):
        run = run_over(
            project, server, *given("ragbench"), "--rag-samples=5", f"--rag-tier={tier}", "-o", "rag_metrics=+ragas"
        )
        means[tier] = run.summary["overall_metrics"]
        assert run.summary["counts"]["error"] == 0
    generation, end_to_end = means.values()
    measured = {name for name in generation if name.startswith("offline_")} | {"groundedness", "answer_correctness"}
    assert len(measured) == 6
    assert all(generation[name] > 0 and end_to_end[name] > 0 for name in measured)
    assert end_to_end.keys() - generation.keys() == {name for name in end_to_end if name.startswith(RETRIEVAL)}


@pytest.mark.parametrize(
    ("name", "tier"), [(name, tier) for name in OWN for tier in TIERS if tier not in SUPPORTED[name].tiers]
)
def test_a_wrong_pair_is_refused_and_the_server_sees_no_request(project: Project, name: str, tier: str) -> None:
    with FakeEndpoint(json_reply({"answer": "x", "contexts": []})) as endpoint:
        run = project.run(*given(name), f"--rag-tier={tier}", f"--rag-url={endpoint.url}", "--rag-judge=offline")
        assert (run.exit_status, endpoint.requests) == (4, [])
    supported = ", ".join(SUPPORTED[name].tiers)
    assert f"the tier '{tier}' is not supported by {name} (supports {supported})." in run.stderr


@pytest.mark.parametrize("judge", ["offline", "none"])
@pytest.mark.parametrize("source", ["own", "slice"])
def test_abstention_of_squad_v2_from_a_question_file(
    project: Project, server: RunningServer, source: str, judge: str
) -> None:
    path = OWN["squad_v2"] if source == "own" else SLICES / "squad_v2" / "dev-v2.0.slice.json"
    if not path.exists():
        pytest.skip("the SQuAD v2 slice does not lie beside the checkout")
    written = project.folder / "squad_v2_questions.json"
    assert main(["dataset", "squad_v2", str(path), "-o", str(written)]) == 0
    run = run_over(project, server, str(written), judge=judge)
    assert (run.summary["tier"], run.counts["error"], run.counts["skipped"]) == ("generation", 0, 0)
    rates = run.summary["abstention"]
    assert 0 < rates["unanswerable_accuracy"] < 1
    assert 0 <= rates["fpr"] < 1
    assert rates["fnr"] == pytest.approx(1 - rates["unanswerable_accuracy"])
    # The paragraph goes along with the questions that it does not answer too.
    assert all(row["contexts"] for row in run.predictions["predictions"])
    if judge == "none":
        assert run.counts["fail"] == 0
    else:
        unanswerable = [row for row in run.predictions["predictions"] if row["thresholds"] == {"abstained": 1.0}]
        assert {row["verdict"] for row in unanswerable} == {"PASS", "FAIL"}


def test_a_passage_wins_over_a_document_that_says_otherwise(project: Project, tmp_path: Path) -> None:
    (tmp_path / "light.txt").write_text("The lighthouse of Marrow Point was built in 1999.", encoding="utf-8")
    with running(tmp_path) as started:
        run = run_over(project, started, *given("squad_v2"), "--rag-tier=generation", "squad_v2::56f01")
    (row,) = run.document("rag.partial_predictions.json")["predictions"]
    assert "1871" in row["prediction"]
    assert "1999" not in row["prediction"]
