from __future__ import annotations

from pathlib import Path

import pytest

from pytest_ragcheck.questions.datasets.standard_dataset import DatasetChoice, read_choice


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("squad_v2", DatasetChoice(name="squad_v2")),
        ("ragbench:covidqa", DatasetChoice(name="ragbench", subset="covidqa")),
        ("hotpotqa@train", DatasetChoice(name="hotpotqa", split="train")),
        (
            "ragbench:covidqa@dev=a=b/c d:e.jsonl",
            DatasetChoice(name="ragbench", subset="covidqa", split="dev", path=Path("a=b/c d:e.jsonl")),
        ),
        ("golden= C:\\q.json ", DatasetChoice(name="golden", path=Path("C:\\q.json"))),
    ],
)
def test_a_choice_has_a_name_and_may_have_subset_split_and_path(text: str, choice: DatasetChoice) -> None:
    assert read_choice(text) == choice
    assert read_choice(str(choice)) == choice


def test_a_path_may_begin_at_home() -> None:
    assert read_choice("golden=~/q.json").path == Path.home() / "q.json"


def test_the_home_of_an_unknown_user_stays_a_name() -> None:
    assert read_choice("golden=~no-such-user/q.json").path == Path("~no-such-user/q.json")


@pytest.mark.parametrize(
    "text", ["", "=q.json", "rag bench", "ragbench:", "ragbench@", "golden=", "golden= ", "a/b", "7"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^is not of the form") as caught:
        read_choice(text)
    assert str(caught.value) == (
        "is not of the form NAME[:SUBSET][@SPLIT][=PATH]; write, for example, squad_v2=dev-v2.0.json or "
        "ragbench:covidqa@test"
    )


def test_results_call_a_dataset_by_name_and_subset() -> None:
    assert read_choice("ragbench:covidqa@test=x.parquet").dataset_name == "ragbench:covidqa"
    assert read_choice("golden=x.json").dataset_name == "golden"
