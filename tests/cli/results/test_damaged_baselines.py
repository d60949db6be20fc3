"""A damaged baseline is refused with file and place: by a run with exit status 4, by a command with 2."""

from __future__ import annotations

import copy
import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.cli import main
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.judging.judgement import Judgement
from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.report.files.result_files import write_results
from pytest_ragcheck.summary.aggregate import aggregate
from pytest_ragcheck.summary.gate.baseline_reader import read_baseline
from pytest_ragcheck.summary.gate.gate_replies import GateReplies
from pytest_ragcheck.summary.gate.procedure.compared_question import KnownRun, Look
from pytest_ragcheck.verdict.verdict import Verdict
from tests.cli.results.test_damaged_files import mutate, places
from tests.making import a_question, a_record, an_error, some_outcomes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.harness import Project

    Ragcheck = Callable[..., tuple[int, str, str]]

FORMS = ("full", "compact")
MUTATIONS = [12, pytest.param(100, marks=pytest.mark.exhaustive)]
NOW = Look(answer="0" * 16, scores={"f1": 0.5}, passed=False, fresh=True)
EXAMINED = GateReplies(
    gate="regression", thresholds={"f1": 0.5}, now=NOW, known=(KnownRun(looks=(NOW,)),),
    replies=(NOW, None, (NOW.scores,)), judged={"0" * 16: (NOW.scores,)}, drift=(NOW.scores, NOW.scores),
    saved_runs=("2126-11-05T12:30:00+00:00",),
)  # fmt: skip
RECORDS = (
    a_record(
        question=a_question("terms", metadata={"owner": "billing"}),
        contexts=("Refunds are possible for 30 days.",),
        source_ids=("terms.txt",),
        latency_seconds=0.25,
        repeated={"groundedness": ((0.25, 0.75),)},
        judgement=Judgement(groundedness=0.5, abstained=False, votes={"groundedness": [0.5, 0.5]}, served_by="m fp_1"),
        material="0" * 64,
    ),
    a_record("prices", verdict=Verdict.FAIL, reason="low", evidence=EXAMINED.to_document(), maximums={"cost_usd": 1.0}),
    an_error("hours"),
)


@pytest.fixture
def baseline(tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A baseline of the form, beside the results of a later run in `run`."""
    monkeypatch.chdir(tmp_path)
    outcomes = some_outcomes(*RECORDS)
    for name in ("run", "earlier"):
        write_results(outcomes, aggregate(outcomes), tmp_path / name, Redactor())
    at(tmp_path / "earlier" / "rag_predictions.json", "2126-11-01T00:00:00+00:00")
    if form == "full":
        return (tmp_path / "earlier" / "rag_predictions.json").rename(tmp_path / "base.json")
    assert main(["baseline", "save", "earlier", "-o", "base.json"]) == 0
    at(tmp_path / "earlier" / "rag_predictions.json", "2126-11-02T00:00:00+00:00")
    assert main(["baseline", "save", "earlier", "-o", "base.json"]) == 0
    capsys.readouterr()
    return tmp_path / "base.json"


def at(path: Path, ended: str) -> None:
    """Gives a predictions file another end of its run."""
    document = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**document, "timestamp": ended}), encoding="utf-8")


def refusal(path: Path) -> str:
    """The text that refuses the baseline; empty if it is accepted."""
    try:
        read_baseline(path, name=path.name)
    except UsageError as error:
        return str(error)
    return ""


def wrong(value: Any) -> Any:
    """A value of a type that no key with the value may have."""
    if isinstance(value, str):
        return 7
    return "a text"


@pytest.mark.parametrize("form", FORMS)
def test_a_value_of_another_type_is_refused_at_every_place(baseline: Path) -> None:
    document = json.loads(baseline.read_text(encoding="utf-8"))
    accepted, seen = [], set()
    for container, key, place in places(document, ""):
        if "metadata" in place or container[key] is None:
            continue
        seen.add(place)
        whole, container[key] = container[key], wrong(container[key])
        baseline.write_text(json.dumps(document), encoding="utf-8")
        said = refusal(baseline)
        if not said.startswith("base.json: "):
            accepted.append(place)
        container[key] = whole
    assert not accepted
    assert len(seen) > 60


@pytest.mark.parametrize("mutations", MUTATIONS)
@pytest.mark.parametrize("form", FORMS)
def test_no_mutation_leads_to_a_traceback_and_all_readers_agree(
    baseline: Path, ragcheck: Ragcheck, form: str, mutations: int
) -> None:
    chosen = random.Random(f"{form}{mutations}")
    beside = baseline.with_name("base.contexts.json")
    files = [path for path in (baseline, beside) if path.exists()]
    whole = {path: path.read_bytes() for path in files}
    refused = 0
    for number in range(mutations):
        for path, content in whole.items():
            path.write_bytes(content)
        damaged = chosen.choice([baseline, *files])
        content, what = mutate(whole[damaged], chosen)
        for command in commands():
            damaged.write_bytes(content)
            said = refusal(baseline)
            try:
                status, _, error = ragcheck(*command)
            except Exception as raised:
                raise AssertionError(f"mutation {number} of {damaged.name}, {command}: {what}") from raised
            assert (status == 2) is bool(error), f"mutation {number}, {command}: {what}: {error}"
            # The remedy differs by command.
            mistake = said.partition(": ")[2].partition(". ")[0]
            assert not said or (status, mistake in error) == (2, True), f"{number}, {command}: {what}: {error}"
            refused += bool(said)
    assert refused > 0


def commands() -> Iterator[tuple[str, ...]]:
    """The commands that read a baseline."""
    yield "compare", "base.json", "run/rag_predictions.json"
    yield "report", "run", "--baseline=base.json", "--gate=regression", "-o", "made.html"
    yield "report", "run", "--baseline=base.json", "--gate=each", "-o", "made.md"
    yield "baseline", "accept", "--results=run", "-o", "base.json"
    yield "baseline", "save", "run", "-o", "base.json"


@pytest.mark.parametrize("form", FORMS)
def test_a_run_refuses_a_damaged_baseline_with_exit_status_4(baseline: Path, project: Project) -> None:
    document = json.loads(baseline.read_text(encoding="utf-8"))
    (row, *_) = document["predictions"]
    damaged = copy.deepcopy(document)
    damaged["predictions"][0]["labels" if "labels" in row else "answers"] = 7
    baseline.write_text(json.dumps(damaged), encoding="utf-8")
    project.write("terms.rag.yaml", "- {id: terms, question: What?, expected_answer: 30 days}\n")
    run = project.run("--rag-url=http://localhost:9/", "--rag-judge=offline", f"--rag-baseline={baseline}")
    assert run.exit_status == pytest.ExitCode.USAGE_ERROR
    assert "found 7, expected " in run.stderr
    assert "base.json: predictions[0]." in run.stderr
