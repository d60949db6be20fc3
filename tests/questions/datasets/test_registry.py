from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.questions.datasets.registry import DATASETS, check_choice, check_choices, known_datasets
from pytest_ragcheck.questions.datasets.standard_dataset import Dataset, read_choice
from tests.questions.datasets.sources import OWN

if TYPE_CHECKING:
    from pathlib import Path

TIERS = {
    "ragbench": {"generation", "retrieval", "end_to_end"},
    "squad_v2": {"generation"},
    "golden": {"generation"},
    "qasper": {"retrieval", "end_to_end"},
    "hotpotqa": {"retrieval", "end_to_end"},
    "msmarco": {"retrieval", "end_to_end"},
}


def refused(choice: str, *further: Dataset) -> str:
    with pytest.raises(UsageError) as caught:
        check_choice(read_choice(choice), known_datasets(further))
    return str(caught.value)


def own(name: str = "faq", **said: object) -> Dataset:
    return Dataset(**{"name": name, "tests": "ours", "tiers": ("end_to_end",), "read": lambda _rows, _name: (), **said})  # type: ignore[arg-type]


def test_each_dataset_supports_its_tiers_and_says_what_it_tests() -> None:
    assert {dataset.name: set(dataset.tiers) for dataset in DATASETS} == TIERS
    assert all(dataset.tests and dataset.official for dataset in DATASETS)
    assert "abstention" in known_datasets()["squad_v2"].tests


@pytest.mark.parametrize("tier", ["generation", "retrieval", "end_to_end"])
@pytest.mark.parametrize("name", TIERS)
def test_a_dataset_runs_in_the_tiers_that_it_supports_and_in_no_other(name: str, tier: str) -> None:
    choices = [read_choice(f"{name}={OWN[name]}")]
    if tier in TIERS[name]:
        check_choices(choices, known_datasets(), tier=tier)
    else:
        with pytest.raises(UsageError, match=f"the tier '{tier}' is not supported by {name} "):
            check_choices(choices, known_datasets(), tier=tier)


def test_a_wrong_tier_is_named_before_a_missing_file_or_package() -> None:
    for name in ("qasper", "qasper=nowhere.json"):
        with pytest.raises(UsageError, match=r"^the tier 'generation' is not supported by qasper"):
            check_choices([read_choice(name)], known_datasets(), tier="generation")


def test_all_wrong_pairs_are_named_at_once_as_a_value_error() -> None:
    choices = [read_choice(f"{name}={path}") for name, path in OWN.items()]
    with pytest.raises(ValueError, match="is not supported by") as caught:
        check_choices(choices, known_datasets(), tier="generation")
    assert isinstance(caught.value, UsageError)
    assert str(caught.value) == (
        "the tier 'generation' is not supported by qasper (supports retrieval, end_to_end), "
        "hotpotqa (supports retrieval, end_to_end), "
        "msmarco (supports retrieval, end_to_end). "
        "Choose a tier that they support with --rag-tier, or leave them out."
    )


def test_one_dataset_cannot_run_twice_at_once() -> None:
    choices = [read_choice(f"golden={OWN['golden']}"), read_choice(f"golden@train={OWN['golden']}")]
    with pytest.raises(UsageError) as caught:
        check_choices(choices, known_datasets(), tier="generation")
    assert str(caught.value) == (
        "golden is given twice, and two questions cannot have one node id. Run them one after the other."
    )


def test_an_unknown_dataset_or_subset_is_refused_with_those_that_there_are() -> None:
    assert refused("squad") == (
        "'squad' is not a dataset; choose one of ragbench, squad_v2, golden, qasper, hotpotqa, msmarco."
    )
    assert refused("squad", own()).endswith("hotpotqa, msmarco, faq.")
    assert refused("squad_v2:plain") == "squad_v2 has no subset 'plain'; leave it out."
    assert refused("ragbench:covid") == (
        "ragbench has no subset 'covid'; choose one of covidqa, cuad, delucionqa, emanual, expertqa, "
        "finqa, hagrid, hotpotqa, msmarco, pubmedqa, tatqa, techqa."
    )


def test_a_file_that_is_needed_or_missing_is_said(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    assert refused("golden") == "golden is read from a file; write golden=PATH."
    assert refused(f"golden={path}") == (f"golden={path}: there is no such file. Give the path of the dataset's file.")


def test_ragbench_by_its_name_alone_needs_a_subset() -> None:
    assert refused("ragbench").startswith(
        "ragbench has several subsets; write one of ragbench:covidqa, ragbench:cuad, "
    )


def test_the_hub_needs_the_library_of_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    assert refused("ragbench:covidqa") == (
        "to load ragbench:covidqa by its name, the package 'datasets' is needed: "
        'pip install "pytest-ragcheck[datasets]". Or give its file: ragbench:covidqa=PATH.'
    )


def test_a_further_dataset_has_a_name_of_its_own_and_known_tiers() -> None:
    with pytest.raises(UsageError) as caught:
        known_datasets([own("golden")])
    assert str(caught.value) == "Dataset 'golden': there is another of this name. Give yours another."
    with pytest.raises(UsageError) as caught:
        own("a b")
    assert str(caught.value) == (
        "Dataset: the name 'a b' cannot begin a node id. Begin it with a letter, and continue with letters, digits, "
        "'_', '.' and '-'."
    )
    with pytest.raises(UsageError) as caught:
        own(tiers=("generation", "search"))
    assert str(caught.value) == "Dataset 'faq': expected tiers of generation, retrieval, end_to_end, found 'search'."
    with pytest.raises(UsageError, match="found no tier"):
        own(tiers=())
