"""`ragcheck baseline save` keeps the recorded answers of questions that the run's gate confirmed as failing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.summary.gate.baseline_reader import read_baseline
from tests.baselines import failed, passed, predictions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.harness import Project, Run

    Ragcheck = Callable[..., tuple[int, str, str]]

LATER = "2126-11-09T00:00:00+00:00"
TOLERATED = "billing::prices: {} -> FAIL, which the gate tolerates from now on"
LEFT_OUT = "left out, because confirmed as failing (ragcheck baseline accept takes the answers): 1 question of billing"


def looks(folder: Path) -> dict[str, list[bool]]:
    """By question, whether the first look of each saved run passed."""
    rows = read_baseline(folder / "ragcheck-baseline.json", name="b").rows.values()
    return {row.id: [run[0].passed for run in row.saved] for row in rows}


CONFTEST = """
import json
from pathlib import Path

import pytest

from pytest_ragcheck import RagClient


@pytest.fixture(scope="session")
def rag_client():
    known = json.loads(Path("answers.json").read_text())
    return RagClient.from_callable(lambda query: {"answer": known[query], "contexts": []})
"""


def test_a_collapse_stays_red_after_a_save_until_it_is_accepted(project: Project, ragcheck: Ragcheck) -> None:
    rows = [{"id": name, "question": f"{name}?", "must_mention": "30"} for name in ("terms", "prices", "hours")]
    project.write("billing.rag.json", json.dumps(rows))
    project.write("conftest.py", CONFTEST)

    def run(**answers: str) -> Run:
        project.write("answers.json", json.dumps({f"{name}?": answer for name, answer in answers.items()}))
        return project.run("--rag-judge=none")

    run(terms="30 days", prices="30 euros", hours="30 hours")
    ragcheck("baseline", "save")
    assert run(terms="30 days", prices="None.").summary["gate"]["confirmed"] == ["billing::prices"]
    printed = ragcheck("baseline", "save")[1].splitlines()[-3:]
    assert printed == [
        "ragcheck-baseline.json: 3 questions, 2 saved runs; contexts in ragcheck-baseline.contexts.json",
        "left out: billing::hours is an ERROR in this run (endpoint); its recorded answers stay",
        LEFT_OUT,
    ]
    assert looks(project.folder) == {"terms": [True, True], "prices": [True], "hours": [True]}
    assert run(terms="30 days", prices="None.", hours="30 hours").exit_status == 1
    assert ragcheck("baseline", "accept")[1].splitlines()[-1] == TOLERATED.format("PASS")
    nothing = "ragcheck-baseline.json: no answer differs from the recorded ones"
    assert ragcheck("baseline", "accept")[1].splitlines() == [nothing]
    assert run(terms="30 days", prices="None.", hours="30 hours").exit_status == 0


@pytest.fixture
def save(tmp_path: Path, ragcheck: Ragcheck, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Saves a run whose gate confirmed `prices` as failing, and returns the printed lines after the first."""
    monkeypatch.chdir(tmp_path)

    def saved(
        *rows: dict[str, Any], ended: str = LATER, confirmed: tuple[str, ...] = ("billing::prices",)
    ) -> list[str]:
        folder = tmp_path / "ragcheck-results"
        folder.mkdir(exist_ok=True)
        summary = {"timestamp": LATER, "gate": {"confirmed": confirmed}}
        (folder / "rag_predictions.json").write_text(json.dumps(predictions(*rows, timestamp=ended)), encoding="utf-8")
        (folder / "rag_summary.json").write_text(json.dumps(summary), encoding="utf-8")
        return ragcheck("baseline", "save")[1].splitlines()[1:]

    return saved


def test_a_confirmed_question_in_a_first_save_is_tolerated_and_named(save: Callable[..., list[str]]) -> None:
    assert save(failed("prices"), failed("hours")) == [TOLERATED.format("new")]


def test_a_confirmed_question_with_other_settings_is_replaced_and_named(
    save: Callable[..., list[str]], tmp_path: Path
) -> None:
    save(passed("prices"), passed("terms"), ended="2126-11-05T00:00:00+00:00")
    replaced, tolerated = save(failed("prices", top_k=3), passed("terms", top_k=3))
    assert replaced.startswith("replaced, because of other settings (top_k: 5 then, 3 now): 2 questions of billing")
    assert tolerated == TOLERATED.format("PASS")
    assert looks(tmp_path) == {"prices": [False], "terms": [True]}


def test_the_summary_of_another_run_leaves_nothing_out(save: Callable[..., list[str]], tmp_path: Path) -> None:
    save(passed("prices"), ended="2126-11-05T00:00:00+00:00")
    save(failed("prices", prediction="None."), ended="2126-11-06T00:00:00+00:00")
    assert looks(tmp_path) == {"prices": [True, False]}
