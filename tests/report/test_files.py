from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_ragcheck.errors import ResultsError
from pytest_ragcheck.metrics.catalogue import ASSERTABLE
from pytest_ragcheck.questions.question import GoldPassage
from pytest_ragcheck.questions.reader import read_question_file
from pytest_ragcheck.redaction import REDACTED, Redactor
from pytest_ragcheck.report.files import Writer, Written, rounded, safe_name, unique_names, write_results
from pytest_ragcheck.summary.aggregate import aggregate
from tests.making import a_question, a_record, a_set, an_error, some_outcomes

if TYPE_CHECKING:
    from pytest_ragcheck.summary.outcomes import Outcomes


def written(outcomes: Outcomes, folder: Path, redactor: Redactor | None = None) -> Written:
    return write_results(outcomes, aggregate(outcomes), folder, redactor or Redactor())


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def content(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_a_run_writes_its_questions_predictions_and_summary(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "results"
    files = written(some_outcomes(a_record("a"), an_error("b")), folder)
    assert names(folder) == ["billing_questions.json", "rag_predictions.json", "rag_summary.json"]
    assert (files.predictions, files.summary) == (folder / "rag_predictions.json", folder / "rag_summary.json")
    assert (files.questions, files.partial) == ((folder / "billing_questions.json",), "")
    assert content(files.summary)["counts"] == {"pass": 1, "fail": 0, "error": 1, "skipped": 0}
    assert [row["question_id"] for row in content(files.predictions)["predictions"]] == ["a"]
    assert content(files.questions[0])["num_questions"] == 2


def test_files_end_in_a_line_break_and_can_be_read_by_others(tmp_path: Path) -> None:
    umask = os.umask(0o022)
    os.umask(umask)
    path = written(some_outcomes(a_record(answer="Köln 😀")), tmp_path).predictions
    assert path.read_bytes().endswith(b"}\n")
    assert "Köln 😀" in path.read_text(encoding="utf-8")
    assert path.stat().st_mode & 0o777 == 0o666 & ~umask


def test_numbers_of_the_run_have_six_decimals_and_those_of_the_user_stay(tmp_path: Path) -> None:
    question = a_question(thresholds={"f1": 0.123456789}, metadata={"weight": 0.123456789})
    files = written(some_outcomes(a_record(question=question, scores={"f1": 2 / 3}, latency_seconds=1 / 3)), tmp_path)
    (row,) = content(files.predictions)["predictions"]
    assert (row["metrics"]["f1"], row["latency_seconds"]) == (0.666667, 0.333333)
    assert row["metadata"] == {"weight": 0.123456789}
    assert content(files.summary)["overall_metrics"] == {"f1": 0.666667}
    (asked,) = content(files.questions[0])["questions"]
    assert (asked["thresholds"], asked["metadata"]) == ({"f1": 0.123456789}, {"weight": 0.123456789})


def test_written_questions_read_back_are_the_same_questions(tmp_path: Path) -> None:
    full = a_question(
        "full",
        expected_answer="1972",
        all_acceptable_answers=("1972", "no"),
        must_mention=("/\\d{4}/",),
        must_not_mention=("forever",),
        gold_passages=(GoldPassage(text="Then.", doc_id="d:1"),),
        distractors=(GoldPassage(text="Not then."),),
        thresholds={"f1": 0.123456789},
        top_k=3,
        tags=("moon",),
        metadata={"n": [1.23456789, None, {"x": "y"}]},
    )
    asked = (full, a_question("bare"), a_question("unanswerable", answerable=False, skip="later", xfail="known"))
    files = written(some_outcomes(sets=(a_set("billing", *asked),), complete=False), tmp_path)
    read = read_question_file(files.questions[0], root=tmp_path, known_metrics=ASSERTABLE)
    assert read.questions == asked
    assert read.dataset_name == "billing"


def test_secrets_are_in_no_file(tmp_path: Path) -> None:
    secret = "correct-horse"
    question = a_question(question=f"Is it {secret}?", metadata={secret: [secret]})
    record = a_record(question=question, answer=secret, reason=secret, endpoint=f"http://bob:{secret}@h")
    written(some_outcomes(record), tmp_path, Redactor([secret]))
    for path in tmp_path.iterdir():
        assert secret not in path.read_text(encoding="utf-8")
        assert REDACTED in path.read_text(encoding="utf-8")


def test_what_json_cannot_hold_is_written_as_text(tmp_path: Path) -> None:
    metadata = {"nan": float("nan"), "inf": float("inf"), "path": Path("a/b"), "half": "\ud800"}
    files = written(some_outcomes(a_record(question=a_question(metadata=metadata))), tmp_path)
    assert content(files.predictions)["predictions"][0]["metadata"] == {
        "nan": "nan", "inf": "inf", "path": "a/b", "half": "\N{REPLACEMENT CHARACTER}",
    }  # fmt: skip


def test_an_incomplete_run_leaves_the_last_full_result_alone(tmp_path: Path) -> None:
    full = some_outcomes(a_record("a"), a_record("b"))
    written(full, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    files = written(replace(full, records=full.records[:1], complete=False), tmp_path)
    assert files.partial == "1 of the collected questions were not run"
    assert files.summary == tmp_path / "rag.partial_summary.json"
    assert content(files.summary)["complete"] is False
    assert {name: (tmp_path / name).read_bytes() for name in before} == before


def test_a_full_run_takes_away_the_partial_result_whose_datasets_it_has(tmp_path: Path) -> None:
    full = some_outcomes(a_record("a"), a_record("b"))
    stopped = replace(full, records=full.records[:1], complete=False)
    written(stopped, tmp_path)
    written(replace(stopped, agent_name="other"), tmp_path)
    written(full, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "billing_questions.json",
        "other.partial_predictions.json", "other.partial_summary.json",
        "rag_predictions.json", "rag_summary.json",
    ]  # fmt: skip
    written(stopped, tmp_path)
    assert (tmp_path / "rag.partial_summary.json").exists()  # newer than the full one


def test_a_partial_result_of_a_dataset_that_the_full_run_lacks_stays(tmp_path: Path) -> None:
    written(some_outcomes(a_record("a")), tmp_path)
    written(some_outcomes(a_record(question=a_question("x", dataset_name="prices"))), tmp_path)
    written(some_outcomes(a_record("a")), tmp_path)
    assert list(content(tmp_path / "rag.partial_summary.json")["datasets"]) == ["prices"]


def test_a_run_that_was_cut_short_is_partial_for_its_reason(tmp_path: Path) -> None:
    outcomes = some_outcomes(a_record("a"), complete=False, cut_short="the run ended early")
    assert written(outcomes, tmp_path).partial == "the run ended early"


def test_a_run_with_fewer_datasets_than_the_last_full_one_is_partial(tmp_path: Path) -> None:
    other = a_record(question=a_question("x", dataset_name="prices"))
    for _ in range(2):
        assert written(some_outcomes(a_record("a"), other), tmp_path).partial == ""
    assert written(some_outcomes(a_record("a"), agent_name="other"), tmp_path).partial == ""
    files = written(some_outcomes(a_record("a")), tmp_path)
    assert files.partial == "the last full result also has prices; delete rag_summary.json to start anew"
    assert content(tmp_path / "rag_summary.json")["counts"]["pass"] == 2


@pytest.mark.parametrize("text", ["", "{", "[]", '{"datasets": 1}', "\x00", "null"])
def test_a_last_result_that_cannot_be_read_is_overwritten(tmp_path: Path, text: str) -> None:
    (tmp_path / "rag_summary.json").write_text(text, encoding="utf-8")
    assert written(some_outcomes(a_record("a")), tmp_path).partial == ""
    assert content(tmp_path / "rag_summary.json")["num_examples"] == 1


HOSTILE = [
    "../../x", "..", "/etc/passwd", "a/b\\c", "C:\\x", ".hidden", "", " ", "x\x00y", "x\ny", "con", "NUL.txt",
    "a" * 999, "щ" * 300, "😀" * 99, "\udcff",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "results"
    outcomes = some_outcomes(
        a_record(question=a_question(dataset_name=name)), agent_name=name, complete=False, cut_short="tried"
    )
    files = written(outcomes, folder)
    assert names(tmp_path) == ["results"]
    assert {path.parent for path in (*files.questions, files.predictions, files.summary)} == {folder}
    assert len(names(folder)) == 3
    assert not any(name.startswith(".") for name in names(folder))


@pytest.mark.parametrize(
    "name", ["natural_questions", "tests__billing[Paris]", "Ответы, v2 (neu)", "gpt-4.1", "日本語", "a" * 180]
)
def test_a_name_stays_as_it_is_where_it_can(name: str) -> None:
    assert safe_name(name) == name


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("llama3:8b", "llama3_8b"),
        ("../../x", "_.._x"),
        ("con", "_con"),
        ("NUL.txt", "_NUL.txt"),
        ("", "_"),
        ("..", "_"),
    ],
)
def test_a_name_that_cannot_stay_has_a_hash_of_it_at_its_end(name: str, kept: str) -> None:
    assert safe_name(name) == f"{kept}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


@given(st.text(max_size=400))
def test_a_safe_name_is_a_name_on_every_system(name: str) -> None:
    safe = safe_name(name)
    file = f".{safe}.partial_predictions.json.01234567.tmp"
    assert len(file.encode()) <= 255
    assert not set(safe) & set('<>:"/\\|?*\x00')
    assert safe.isprintable()
    assert safe[0] not in ". "


@given(st.lists(st.text("aAáÁ./: ", max_size=3) | st.sampled_from(["e\u0301", "\u00e9", "ß", "SS"]), unique=True))
def test_no_two_names_of_a_run_are_one_file(given_names: list[str]) -> None:
    unique = unique_names(given_names)
    assert len(unique) == len(given_names)
    assert len({name.casefold() for name in unique}) == len(unique)


def test_two_datasets_that_differ_in_case_only_have_a_file_each(tmp_path: Path) -> None:
    records = [a_record(question=a_question(dataset_name=name)) for name in ("Billing", "billing", "other")]
    files = written(some_outcomes(*records), tmp_path)
    assert [content(path)["dataset_name"] for path in files.questions] == ["Billing", "billing", "other"]
    assert files.questions[2].name == "other_questions.json"
    assert len({path.name.casefold() for path in files.questions}) == 3


def test_rounding_reaches_every_number_but_the_users() -> None:
    document = {"a": [1 / 3, {"b": 2 / 3, "metadata": {"c": 1 / 3}}], "n": 1, "t": True, "x": None}
    assert rounded(document) == {
        "a": [0.333333, {"b": 0.666667, "metadata": {"c": 1 / 3}}], "n": 1, "t": True, "x": None,
    }  # fmt: skip


def test_a_folder_that_cannot_be_made_is_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    path = tmp_path / "file" / "x.json"
    with pytest.raises(ResultsError) as caught:
        Writer(path.parent, Redactor()).write("x.json", {})
    assert str(caught.value) == (
        f"{path}: cannot be written (File exists). "
        "Make room or give rights there, or choose another folder with --rag-output."
    )
    assert caught.value.path == path


def test_a_file_that_cannot_be_replaced_leaves_no_temporary_one(tmp_path: Path) -> None:
    (tmp_path / "x.json" / "inside").mkdir(parents=True)
    with pytest.raises(ResultsError, match=r"x\.json: cannot be written \(Is a directory\)"):
        Writer(tmp_path, Redactor()).write("x.json", {})
    assert names(tmp_path) == ["x.json"]


FULL_DISK = """
import json, resource, signal, sys
from pathlib import Path
from pytest_ragcheck.errors import ResultsError
from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.report.files import Writer

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
before = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), before[1]))
try:
    Writer(Path(sys.argv[1]), Redactor()).write("x.json", {"new": "x" * 100_000})
except ResultsError as error:
    print(error)
finally:
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
"""


@pytest.mark.parametrize("room", [0, 1, 50_000])
def test_without_room_the_old_file_stays_whole_and_no_temporary_one_is_left(tmp_path: Path, room: int) -> None:
    path = Writer(tmp_path, Redactor()).write("x.json", {"old": 1})
    command = [sys.executable, "-c", FULL_DISK, str(tmp_path), str(room)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said == (
        f"{path}: cannot be written (File too large). "
        "Make room or give rights there, or choose another folder with --rag-output.\n"
    )
    assert names(tmp_path) == ["x.json"]
    assert content(path) == {"old": 1}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(rows=st.lists(VALUES, max_size=3), head=st.dictionaries(st.text(), VALUES, max_size=2))
def test_a_document_that_is_written_row_by_row_is_the_same_text(
    rows: list[Any], head: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    whole = Writer(folder, Redactor()).write("x.json", {**head, "rows": rows, "empty": []}).read_bytes()
    by_row = Writer(folder, Redactor()).write("x.json", {**head, "rows": iter(rows), "empty": iter(())}).read_bytes()
    assert by_row == whole
    document = Redactor().document({**head, "rows": rows, "empty": []})
    assert whole.decode() == json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def test_a_row_that_cannot_be_made_leaves_the_old_file_whole(tmp_path: Path) -> None:
    path = Writer(tmp_path, Redactor()).write("x.json", {"old": 1})
    with pytest.raises(ZeroDivisionError):
        Writer(tmp_path, Redactor()).write("x.json", {"rows": (1 / n for n in (2, 1, 0))})
    assert content(path) == {"old": 1}
    assert names(tmp_path) == ["x.json"]
