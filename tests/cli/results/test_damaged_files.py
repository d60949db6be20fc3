"""A damaged result file ends a command with exit status 2 and a text, never with a traceback."""

from __future__ import annotations

import copy
import json
import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.report.files.result_files import write_results, write_shard
from pytest_ragcheck.summary.aggregate import aggregate
from tests.cli.results.test_convert import ABOUT, PER_QUESTION, RESULTS
from tests.making import some_outcomes
from tests.report.results import ERRORED, FAILED, PASSED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Ragcheck = Callable[..., tuple[int, str, str]]

MUTATIONS = [20, pytest.param(100, marks=pytest.mark.exhaustive)]
VALUES: tuple[Any, ...] = (
    *(None, True, -1, 1e308, float("nan"), float("inf"), 10**400, 0.5),
    *("", "a", "\ud800", "../../x", [], [1], [[]], {}, {"a": []}),
)

COMMANDS = {
    "report": ("report", "run", "-o", "made.html"),
    "report of a baseline": ("report", "whole", "--baseline=run", "--gate=regression", "-o", "made.html"),
    "trend": ("report", "run", "whole", "-o", "made.html"),
    "baseline": ("baseline", "save", "run", "-o", "made.json"),
    "compare": ("compare", "run/rag_predictions.json", "whole/rag_predictions.json"),
    "merge": ("merge", "run", "-o", "made"),
    "convert": ("convert", "run", "-o", "made"),
    "rejudge": ("rejudge", "run/rag_predictions.json", "--rag-judge=offline", "--rag-agent=again", "--rag-output=made"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the results of the same run twice, in `run` and in `whole`."""
    monkeypatch.chdir(tmp_path)
    outcomes = some_outcomes(PASSED, FAILED, ERRORED)
    for name in ("run", "whole"):
        write_results(outcomes, aggregate(outcomes), tmp_path / name, Redactor())
    return tmp_path


@pytest.fixture
def input_files(folder: Path, command: str) -> list[Path]:
    """The files in `run` that the command reads."""
    run = folder / "run"
    if command == "merge":
        outcomes = some_outcomes(PASSED, FAILED, ERRORED)
        for number in (1, 2):
            part = replace(outcomes, records=outcomes.records[number - 1 :: 2], shard=(number, 2), complete=False)
            write_shard(part, run, Redactor())
        return sorted(run.glob("*.shard-*.json"))
    if command == "convert":
        old = {"": RESULTS, "_metrics": ABOUT, "_per_question": {**ABOUT, "per_question_metrics": PER_QUESTION}}
        for ending, document in old.items():
            (run / f"b_results{ending}.json").write_text(json.dumps(document), encoding="utf-8")
        return sorted(run.glob("b_results*.json"))
    return sorted(run.glob("*.json"))


@pytest.mark.parametrize("mutations", MUTATIONS)
@pytest.mark.parametrize("command", COMMANDS)
def test_no_mutation_of_a_result_file_leads_to_a_traceback(
    ragcheck: Ragcheck, input_files: list[Path], command: str, mutations: int
) -> None:
    chosen = random.Random(f"{command}{mutations}")
    whole = {path: path.read_bytes() for path in input_files}
    damaged = 0
    for number in range(mutations):
        path = chosen.choice(input_files)
        mutated, what = mutate(whole[path], chosen)
        path.write_bytes(mutated)
        try:
            status, _, error = ragcheck(*COMMANDS[command])
        except Exception as raised:
            raise AssertionError(f"mutation {number} of {path.name}: {what}") from raised
        assert status in {0, 1, 2}, f"mutation {number}: {what}"
        assert (status == 2) == bool(error), f"mutation {number}: {what}: {error}"
        assert "Traceback" not in error, f"mutation {number}: {what}"
        damaged += status == 2
        path.write_bytes(whole[path])
    assert damaged > 0


def mutate(text: bytes, chosen: random.Random) -> tuple[bytes, str]:
    """Return the JSON text with one to four mutations, and their description."""
    kind = chosen.random()
    if kind < 0.05:
        end = chosen.randrange(len(text))
        return text[:end], f"cut at byte {end}"
    if kind < 0.1:
        place = chosen.randrange(len(text))
        return text[:place] + bytes([chosen.randrange(256)]) + text[place + 1 :], f"byte {place} changed"
    document = json.loads(text)
    what = [_mutate(document, chosen) for _ in range(chosen.randint(1, 4))]
    return json.dumps(document).encode(), "; ".join(what)


def _mutate(document: Any, chosen: random.Random) -> str:
    """Replace, delete, wrap or double one value at a random place."""
    found = list(places(document, ""))
    if not found:
        return "nothing is left"
    container, key, place = chosen.choice(found)
    match chosen.choice(("replace", "replace", "delete", "wrap", "double")):
        case "delete":
            del container[key]
            return f"{place} deleted"
        case "wrap":
            container[key] = {"k": container[key]}
            return f"{place} wrapped"
        case "double" if isinstance(container, list):
            container.insert(key, copy.deepcopy(container[key]))
            return f"{place} doubled"
        case _:
            container[key] = copy.deepcopy(chosen.choice(VALUES))
            return f"{place} = {str(container[key])[:20]!r}"


def places(value: Any, place: str) -> Iterator[tuple[Any, Any, str]]:
    """Yield each value of a JSON document by its container and key, with its place."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield value, key, f"{place}[{key!r}]"
        yield from places(item, f"{place}[{key!r}]")


def test_the_text_names_file_and_place(folder: Path, ragcheck: Ragcheck) -> None:
    path = folder / "run" / "rag_summary.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["metric_statistics"] = 3
    path.write_text(json.dumps(document), encoding="utf-8")
    status, _, error = ragcheck("report", "run", "-o", "made.html")
    assert status == 2
    assert error.startswith("ragcheck report: run/rag_summary.json: metric_statistics: found 3, expected object")


REPORTS = (
    ("report", "run", "-o", "made.html"),
    ("report", "run", "-o", "made.csv"),
    ("report", "run", "--gate=each", "-o", "made.md"),
    ("report", "run", "--gate=regression", "--baseline=whole", "-o", "made.html"),
)
"""Reports that use the questions file in different ways."""


@pytest.mark.parametrize("key", ["gold_passages", "distractors", "must_not_mention", "must_not_retrieve", "tags"])
@pytest.mark.parametrize("value", [None, "a text", ["a text"], 3, [3]])
def test_a_questions_file_in_another_form_of_question_files_is_read(
    folder: Path, ragcheck: Ragcheck, key: str, value: Any
) -> None:
    path = folder / "run" / "billing_questions.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    for row in document["questions"]:
        row[key] = value
    path.write_text(json.dumps(document), encoding="utf-8")
    assert [ragcheck(*command)[0::2] for command in REPORTS] == [(0, "")] * len(REPORTS)


def test_a_passage_that_is_a_text_is_in_the_report(folder: Path, ragcheck: Ragcheck) -> None:
    path = folder / "run" / "billing_questions.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["questions"][1]["gold_passages"] = ["The true passage."]
    path.write_text(json.dumps(document), encoding="utf-8")
    assert ragcheck(*REPORTS[0])[0] == 0
    assert "The true passage." in (folder / "made.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"id": 3}, 'questions[0] has 3 under "id".'),
        ({"id": "terms", "query": "What?"}, 'questions[0] has nothing under "question".'),
        ({"id": "terms", "turns": "What?"}, 'questions[0] has no list under "turns".'),
        ({"id": "terms", "turns": [{}]}, 'questions[0].turns[0] has nothing under "question".'),
    ],
)
def test_a_row_of_a_questions_file_without_its_texts_is_refused(
    folder: Path, ragcheck: Ragcheck, row: dict[str, Any], text: str
) -> None:
    path = folder / "run" / "billing_questions.json"
    path.write_text(json.dumps({"dataset_name": "billing", "questions": [row]}), encoding="utf-8")
    for command in REPORTS:
        status, _, error = ragcheck(*command)
        assert status == 2
        assert error == (f"ragcheck report: run/billing_questions.json: {text} Restore the file as the run wrote it.\n")


@pytest.mark.parametrize("passed", [True, False])
def test_evidence_without_a_saved_run_counts_as_no_evidence(folder: Path, ragcheck: Ragcheck, passed: bool) -> None:
    before, now = (folder / name / "rag_predictions.json" for name in ("whole", "run"))
    document = json.loads(before.read_text(encoding="utf-8"))
    look = {"answer": "0123456789abcdef", "scores": {"groundedness": 0.5}, "passed": passed}
    evidence = {"gate": "regression", "thresholds": {"groundedness": 0.7}, "now": look, "known": []}
    for path, verdict in ((before, "PASS"), (now, "FAIL")):
        for row in document["predictions"]:
            row |= {"verdict": verdict, "gate": {**evidence, "saved_runs": [document["timestamp"]]}}
        path.write_text(json.dumps(document), encoding="utf-8")
    command = ("report", "run", "--gate=regression", "--baseline=whole", "-o", "made.md")
    assert ragcheck(*command)[0::2] == (0, "")
    assert "FAIL" in (folder / "made.md").read_text(encoding="utf-8")
