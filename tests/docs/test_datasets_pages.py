"""The pages about datasets: the how-to pages are followed, the reference is compared with the program."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.errors import DatasetError
from pytest_ragcheck.questions.datasets.registry import DATASETS
from tests.docs.pages import DOCS, page
from tests.questions.datasets.sources import OWN, loaded
from tests.servers.fake_endpoint import FakeEndpoint, json_reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.docs.pages import Reader

REFERENCE = (DOCS / "reference" / "datasets.md").read_text(encoding="utf-8")


def test_a_dataset_of_ones_own(reader: Callable[..., Reader]) -> None:
    blocks = page("how-to/own-dataset.md")
    answer = "The refund window is 30 days."
    with FakeEndpoint(json_reply({"answer": answer, "contexts": [answer]})) as endpoint:
        reader(stands_for={"http://localhost:8000/query": endpoint.url}).follow(blocks)
    (code,) = [block.text for block in blocks if block.file == "conftest.py"]
    assert len(code.splitlines()) < 15


def test_the_reference_shows_what_the_command_lists(reader: Callable[..., Reader]) -> None:
    someone = reader()
    someone.follow([block for block in page("reference/datasets.md") if block.language == "console"])
    (ran,) = someone.ran
    assert (ran.command, ran.status) == ("ragcheck dataset", 0)
    assert re.findall(r"(?m)^\w+$", ran.output) == [dataset.name for dataset in DATASETS]


def test_the_reference_describes_the_rows_and_the_split_of_each_dataset() -> None:
    rows = re.findall(r"(?m)^\| (\w+) \| .* \| .* \| .* \| .* \|$", REFERENCE)
    assert rows[1:] == [dataset.name for dataset in DATASETS]
    splits = {dataset.name: dataset.split for dataset in DATASETS}
    assert splits == {**dict.fromkeys(splits, "validation"), "ragbench": "test"}
    assert "`test` for ragbench, else `validation`" in REFERENCE
    assert [dataset.name for dataset in DATASETS if dataset.subsets] == ["ragbench"]


def test_the_passage_s_id_on_the_page_is_one() -> None:
    passages = {
        passage.doc_id
        for question in loaded(f"ragbench:hagrid={OWN['ragbench']}").questions
        for passage in question.distractors
    }
    (shown,) = re.findall(r"`(ragbench:hagrid:\w+)`", REFERENCE)
    assert shown in passages


def test_the_error_on_the_page_is_the_program_s() -> None:
    (block,) = [block for block in page("reference/datasets.md") if block.language == "text"]
    with pytest.raises(DatasetError) as caught:
        loaded(f"hotpotqa={OWN['golden']}")
    assert block.text == f"{caught.value}\n"
