from __future__ import annotations

from pytest_ragcheck.verdict.verdict import Verdict
from tests.making import a_question, a_record, a_set, an_error, some_outcomes

RECORDS = (a_record("a"), an_error("b"), a_record("c", verdict=Verdict.FAIL))


def test_the_only_dataset_gives_its_name_to_the_whole_and_several_do_not() -> None:
    assert some_outcomes(*RECORDS).dataset_name == "billing"
    other = a_record(question=a_question("x", dataset_name="other"))
    assert some_outcomes(*RECORDS, other, session_name="nightly").dataset_name == "nightly"


def test_measured_records_and_errors_are_distinguished_in_their_order() -> None:
    outcomes = some_outcomes(*RECORDS)
    assert outcomes.measured == (RECORDS[0], RECORDS[2])
    assert outcomes.errors == (RECORDS[1],)


def test_what_was_neither_run_nor_skipped_is_counted() -> None:
    questions = [a_question(name) for name in "abcdef"]
    outcomes = some_outcomes(*RECORDS, sets=(a_set("billing", *questions),), skipped={"billing": 1})
    assert outcomes.not_run == 2
    assert some_outcomes(*RECORDS).not_run == 0
