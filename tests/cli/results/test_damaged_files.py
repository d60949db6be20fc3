"""A damaged result file ends a command with exit status 2 and a text, never with a traceback."""

from __future__ import annotations

import copy
import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.report.files.result_files import write_results
from pytest_ragcheck.summary.aggregate import aggregate
from tests.making import some_outcomes
from tests.report.results import ERRORED, FAILED, PASSED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Ragcheck = Callable[..., tuple[int, str, str]]

MUTATIONS = 200
VALUES: tuple[Any, ...] = (None, True, -1, 10**400, 0.5, "", "a", "\ud800", [], [1], {}, {"a": []}, float("inf"), [[]])

COMMANDS = {
    "report": ("report", "run", "-o", "made.html"),
    "report of a baseline": ("report", "whole", "--baseline=run", "--gate=regression", "-o", "made.html"),
    "baseline": ("baseline", "save", "run", "-o", "made.json"),
    "compare": ("compare", "run/rag_predictions.json", "whole/rag_predictions.json"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    outcomes = some_outcomes(PASSED, FAILED, ERRORED)
    for name in ("run", "whole"):
        write_results(outcomes, aggregate(outcomes), tmp_path / name, Redactor())
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_no_mutation_of_a_result_file_leads_to_a_traceback(folder: Path, ragcheck: Ragcheck, command: str) -> None:
    chosen = random.Random(command)
    files = sorted((folder / "run").glob("*.json"))
    whole = {path: json.loads(path.read_text(encoding="utf-8")) for path in files}
    damaged = 0
    for number in range(MUTATIONS):
        path = chosen.choice(files)
        mutated = copy.deepcopy(whole[path])
        what = mutate(mutated, chosen)
        path.write_text(json.dumps(mutated), encoding="utf-8")
        status, _, error = ragcheck(*COMMANDS[command])
        assert status in {0, 1, 2}, f"mutation {number}: {what}"
        assert (status == 2) == bool(error), f"mutation {number}: {what}: {error}"
        damaged += status == 2
        path.write_text(json.dumps(whole[path]), encoding="utf-8")
    assert damaged > 0


def mutate(document: Any, chosen: random.Random) -> str:
    """Replaces, deletes or adds one value at a random place."""
    places = list(_places(document, ""))
    container, key, place = chosen.choice(places)
    match chosen.choice(("replace", "replace", "delete")):
        case "delete":
            del container[key]
            return f"{place} deleted"
        case _:
            container[key] = chosen.choice(VALUES)
            return f"{place} = {str(container[key])[:20]}"


def _places(value: Any, place: str) -> Iterator[tuple[Any, Any, str]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield value, key, f"{place}[{key!r}]"
        yield from _places(item, f"{place}[{key!r}]")


def test_the_text_names_file_and_place(folder: Path, ragcheck: Ragcheck) -> None:
    path = folder / "run" / "rag_summary.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["metric_statistics"] = 3
    path.write_text(json.dumps(document), encoding="utf-8")
    status, _, error = ragcheck("report", "run", "-o", "made.html")
    assert status == 2
    assert error.startswith("ragcheck report: run/rag_summary.json: metric_statistics: found 3, expected object")
