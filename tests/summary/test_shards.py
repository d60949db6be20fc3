"""Shards that do not belong together are refused with the reason."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.rag.documents.uploads import Documents, Left
from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.report.files.result_files import write_shard
from pytest_ragcheck.summary.run_outcomes import Reach
from pytest_ragcheck.summary.shards import find_shards, merged, much_older, read_shard
from tests.making import a_question, a_record, a_set, an_error, some_outcomes

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.summary.run_outcomes import Outcomes

NOW = datetime(2026, 11, 21, tzinfo=timezone.utc)
BOTH = a_set("billing", a_question("a"), a_question("b"))
WHOLE = some_outcomes(a_record("a", scores={"f1": 1 / 3}), an_error("b"), sets=(BOTH,))


def part(number: int, count: int = 2, **said: Any) -> Outcomes:
    """A part of `WHOLE`."""
    records = WHOLE.records[number - 1 : number]
    return replace(WHOLE, **{"records": records, "shard": (number, count), "complete": False, **said})


def written(folder: Path, *parts: Outcomes) -> list[Path]:
    return [write_shard(each, folder / str(place), Redactor()) for place, each in enumerate(parts)]


def test_what_was_written_is_read_and_put_together_in_the_order_of_the_questions(tmp_path: Path) -> None:
    paths = written(tmp_path, part(2), part(1))
    assert list(find_shards([tmp_path])) == paths
    assert merged([read_shard(path) for path in paths], timestamp=WHOLE.timestamp) == WHOLE


def test_counts_are_added_and_what_cut_a_part_short_is_kept(tmp_path: Path) -> None:
    sets = (a_set("billing", *BOTH.questions, a_question("c"), a_question("d")),)
    parts = [
        part(n, sets=sets, skipped={"billing": 1}, on_demand={"x": n}, cut_short=why, stopped=why)
        for n, why in ((1, ""), (2, "stopped"))
    ]
    whole = merged([read_shard(path) for path in written(tmp_path, *parts)], timestamp=NOW)
    assert (whole.skipped, whole.on_demand, whole.cut_short, whole.stopped) == (
        {"billing": 2}, {"x": 3}, "stopped", "stopped",
    )  # fmt: skip
    assert whole.not_run == 0
    assert not whole.complete


def test_a_merged_run_reaches_only_what_each_shard_reached(tmp_path: Path) -> None:
    reaches = (
        Reach(searched=("billing::*", "hr::*", "hr::pay"), left_out=("old::b",)),
        Reach(searched=("billing::*", "hr::pay"), left_out=("old::a", "old::b")),
    )
    parts = [part(n, reach=reach) for n, reach in enumerate(reaches, 1)]
    shards = [read_shard(path) for path in written(tmp_path, *parts)]
    whole = merged(shards, timestamp=NOW)
    assert whole.complete
    assert whole.reach == Reach(searched=("billing::*", "hr::pay"), left_out=("old::a", "old::b"))
    cut_short = replace(shards[1], outcomes=replace(shards[1].outcomes, cut_short="stopped"))
    assert merged([shards[0], cut_short], timestamp=NOW).reach.searched == ("hr::pay",)


def test_a_metric_that_calls_of_one_shard_assert_is_a_threshold_of_the_run(tmp_path: Path) -> None:
    parts = part(1, thresholds={"recall_at_5": 0.5}), part(2, thresholds={"groundedness": 0.6})
    whole = merged([read_shard(path) for path in written(tmp_path, *parts)], timestamp=NOW)
    assert whole.thresholds == {"recall_at_5": 0.5, "groundedness": 0.6}


def test_what_became_of_documents_is_added(tmp_path: Path) -> None:
    left = Left(file_name="a.txt", id="7", reason="500")
    parts = part(1, documents=Documents(deleted=1, left=(left,))), part(2, documents=Documents(deleted=2, kept=1))
    whole = merged([read_shard(path) for path in written(tmp_path, *parts)], timestamp=NOW)
    assert whole.documents == Documents(deleted=3, kept=1, left=(left,))


def test_calls_of_tests_are_gathered_in_their_order(tmp_path: Path) -> None:
    def calls(number: int, line: int) -> Outcomes:
        question = a_question(f"test_{line}-1", dataset_name="test_calls", path=tmp_path / "test_calls.py", line=line)
        return part(number, sets=(BOTH, a_set("test_calls", question)), records=(a_record(question=question),))

    whole = merged([read_shard(path) for path in written(tmp_path, calls(1, 9), calls(2, 3))], timestamp=NOW)
    assert [question.id for question in whole.sets[1].questions] == ["test_3-1", "test_9-1"]
    assert [record.question.id for record in whole.records] == ["test_3-1", "test_9-1"]


def test_each_folder_each_test_and_each_machine_may_have_a_system_of_its_own(tmp_path: Path) -> None:
    def shard(number: int, endpoint: str, question: Question) -> Outcomes:
        records = (
            a_record(question=question, endpoint=endpoint),
            a_record(BOTH.questions[number - 1].id, endpoint=f"http://machine-{number}/query"),
        )
        return part(number, records=records, sets=(BOTH, calls, others))

    call = a_question("test_a-1", dataset_name="test_calls", path=tmp_path / "test_calls.py", line=3)
    other = replace(call, id="test_b-1", line=7)
    apart = a_question("pay", dataset_name="hr")
    calls, others = a_set("test_calls", call, other), a_set("hr", apart)
    for first, second in ((call, other), (call, apart)):
        shards = [read_shard(path) for path in written(tmp_path, shard(1, "rag.a", first), shard(2, "rag.b", second))]
        assert len(merged(shards, timestamp=NOW).records) == 4


SETTINGS = {"rag_judge": '"offline"', "rag_top_k": "3"}
FIRST = part(1, settings=SETTINGS, records=(a_record("a", endpoint="rag.answer"),))


@pytest.mark.parametrize(
    ("others", "text"),
    [
        ([part(1)], "A and B are both shard 1. Give each once."),
        ([part(2, 3)], "A is of 2 shards and B of 3. Give the folders that all shards of one run wrote."),
        ([], "of 2 shards, 2 is missing. Give the folders that all shards of one run wrote."),
        (
            [part(2, agent_name="other")],
            (
                "A and B are of different runs: agent rag and other. "
                "Run all shards on the same commit and with the same settings."
            ),
        ),
        (
            [part(2, settings={**SETTINGS, "rag_judge": '"none"', "rag_top_k": "5"})],
            'A and B are of different runs: rag_judge "offline" and "none"; rag_top_k 3 and 5. Run all',
        ),
        (
            [part(2, records=(a_record("b", endpoint="rag.other"),))],
            "A and B are of different runs: system of billing rag.answer and rag.other. Run all",
        ),
        ([part(2, sets=(a_set("billing", a_question("b")),))], "A and B are of different runs: questions "),
    ],
)
def test_what_is_no_whole_run_is_refused(tmp_path: Path, others: list[Outcomes], text: str) -> None:
    paths = written(tmp_path, FIRST, *others)
    with pytest.raises(UsageError) as caught:
        merged([read_shard(path) for path in paths], timestamp=NOW)
    told = str(caught.value)
    for name, path in zip("AB", paths, strict=False):
        told = told.replace(str(path), name)
    assert told.startswith(text)


def test_a_shard_that_ended_more_than_a_day_before_the_last_is_named(tmp_path: Path) -> None:
    ends = (NOW - timedelta(days=1, seconds=1), NOW - timedelta(hours=23), NOW)
    parts = [part(n, 3, timestamp=end, records=()) for n, end in enumerate(ends, 1)]
    shards = [read_shard(path) for path in written(tmp_path, *parts)]
    assert [shard.name for shard in much_older(shards)] == ["shard 1 of 3"]


def test_another_file_is_refused(tmp_path: Path) -> None:
    (path,) = written(tmp_path, part(1))
    document = json.loads(path.read_text(encoding="utf-8"))
    document["same"]["pytest-ragcheck"] = "0.0.1"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(UsageError, match=r"json: pytest-ragcheck 0\.0\.1 wrote it, and this is .*\. Use one version"):
        read_shard(path)
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(UsageError, match=r"json: the file: no 'shard', 'same', .*\. Give the folders"):
        read_shard(path)
    path.unlink()
    with pytest.raises(UsageError, match=r"json: there is no such file\. Give the folders"):
        read_shard(path)
    with pytest.raises(UsageError, match=r"it has no shard file \(\{agent\}\.shard-I-of-N\.json\)\."):
        list(find_shards([tmp_path]))


def test_the_place_of_damaged_evidence_is_named(tmp_path: Path) -> None:
    look = {"answer": "0123456789abcdef", "scores": {"f1": 0.5}, "passed": True}
    evidence = {"gate": "confirmed", "thresholds": {"f1": 0.3}, "now": look, "known": [[look]], "saved_runs": ["now"]}
    (path,) = written(tmp_path, part(1, records=(replace(WHOLE.records[0], evidence=evidence),)))
    assert read_shard(path).outcomes.records[0].evidence == evidence
    document = json.loads(path.read_text(encoding="utf-8"))
    del document["records"][0]["evidence"]["now"]["passed"]
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(UsageError, match=r"json: records\[0\]\.evidence\.now: no 'passed'\. Give the folders"):
        read_shard(path)


def test_a_second_record_of_a_question_is_refused(tmp_path: Path) -> None:
    (path,) = written(tmp_path, part(1, records=(WHOLE.records[0], WHOLE.records[0])))
    with pytest.raises(UsageError, match=r"records\[1\]\.question: 'billing::a' is not among the sets, or has two re"):
        read_shard(path)


def test_a_question_that_two_parts_ran_is_refused(tmp_path: Path) -> None:
    paths = written(tmp_path, part(1), part(2, records=WHOLE.records))
    with pytest.raises(UsageError) as caught:
        merged([read_shard(path) for path in paths], timestamp=NOW)
    assert str(caught.value) == (
        f"{paths[0]} and {paths[1]} both have billing::a. Split the tests alike on all machines; "
        "pytest-split needs the same durations file everywhere."
    )
