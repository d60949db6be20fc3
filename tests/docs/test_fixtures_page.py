"""The examples of the page of the fixtures are run, and its tables are complete."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.config.readers import STEPS
from pytest_ragcheck.config.table import TABLE
from pytest_ragcheck.plugin import __all__ as fixtures
from pytest_ragcheck.plugin.asking.rag_check import RagCheck
from pytest_ragcheck.verdict.record import Record
from tests.docs.pages import DOCS, page
from tests.servers.fake_endpoint import FakeEndpoint, json_reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.docs.pages import Reader

NAME = "reference/fixtures.md"
PAGE = (DOCS / "reference" / "fixtures.md").read_text(encoding="utf-8")

QUESTIONS = "questions:\n- id: refund-window\n  question: How long is the refund window?\n  expected_answer: 30 days\n"
ANSWER = {"answer": "Refunds are possible within 30 days.", "contexts": ["Refunds: within 30 days."]}

PRINTED = {
    "rag_client": "1 PASS",
    "rag_judge": "judge: LengthJudge",
    "rag_settings": "groundedness 0.85 < 0.90",
    "rag_check": "test_refunds.py .",
    "The marker rag_questions": "test_billing.py .",
}
"""By section of the page, lines that a run of its example prints."""


def test_every_section_with_an_example_is_run_here() -> None:
    sections = [heading for heading in re.findall(r"^## (.+)$", PAGE, re.MULTILINE) if page(NAME, heading)]
    assert sections == list(PRINTED)


@pytest.mark.parametrize("section", PRINTED)
def test_the_example_does_what_the_page_says(section: str, reader: Callable[..., Reader]) -> None:
    answer = ANSWER
    if section == "rag_settings":
        # A score that passes at 0.7, and not at the 0.9 of the override.
        answer = {**ANSWER, "answer": "Refunds are usually possible within 30 days."}
    with FakeEndpoint(json_reply(answer)) as endpoint:
        someone = reader(environment={} if section == "rag_client" else {"RAGCHECK_URL": endpoint.url})
        (someone.folder / "billing.rag.yaml").write_text(QUESTIONS)
        someone.follow(page(NAME, section))
        ran = someone.run("pytest --rag-judge=offline")
    assert PRINTED[section] in ran.output
    assert ran.status == (1 if section == "rag_settings" else 0)


def test_the_settings_of_a_folder_are_listed() -> None:
    (sentence,) = re.findall(r"^It may change (.+)\.$", PAGE, re.MULTILINE)
    settings, _, words = sentence.partition(" with ")
    listed = re.findall(r"`(\w+)`", settings)
    assert sorted(listed) == sorted(each.keyword for each in TABLE if each.whole_run is not True)
    (disable,) = [each for each in TABLE if each.keyword == "disable"]
    assert isinstance(disable.whole_run, tuple)
    assert {*re.findall(r"`(\w+)`", words)} == {*STEPS}.difference(disable.whole_run)


def test_every_fixture_has_its_section() -> None:
    assert sorted(re.findall(r"^## (rag_\w+)$", PAGE, re.MULTILINE)) == sorted(fixtures)


def test_the_attributes_in_the_table_are_those_of_a_record() -> None:
    listed = re.findall(r"^\| `(\w+)(?:\(\))?` \|", PAGE, re.MULTILINE)
    public = {name for name, _ in inspect.getmembers(Record) if not name.startswith("_")}
    assert set(listed) <= public
    assert public - set(listed) == {"assert_measured", "text", "to_json", "to_document", "from_json"}


def test_the_arguments_of_rag_check_are_all_named() -> None:
    (line,) = re.findall(r"^Its arguments are .*$", PAGE, re.MULTILINE)
    signature = list(inspect.signature(RagCheck.__call__).parameters)[1:]
    assert re.findall(r"`(\w+)`", line) == signature
