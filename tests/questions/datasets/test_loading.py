from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.errors import DatasetError
from pytest_ragcheck.questions.datasets.registry import known_datasets
from pytest_ragcheck.questions.question import Origin
from pytest_ragcheck.questions.question_rows import questions_document, set_from_wire, set_to_wire
from pytest_ragcheck.questions.reader import read_question_file
from pytest_ragcheck.scores import ASSERTABLE
from tests.questions.datasets.sources import OWN, content, loaded, written

if TYPE_CHECKING:
    from pathlib import Path


def test_a_sample_says_of_how_many_it_is_and_by_which_seed() -> None:
    taken = loaded(f"ragbench:hagrid={OWN['ragbench']}", samples=5, seed=3)
    assert (taken.dataset_name, len(taken.questions)) == ("ragbench:hagrid", 5)
    assert taken.origin == Origin(source="ragbench.jsonl", split=None, available=8, left_out=0, samples=5, seed=3)
    assert set_from_wire(set_to_wire(taken)) == taken


def test_questions_know_their_file() -> None:
    assert {question.location for question in loaded(f"golden={OWN['golden']}").questions} == {str(OWN["golden"])}


def test_the_split_of_a_folder_is_kept(tmp_path: Path) -> None:
    for split in ("train", "validation"):
        written(tmp_path, content("hotpotqa"), f"{split}.json")
    default, chosen = (loaded(f"hotpotqa{split}={tmp_path}").origin for split in ("", "@train"))
    assert default is not None
    assert chosen is not None
    assert (default.split, chosen.split) == ("validation", "train")


def test_a_blank_question_cannot_be_asked_and_is_counted(tmp_path: Path) -> None:
    rows = content("hotpotqa")
    rows[1]["question"] = "  "
    taken = loaded(f"hotpotqa={written(tmp_path, rows)}")
    assert taken.origin is not None
    assert ([question.id for question in taken.questions], taken.origin.available, taken.origin.left_out) == (
        ["5a8b0001", "5a8b0003"], 2, 1,
    )  # fmt: skip


def test_two_questions_of_one_id_are_refused(tmp_path: Path) -> None:
    rows = content("hotpotqa")
    rows[1]["_id"] = rows[0]["_id"]
    path = written(tmp_path, rows)
    with pytest.raises(DatasetError) as caught:
        loaded(f"hotpotqa={path}")
    assert str(caught.value).splitlines() == [
        (
            f"hotpotqa={path}: expected an id of its own for each question, found '5a8b0001' twice: "
            "'Was the lighthouse of Marrow Point built before that of Gann' and "
            "'Which workshop made the refractor of the observatory that th'."
        ),
        f"hotpotqa is read from {known_datasets()['hotpotqa'].official}.",
    ]


def test_a_file_without_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"rows\.json: expected questions, found none\.$"):
        loaded(f"hotpotqa={written(tmp_path, [])}")


def test_an_id_that_no_node_can_have_is_made_usable(tmp_path: Path) -> None:
    rows = content("hotpotqa")[:1]
    rows[0]["_id"] = " a::b[c]\u200b"
    assert [question.id for question in loaded(f"hotpotqa={written(tmp_path, rows)}").questions] == ["a__b(c)-"]


@pytest.mark.parametrize("name", OWN)
def test_a_dataset_written_as_a_question_file_reads_back_as_the_same_questions(name: str, tmp_path: Path) -> None:
    taken = loaded(f"{name}={OWN[name]}")
    path = written(tmp_path, questions_document(name, taken.questions), f"{name}_questions.json")
    assert read_question_file(path, root=tmp_path, known_metrics=ASSERTABLE).questions == taken.questions
