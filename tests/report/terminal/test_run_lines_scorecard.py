from __future__ import annotations

from pytest_ragcheck.report.terminal.run_lines import scorecard_lines
from pytest_ragcheck.summary.aggregate import aggregate
from pytest_ragcheck.verdict.verdict import Verdict
from tests.making import a_question, a_record, an_error, some_outcomes


def lines(*records: object, **said: object) -> list[str]:
    summary = aggregate(some_outcomes(*records, **said))  # type: ignore[arg-type]
    return list(scorecard_lines(summary, summary.totals.metrics))


def test_datasets_stand_beside_each_other_and_what_does_not_apply_is_left_out() -> None:
    found = lines(
        a_record(question=a_question("a", dataset_name="ragbench:hagrid"), scores={"f1": 0.5, "mrr": 1.0}),
        a_record(question=a_question("b", dataset_name="ragbench:hagrid"), scores={"f1": 0.25, "mrr": 0.0}),
        a_record(question=a_question("c", dataset_name="squad_v2"), scores={"f1": 0.0}, verdict=Verdict.FAIL),
        a_record(
            question=a_question("d", dataset_name="squad_v2", answerable=False), scores={"abstained": 1.0}
        ),
        an_error("e", question=a_question("e", dataset_name="golden")),
        skipped={"golden": 2},
    )  # fmt: skip
    assert found == [
        "by dataset             ragbench:hagrid  squad_v2  golden",
        "f1                               0.375     0.000",
        "mrr                              0.500",
        "abstained                                  1.000",
        "unanswerable_accuracy                      1.000",
        "fnr                                        0.000",
        "PASS                                 2         1       0",
        "FAIL                                 0         1       0",
        "ERROR                                0         0       1",
        "skipped                                                2",
    ]


def test_one_dataset_alone_has_no_scorecard() -> None:
    assert lines(a_record("a", scores={"f1": 1.0})) == []


def test_more_datasets_than_fit_beside_each_other_stand_below() -> None:
    found = lines(*(a_record(question=a_question("q", dataset_name=f"set{n}")) for n in range(8)))
    assert [line.split() for line in found] == [
        ["by", "dataset", *(f"set{n}" for n in range(6))],
        ["PASS", *"111111"], ["FAIL", *"000000"], ["ERROR", *"000000"],
        ["by", "dataset", "set6", "set7"],
        ["PASS", *"11"], ["FAIL", *"00"], ["ERROR", *"00"],
    ]  # fmt: skip


def test_of_very_many_the_summary_file_has_the_numbers() -> None:
    found = lines(*(a_record(question=a_question("q", dataset_name=f"set{n}")) for n in range(13)))
    assert found == ["by dataset: the numbers of each of the 13 datasets are in the summary file"]


def test_of_a_long_name_the_end_is_shown() -> None:
    names = ("tests__evaluation__billing__refunds", "b")
    found = lines(*(a_record(question=a_question("q", dataset_name=name)) for name in names))
    assert found[0] == "by dataset  ..._billing__refunds      b"
