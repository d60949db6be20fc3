"""`ragcheck baseline save` adds runs to a baseline; `ragcheck baseline accept` replaces recorded answers."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.concurrency.file_lock import FileLock
from pytest_ragcheck.judging.judgement import JudgeIdentity
from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.report.files.result_files import write_results
from pytest_ragcheck.report.terminal.gate_lines import QUARANTINE
from pytest_ragcheck.summary.aggregate import aggregate
from pytest_ragcheck.summary.gate.baseline_reader import read_baseline
from pytest_ragcheck.summary.result_schemas import schema_mistakes
from tests.baselines import errored, failed, passed, predictions
from tests.canned import good
from tests.docs.pages import DOCS
from tests.making import some_outcomes
from tests.report.results import PASSED

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.harness import Project

    Save = Callable[..., tuple[int, str, str]]

RAGCHECK = "import sys; from pytest_ragcheck.cli import main; sys.exit(main())"
LATER = "2126-11-09T00:00:00+00:00"


@pytest.fixture
def save(
    tmp_path: Path, ragcheck: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str, str]]:
    """Saves a run with these rows into ragcheck-baseline.json."""
    monkeypatch.chdir(tmp_path)

    def saved(*rows: dict[str, Any], **top: Any) -> tuple[int, str, str]:
        (tmp_path / "run.json").write_text(json.dumps(predictions(*rows, **top)), encoding="utf-8")
        return ragcheck("baseline", "save", "run.json")

    return saved


def test_the_ids_of_the_server_are_kept_with_an_answer_that_has_one(
    save: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    ids = {"server_source_ids": ["up-1"]}
    without = {name: value for name, value in passed("without", metadata=ids).items() if name != "prediction"}
    save(passed("cited", prediction="30 days [up-1].", metadata=ids), passed("other", metadata=ids), without)
    document = json.loads((tmp_path / "ragcheck-baseline.json").read_bytes())
    assert list(schema_mistakes("baseline", document)) == []
    assert [row["answers"][0].get("metadata") for row in document["predictions"]] == [ids, None, None]


def test_answers_are_kept_and_each_text_of_a_context_once(
    save: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    status, printed, _ = save(
        passed("terms", contexts=["Refunds are possible for 30 days."]),
        failed("prices", contexts=["Refunds are possible for 30 days."]),
        errored("hours"),
    )
    assert (status, printed.splitlines()) == (
        0,
        [
            "ragcheck-baseline.json: 2 questions, 1 saved run; contexts in ragcheck-baseline.contexts.json",
            "left out: billing::hours is an ERROR in this run (endpoint_timeout)",
        ],
    )
    text = (tmp_path / "ragcheck-baseline.json").read_text(encoding="utf-8")
    assert "The window is 30 days." in text
    assert list(schema_mistakes("baseline", json.loads(text))) == []
    beside = json.loads((tmp_path / "ragcheck-baseline.contexts.json").read_text(encoding="utf-8"))
    assert list(beside["contexts"].values()) == ["Refunds are possible for 30 days."]
    rows = read_baseline(tmp_path / "ragcheck-baseline.json", name="b").rows
    assert [(row.id, row.verdict.value, row.passes, row.fails) for row in rows.values()] == [
        ("terms", "PASS", 1, 0),
        ("prices", "FAIL", 0, 1),
    ]
    assert rows["billing", "terms"].metrics == {"answer_correctness": 0.95, "groundedness": 0.91}


def test_a_question_that_passed_and_failed_is_named_as_flaky(
    save: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    save(passed("terms"), passed("prices"), passed("hours"))
    save(passed("terms"), failed("prices"), failed("hours", question="Another?"), timestamp="2126-11-06T00:00:00+00:00")
    status, printed, _ = save(
        passed("terms"), passed("prices"), failed("hours", question="Another?"), timestamp="2126-11-07T00:00:00+00:00"
    )
    assert (status, printed.splitlines()[1:]) == (0, ["flaky: billing::prices passed 2 of 3 times", QUARANTINE])
    rows = read_baseline(tmp_path / "ragcheck-baseline.json", name="b").rows
    assert [(row.passes, row.fails) for row in rows.values()] == [(3, 0), (2, 1), (0, 2)]


def test_a_baseline_that_is_a_link_is_written_where_the_link_points_to(save: Save, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    for name in ("ragcheck-baseline.json", "ragcheck-baseline.contexts.json"):
        (tmp_path / name).symlink_to(shared / name)
    save(passed("terms", contexts=["Refunds are possible for 30 days."]))
    save(failed("terms", contexts=["Refunds are possible for 90 days."]), timestamp=LATER)
    assert (tmp_path / "ragcheck-baseline.json").is_symlink()
    (row,) = read_baseline(shared / "ragcheck-baseline.json", name="b").rows.values()
    assert (row.passes, row.fails) == (1, 1)
    beside = json.loads((shared / "ragcheck-baseline.contexts.json").read_text(encoding="utf-8"))
    assert set(beside["contexts"].values()) == {
        "Refunds are possible for 30 days.",
        "Refunds are possible for 90 days.",
    }


def test_a_baseline_that_cannot_be_written_is_named_as_it_was_given(
    save: Save, tmp_path: Path, ragcheck: Callable[..., tuple[int, str, str]]
) -> None:
    save(passed("terms"))
    (tmp_path / "file").touch()
    status, _, errors = ragcheck("baseline", "save", "run.json", "-o", "file/b.json")
    assert (status, errors.partition(" (")[0]) == (
        2,
        "ragcheck baseline save: file/b.contexts.json: cannot be written",
    )


def test_a_second_save_at_the_same_time_waits_for_the_first(save: Save, tmp_path: Path) -> None:
    save(passed("terms"))
    (tmp_path / "ragcheck-baseline.json").rename(tmp_path / "first.json")
    (tmp_path / "later.json").write_text(json.dumps(predictions(passed("terms"), timestamp=LATER)), encoding="utf-8")
    lock = tmp_path / ".ragcheck-baseline.json.lock"
    with FileLock(lock, stays=False):
        command = [sys.executable, "-c", RAGCHECK, "baseline", "save", "later.json"]
        second = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        with pytest.raises(subprocess.TimeoutExpired):
            second.wait(timeout=3)
        (tmp_path / "first.json").rename(tmp_path / "ragcheck-baseline.json")
    printed, _ = second.communicate()
    assert printed.splitlines()[0].startswith("ragcheck-baseline.json: 1 question, 2 saved runs; ")
    assert sys.platform == "win32" or not lock.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot limit the size of files")
def test_a_save_that_ends_between_its_files_keeps_the_contexts_of_the_baseline(save: Save, tmp_path: Path) -> None:
    save(passed("terms", contexts=["Refunds are possible for 30 days."]))
    baseline, beside = tmp_path / "ragcheck-baseline.json", tmp_path / "ragcheck-baseline.contexts.json"
    before = baseline.read_bytes()
    row = passed("terms", question="Until when?", contexts=["Until the 30th."], prediction="Until the 30th. " * 1_000)
    (tmp_path / "run.json").write_text(json.dumps(predictions(row, timestamp=LATER)), encoding="utf-8")
    # The file of the contexts fits into the limit, and the baseline with the answer does not.
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (9_000, 9_000)); {RAGCHECK}"
    command = [sys.executable, "-B", "-c", limited, "baseline", "save", "run.json"]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (ended.returncode, "File too large" in ended.stderr) == (2, True)
    assert baseline.read_bytes() == before
    assert read_baseline(baseline, name="b").n_without_contexts == 0
    save(row, timestamp=LATER)
    assert list(json.loads(beside.read_bytes())["contexts"].values()) == ["Until the 30th."]


def judge(kind: str) -> dict[str, Any]:
    identity = {"kind": kind, "model": None, "url": None, "prompt_version": None}
    return {"judge": identity, "prompt_version": None}


@pytest.mark.parametrize(
    ("before", "now", "differs"),
    [
        (judge("offline"), judge("own"), "judge: offline then, own now"),
        ({}, {"prompt_version": "canned-2"}, "prompt: canned-1 then, canned-2 now"),
        ({}, {"tier": "generation"}, "tier: end_to_end then, generation now"),
        ({}, {"top_k": 3}, "top_k: 5 then, 3 now"),
    ],
)
def test_another_judge_prompt_tier_or_top_k_starts_a_new_history(
    save: Save, tmp_path: Path, before: dict[str, Any], now: dict[str, Any], differs: str
) -> None:
    save(failed("terms", **before), failed("prices"))
    status, printed, _ = save(passed("terms", **now), failed("prices"), timestamp="2126-11-06T00:00:00+00:00")
    replaced = (
        f"replaced, because of other settings ({differs}): 1 question of billing. "
        "Run with these settings from now on, or restore the earlier ragcheck-baseline.json."
    )
    assert (status, printed.splitlines()[1:]) == (0, [replaced])
    rows = read_baseline(tmp_path / "ragcheck-baseline.json", name="b").rows
    assert [(row.passes, row.fails, len(row.saved)) for row in rows.values()] == [(1, 0, 1), (0, 2, 2)]


def test_an_error_keeps_the_recorded_answers_of_its_question(save: Save, tmp_path: Path) -> None:
    save(passed("terms"), passed("hours"))
    status, printed, _ = save(passed("terms"), errored("hours"), timestamp="2126-11-06T00:00:00+00:00")
    assert (status, printed.splitlines()) == (
        0,
        [
            "ragcheck-baseline.json: 2 questions, 2 saved runs; contexts in ragcheck-baseline.contexts.json",
            "left out: billing::hours is an ERROR in this run (endpoint_timeout); its recorded answers stay",
        ],
    )
    assert {name: sum(counts) for name, (_, *counts) in recorded(tmp_path).items()} == {"terms": 2, "hours": 1}


def test_skipped_questions_and_turns_after_an_error_keep_their_recorded_answers(
    save: Save, accept: Save, tmp_path: Path
) -> None:
    save(passed("terms"), passed("talk[turn1]"), passed("talk[turn2]"), passed("hours"), passed("gone"))
    turns = [{"question": "What about talk[turn1]?"}, {"question": "What about talk[turn2]?"}]
    asked: list[dict[str, Any]] = [{"id": name, "question": f"What about {name}?"} for name in ("terms", "hours")]
    asked += [{"id": "talk", "turns": turns}]
    (tmp_path / "billing_questions.json").write_text(
        json.dumps({"dataset_name": "billing", "questions": asked}), encoding="utf-8"
    )
    rows = passed("terms"), errored("talk[turn1]")
    save(*rows, timestamp="2126-11-06T00:00:00+00:00")
    kept = {"terms": 2, "talk[turn1]": 1, "talk[turn2]": 1, "hours": 1}
    assert {name: sum(counts) for name, (_, *counts) in recorded(tmp_path).items()} == kept
    _, printed, _ = accept(*rows)
    assert printed.splitlines()[0] == "ragcheck-baseline.json: no answer differs from the recorded ones"


FILE = {"searched": ["billing::*"], "left_out": [], "test_files": []}
EVERYTHING = {**FILE, "searched": ["*"]}


def of_shop(name: str) -> dict[str, Any]:
    return passed(name, dataset_name="shop")


def test_a_run_of_one_file_keeps_the_questions_of_the_other_files(save: Save, tmp_path: Path) -> None:
    save(passed("terms"), passed("gone"), of_shop("shipping"), of_shop("duties"))
    later = {"timestamp": "2126-11-06T00:00:00+00:00", "reach": FILE}
    assert save(passed("terms"), **later)[1].splitlines() == [
        "ragcheck-baseline.json: 3 questions, 2 saved runs; contexts in ragcheck-baseline.contexts.json",
        "dropped, because missing: 1 question of billing",
        "kept, because not run: 2 questions of shop",
    ]
    assert recorded(tmp_path).keys() == {"terms", "shipping", "duties"}
    save(passed("terms"), timestamp=LATER, reach={**EVERYTHING, "left_out": ["shop::ship*"]})
    assert recorded(tmp_path).keys() == {"terms", "shipping"}


def test_accepting_a_run_of_one_file_keeps_the_questions_of_the_other_files(
    save: Save, accept: Save, tmp_path: Path
) -> None:
    save(passed("terms"), of_shop("shipping"))
    assert accept(passed("terms"), reach=FILE)[1].splitlines() == [
        "ragcheck-baseline.json: no answer differs from the recorded ones",
        "kept, because not run: 1 question of shop",
    ]
    assert accept(passed("terms"), ids=("shipping",), reach=FILE) == (
        2,
        "",
        "ragcheck baseline accept: 'shipping' was not run, so there is no answer to accept. Run it, or leave it out.\n",
    )
    assert accept(passed("terms"), reach=EVERYTHING)[1].splitlines()[1:] == ["shop::shipping: PASS -> gone"]
    assert recorded(tmp_path).keys() == {"terms"}


def test_a_file_of_skipped_questions_alone_keeps_their_recorded_answers(save: Save, tmp_path: Path) -> None:
    save(passed("terms"), of_shop("shipping"))
    asked = {"dataset_name": "shop", "questions": [{"id": "shipping", "question": "What about shipping?"}]}
    (tmp_path / "shop_questions.json").write_text(json.dumps(asked), encoding="utf-8")
    save(passed("terms"), timestamp=LATER, reach=EVERYTHING)
    assert recorded(tmp_path).keys() == {"terms", "shipping"}


@pytest.mark.parametrize(
    ("arguments", "gone"),
    [
        ([], True),
        ([".", "-opython_files="], True),
        (["--ignore=gone.rag.yaml"], False),
        (["billing.rag.yaml"], False),
        (["inner"], False),
    ],
)
def test_a_report_and_a_saved_run_lack_the_questions_that_are_missing_in_the_run(
    project: Project, ragcheck: Save, arguments: list[str], gone: bool
) -> None:
    files = {"terms": "billing.rag.yaml", "a": "shop.rag.yaml", "b": "gone.rag.yaml", "c": "inner/news.rag.yaml"}
    skipped = good("a", skip="not today")
    for name, file in files.items():
        project.ask(good(name), file=file)
    call = "    rag_check('What about terms?').assert_passed()\n"
    project.write("test_own.py", f"def test_one(rag_check):\n{call}")
    project.run("--rag-output=first")
    ragcheck("baseline", "save", "first")
    (project.folder / "gone.rag.yaml").unlink()
    project.ask(skipped, file="shop.rag.yaml")
    project.write("test_own.py", f"def test_one(rag_check):\n    assert 0\n{call}")
    lines = project.run(*arguments).lines
    absent = [line for line in lines if line.startswith(("missing:", "not compared, "))]
    assert ragcheck("report", "ragcheck-results", "--baseline=ragcheck-baseline.json", "-o", "r.md")[0] == 0
    report = (project.folder / "r.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in report if line.startswith(("missing:", "not compared, "))] == absent
    assert ("missing:" in absent) is gone
    assert "kept, because not run: " in ragcheck("baseline", "save")[1]
    assert recorded(project.folder).keys() == {*files, "test_one-1"} - ({"b"} if gone else set())


@pytest.mark.parametrize(
    ("files", "place"),
    [
        ({"pytest.ini": "[pytest]\n"}, "ragcheck-baseline.json"),
        ({"pytest.ini": "[pytest]\nrag_baseline = kept/base.json\n"}, "kept/base.json"),
        ({"pytest.ini": "[pytest]\nrag_baseline = git:HEAD:base.json\n"}, "base.json"),
        ({"pyproject.toml": "[tool.pytest]\naddopts = ['-o', 'rag_baseline=kept/b.json']"}, "kept/b.json"),
        ({"pyproject.toml": ""}, "ragcheck-baseline.json"),
        ({"setup.py": ""}, "ragcheck-baseline.json"),
    ],
)
def test_the_baseline_is_written_where_a_run_reads_it(
    tmp_path: Path, ragcheck: Save, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], place: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for folder in ("ragcheck-results", "tests"):
        (tmp_path / folder).mkdir()
    run = json.dumps(predictions(passed("terms")))
    (tmp_path / "ragcheck-results" / "rag_predictions.json").write_text(run, encoding="utf-8")
    monkeypatch.chdir(tmp_path / "tests")
    contexts = (tmp_path / place).with_suffix(".contexts.json").name
    assert ragcheck("baseline", "save") == (0, f"../{place}: 1 question, 1 saved run; contexts in {contexts}\n", "")
    assert ragcheck("baseline", "accept")[1] == f"../{place}: no answer differs from the recorded ones\n"
    monkeypatch.chdir(tmp_path)
    assert ragcheck("baseline", "accept")[1] == f"{place}: no answer differs from the recorded ones\n"
    assert (
        ragcheck("baseline", "save", "-o", "own.json")[1]
        == "own.json: 1 question, 1 saved run; contexts in own.contexts.json\n"
    )


@pytest.mark.parametrize(
    ("ini", "added"),
    [
        ("rag_output = out/results", ""),
        ("addopts = -q --rag-output=../out/results -p no:x", ""),
        ("addopts = -o rag_output=out/results", ""),
        ("rag_output = other\naddopts = --rag-output other", "--rag-output=../out/results"),
    ],
)
def test_the_results_are_read_where_a_run_puts_them(
    tmp_path: Path, ragcheck: Save, monkeypatch: pytest.MonkeyPatch, ini: str, added: str
) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", added)
    (tmp_path / "pytest.ini").write_text(f"[pytest]\n{ini}\n", encoding="utf-8")
    for folder in ("out/results", "tests"):
        (tmp_path / folder).mkdir(parents=True)
    run = json.dumps(predictions(passed("terms")))
    (tmp_path / "out/results" / "rag_predictions.json").write_text(run, encoding="utf-8")
    monkeypatch.chdir(tmp_path / "tests")
    assert ragcheck("baseline", "save")[0] == 0
    assert (tmp_path / "ragcheck-baseline.json").exists()


@pytest.mark.parametrize(
    ("added", "why"),
    [("--rag-output 'x", "No closing quotation"), ("--rag-output", "argument --rag-output: expected one argument")],
)
def test_options_that_cannot_be_read_are_named(
    ragcheck: Save, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, added: str, why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTEST_ADDOPTS", added)
    said = f"ragcheck baseline save: addopts or PYTEST_ADDOPTS cannot be read: {why}. Correct it.\n"
    assert ragcheck("baseline", "save") == (2, "", said)


def test_results_of_another_version_are_refused_with_a_remedy_for_results(save: Save) -> None:
    assert save(passed("terms"), schema_version="2")[2] == (
        'ragcheck baseline save: run.json: it has "schema_version" "2", and this pytest-ragcheck reads "1". '
        "Run the questions once more to have such a file.\n"
    )


def test_a_run_with_errors_alone_is_refused(save: Save, accept: Save, tmp_path: Path) -> None:
    said = (
        "every question is an ERROR (endpoint_timeout), so the run has no answers to keep. "
        "Fix what its messages name, and run again.\n"
    )
    assert save(errored("terms"), errored("hours")) == (2, "", f"ragcheck baseline save: run.json: {said}")
    assert not (tmp_path / "ragcheck-baseline.json").exists()
    save(passed("terms"))
    written = (tmp_path / "ragcheck-baseline.json").read_bytes()
    assert accept(errored("terms")) == (2, "", f"ragcheck baseline accept: later.json: {said}")
    assert (tmp_path / "ragcheck-baseline.json").read_bytes() == written


def test_a_partial_run_is_refused(save: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    assert save(passed("terms"), complete=False) == (
        2,
        "",
        (
            'ragcheck baseline save: run.json: "complete" is false: it is of a partial run, which has only some of '
            "the questions. Give the {agent}_predictions.json of a full run.\n"
        ),
    )
    assert not (tmp_path / "ragcheck-baseline.json").exists()


def test_the_folder_of_a_partial_run_alone_is_refused(tmp_path: Path, save: Save, ragcheck: Save) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "rag.partial_predictions.json").write_text(json.dumps(predictions(passed("terms"))))
    text = "out: it has only rag.partial_predictions.json, of a partial run. Run all questions.\n"
    assert ragcheck("baseline", "save", "out") == (2, "", f"ragcheck baseline save: {text}")


def test_a_baseline_is_no_run(save: Save, ragcheck: Save, tmp_path: Path) -> None:
    save(passed("terms"))
    assert ragcheck("baseline", "save", "ragcheck-baseline.json", "-o", "other.json") == (
        2,
        "",
        (
            "ragcheck baseline save: ragcheck-baseline.json: it is a baseline, and not the results of a run. "
            "Give the {agent}_predictions.json of a full run.\n"
        ),
    )
    assert not (tmp_path / "other.json").exists()


def test_a_file_that_is_none_is_not_written_over(save: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    (tmp_path / "ragcheck-baseline.json").write_text('{"mine": 1}', encoding="utf-8")
    status, _, error = save(passed("terms"))
    assert (status, error) == (
        2,
        (
            "ragcheck baseline save: ragcheck-baseline.json: it is not a predictions file. Give -o another file, or "
            "move that one away.\n"
        ),
    )
    assert (tmp_path / "ragcheck-baseline.json").read_text(encoding="utf-8") == '{"mine": 1}'


def test_a_secret_of_the_environment_is_not_written(
    save: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGCHECK_URL", "http://reader:pa55-w0rd-of-url@localhost/query")
    save(passed("terms", question="Is it pa55-w0rd-of-url?"))
    assert "pa55-w0rd-of-url" not in (tmp_path / "ragcheck-baseline.json").read_text(encoding="utf-8")


def test_a_row_repeats_nothing_of_its_latest_answer(save: Save, tmp_path: Path) -> None:
    judge: dict[str, Any] = {"kind": "openai", "model": "m", "url": None, "prompt_version": "en-2"}
    save(passed("terms", judge=judge, prompt_version="en-2"))
    # The same answer, which passes no more under another threshold.
    later = {"judge": judge, "prompt_version": "en-2", "thresholds": {"groundedness": 0.95}}
    (row,) = json.loads((tmp_path / "ragcheck-baseline.json").read_text(encoding="utf-8"))["predictions"]
    assert not {"verdict", "metrics", "judge", "prompt_version", "prediction"} & row.keys()
    save(failed("terms", **later, metrics=passed()["metrics"]), timestamp="2126-11-06T00:00:00+00:00")
    (row,) = json.loads((tmp_path / "ragcheck-baseline.json").read_text(encoding="utf-8"))["predictions"]
    assert (row["verdict"], len(row["answers"]), row["runs"]) == ("FAIL", 1, [[0], [0]])
    (read,) = read_baseline(tmp_path / "ragcheck-baseline.json", name="b").rows.values()
    assert (read.verdict.value, read.answer, read.judge, read.prompt_version, dict(read.metrics)) == (
        "FAIL", "The window is 30 days.", JudgeIdentity(**judge), "en-2", passed()["metrics"],
    )  # fmt: skip


def test_a_run_is_saved_once(save: Callable[..., tuple[int, str, str]]) -> None:
    save(passed("terms"))
    assert save(passed("terms")) == (
        2,
        "",
        (
            "ragcheck baseline save: run.json: this run was saved into ragcheck-baseline.json before. "
            "Save each run once.\n"
        ),
    )


def test_a_replayed_merged_or_resumed_answer_counts_once(project: Project, ragcheck: Save) -> None:
    once = "asked in a saved run, and counted once: 2 questions of billing"

    def saved(results: str = "ragcheck-results") -> list[str]:
        # The runs before are printed, too.
        lines = ragcheck("baseline", "save", results)[1].splitlines()
        return [
            line.partition("; contexts")[0]
            for line in lines
            if line.startswith("ragcheck-baseline.json:") or line == once
        ]

    project.ask(good("terms"), good("prices"))
    for shard in (1, 2):
        project.run(f"--rag-shard={shard}/2", f"--rag-output=part-{shard}")
    ragcheck("merge", "part-1", "part-2")
    assert saved() == ["ragcheck-baseline.json: 2 questions, 1 saved run"]
    ragcheck("merge", "part-1", "part-2")
    assert saved() == ["ragcheck-baseline.json: 2 questions, 1 saved run", once]
    project.run("--rag-replay=ragcheck-results", "--rag-output=again")
    assert saved("again") == ["ragcheck-baseline.json: 2 questions, 1 saved run", once]
    project.run()
    assert saved() == ["ragcheck-baseline.json: 2 questions, 2 saved runs"]
    project.run("--rag-resume")
    assert saved() == ["ragcheck-baseline.json: 2 questions, 2 saved runs", once]
    assert {name: counts for name, (_, *counts) in recorded(project.folder).items()} == {
        "terms": [2, 0],
        "prices": [2, 0],
    }


def asked(day: int) -> dict[str, Any]:
    return {"asked_at": f"2126-11-0{day}T09:00:00.000+00:00"}


def test_a_saved_ask_takes_the_verdict_of_its_replay(save: Save, tmp_path: Path) -> None:
    labels = {"labels": {"expected": "0" * 16}}
    look: dict[str, Any] = {"answer": None, "scores": {}, "passed": False}
    gate = {"gate": "confirmed", "thresholds": {}, "now": look, "known": [], "replies": [look], "saved_runs": []}
    assert save(failed("terms", **asked(1), gate=gate), failed("prices"))[0] == 0
    replayed = {"timestamp": "2126-11-06T00:00:00+00:00", "replay_of": "rag_predictions.json"}
    _, printed, _ = save(passed("terms", **asked(1), **labels), failed("prices", **asked(2)), **replayed)
    assert printed.splitlines()[1] == "asked in a saved run, and counted once: 1 question of billing"
    rows = read_baseline(tmp_path / "ragcheck-baseline.json", name="b").rows
    assert [(row.passes, row.fails, len(row.saved), len(row.answers)) for row in rows.values()] == [
        (1, 0, 1, 2),
        (0, 2, 2, 2),
    ]


def test_looks_are_in_the_order_in_which_they_were_asked(save: Save, tmp_path: Path) -> None:
    ends = [f"2126-11-0{day}T12:00:00+00:00" for day in (5, 1, 3)]
    save(passed("terms", **asked(5)), timestamp=ends[0])
    save(failed("terms", **asked(1), thresholds={"groundedness": 0.9}), timestamp=ends[1])
    # Of an earlier version, without the time of its ask.
    save(failed("terms", prediction="None."), timestamp=ends[2])
    document = json.loads((tmp_path / "ragcheck-baseline.json").read_bytes())
    assert (document["timestamp"], document["runs"]) == (ends[0], sorted(ends))
    assert list(schema_mistakes("baseline", document)) == []
    (row,) = read_baseline(tmp_path / "ragcheck-baseline.json", name="b").rows.values()
    assert (row.verdict.value, row.thresholds, row.passes, row.fails) == ("PASS", passed()["thresholds"], 1, 2)
    assert [[look.text for look in run] for run in row.saved] == [
        ["The window is 30 days."],
        ["None."],
        ["The window is 30 days."],
    ]


def test_a_baseline_of_an_earlier_version_is_before_every_later_run(save: Save, tmp_path: Path) -> None:
    save(passed("terms"))
    path = tmp_path / "ragcheck-baseline.json"
    document = json.loads(path.read_bytes())
    del document["predictions"][0]["asked"]
    path.write_text(json.dumps(document), encoding="utf-8")
    save(failed("terms", prediction="None.", **asked(1)), timestamp="2126-11-01T12:00:00+00:00")
    assert [run[0].passed for run in read_baseline(path, name="b").rows["billing", "terms"].saved] == [True, False]
    assert json.loads(path.read_bytes())["predictions"][0]["asked"] == ["", asked(1)["asked_at"]]


def test_a_saved_ask_under_other_settings_starts_anew(save: Save, tmp_path: Path) -> None:
    save(passed("terms", **asked(1)))
    _, printed, _ = save(failed("terms", **asked(1), prompt_version="canned-2"), timestamp=LATER)
    assert printed.splitlines()[1].startswith("replaced, because of other settings")
    (row,) = read_baseline(tmp_path / "ragcheck-baseline.json", name="b").rows.values()
    assert (row.verdict.value, row.passes, row.fails) == ("FAIL", 0, 1)


@pytest.fixture
def accept(tmp_path: Path, ragcheck: Callable[..., tuple[int, str, str]]) -> Callable[..., tuple[int, str, str]]:
    """Accepts a later run with these rows into ragcheck-baseline.json."""

    def accepted(*rows: dict[str, Any], ids: tuple[str, ...] = (), **top: Any) -> tuple[int, str, str]:
        document = predictions(*rows, timestamp=LATER, **top)
        (tmp_path / "later.json").write_text(json.dumps(document), encoding="utf-8")
        return ragcheck("baseline", "accept", "--results=later.json", *ids)

    return accepted


def recorded(folder: Path) -> dict[str, tuple[list[str], int, int]]:
    """By question: the distinct recorded answers, and how often the question passed and failed."""
    rows = read_baseline(folder / "ragcheck-baseline.json", name="b").rows.values()
    return {
        row.id: (sorted({str(look.text) for looks in row.saved for look in looks}), row.passes, row.fails)
        for row in rows
    }


def test_all_answers_that_differ_are_accepted_and_the_others_keep_their_history(
    save: Save, accept: Save, tmp_path: Path
) -> None:
    rows = passed("terms"), passed("prices"), passed("gone"), passed("hours")
    save(*rows)
    save(*rows, timestamp="2126-11-06T00:00:00+00:00")
    new = failed("prices", prediction="It is free.", contexts=["Prices start at 10."])
    status, printed, _ = accept(passed("terms"), new, errored("hours"), passed("added"))
    assert (status, printed.splitlines()) == (
        0,
        [
            f"ragcheck-baseline.json: 3 accepted of {LATER}",
            "billing::prices: PASS -> FAIL, which the gate tolerates from now on",
            "billing::added: new -> PASS",
            "billing::gone: PASS -> gone",
            "left out: billing::hours is an ERROR in this run (endpoint_timeout); its recorded answers stay",
        ],
    )
    window = ["The window is 30 days."]
    assert recorded(tmp_path) == {
        "terms": (window, 2, 0),
        "prices": (["It is free."], 0, 1),
        "hours": (window, 2, 0),
        "added": (window, 1, 0),
    }
    beside = json.loads((tmp_path / "ragcheck-baseline.contexts.json").read_text(encoding="utf-8"))
    assert list(beside["contexts"].values()) == ["Prices start at 10."]


@pytest.mark.parametrize("name", ["prices", "billing::prices"])
def test_named_questions_alone_are_accepted(save: Save, accept: Save, tmp_path: Path, name: str) -> None:
    save(passed("terms"), passed("prices"))
    later = passed("terms", prediction="None."), failed("prices", prediction="It is free."), errored("hours")
    assert accept(*later, ids=(name,))[1].splitlines()[1:] == [
        "billing::prices: PASS -> FAIL, which the gate tolerates from now on"
    ]
    assert recorded(tmp_path) == {"terms": (["The window is 30 days."], 1, 0), "prices": (["It is free."], 0, 1)}


def test_an_answer_of_any_recorded_run_does_not_differ(save: Save, accept: Save, tmp_path: Path) -> None:
    save(passed("terms"))
    save(passed("terms", prediction="30 days."), timestamp="2126-11-06T00:00:00+00:00")
    written = (tmp_path / "ragcheck-baseline.json").read_bytes()
    assert accept(passed("terms")) == (0, "ragcheck-baseline.json: no answer differs from the recorded ones\n", "")
    assert (tmp_path / "ragcheck-baseline.json").read_bytes() == written


def test_a_question_that_passed_when_asked_again_is_accepted_by_its_id_alone(
    save: Save, accept: Save, tmp_path: Path
) -> None:
    rows = passed("terms"), passed("prices"), passed("hours")
    save(*rows)
    save(*rows, timestamp="2126-11-06T00:00:00+00:00")
    again = {"prediction": "None.", "asked_again": ["FAIL", "PASS"]}
    later = passed("terms"), failed("prices", **again), failed("hours", prediction="None.", asked_again=["FAIL"] * 4)
    assert accept(*later)[1].splitlines() == [
        f"ragcheck-baseline.json: 1 accepted of {LATER}",
        "billing::hours: PASS -> FAIL, which the gate tolerates from now on",
        "left out, because they passed when asked again (an ID accepts one): 1 question of billing",
    ]
    assert {name: counts for name, (_, *counts) in recorded(tmp_path).items()} == {
        "terms": [2, 0],
        "prices": [2, 0],
        "hours": [0, 1],
    }
    assert accept(*later, ids=("prices",))[1].splitlines()[1:] == [
        "billing::prices: PASS -> FAIL, which the gate tolerates from now on"
    ]


def test_a_leak_is_accepted_though_the_question_passed_when_asked_again(save: Save, accept: Save) -> None:
    asserted = {"thresholds": {"must_not_mention": 1.0}}
    save(passed("pay", metrics={"must_not_mention": 1.0}, **asserted))
    leak = failed("pay", metrics={"must_not_mention": 0.5}, prediction="It leaks.", asked_again=["PASS"], **asserted)
    assert accept(leak)[1].splitlines()[1:] == ["billing::pay: PASS -> FAIL, which the gate tolerates from now on"]


def test_the_same_answer_from_another_forbidden_document_differs(save: Save, accept: Save) -> None:
    leak = {"metrics": {"must_not_retrieve": 0.5}, "contexts": ["A text."], "thresholds": {"must_not_retrieve": 1.0}}
    save(failed("pay", source_ids=["pay.md"], **leak), passed("terms", contexts=["A text."], source_ids=["one.md"]))
    later = passed("terms", contexts=["A text."], source_ids=["two.md"])
    found = accept(failed("pay", source_ids=["plans.md"], **leak), later)
    assert found[1].splitlines()[1:] == ["billing::pay: FAIL -> FAIL, which the gate tolerates from now on"]


OFFLINE = {"kind": "offline", "model": None, "url": None, "prompt_version": "offline-5"}


@pytest.mark.parametrize(
    "settings",
    [{"top_k": 3}, {"tier": "generation"}, {"metrics": {"groundedness": 0.91}}, {"judge": OFFLINE}],
)
def test_a_run_that_the_gate_refuses_is_accepted_with_the_same_answers(
    save: Save, accept: Save, tmp_path: Path, settings: dict[str, Any]
) -> None:
    save(passed("terms", **settings))
    save(passed("terms"), timestamp="2126-11-06T00:00:00+00:00")
    assert accept(passed("terms", **settings))[1].splitlines()[1:] == ["billing::terms: PASS -> PASS"]
    row = json.loads((tmp_path / "ragcheck-baseline.json").read_text(encoding="utf-8"))["predictions"][0]
    assert settings.items() <= {**row["answers"][0], **row}.items()


def test_a_later_partial_run_is_left_out_and_named(
    save: Save, tmp_path: Path, ragcheck: Callable[..., tuple[int, str, str]]
) -> None:
    save(passed("terms"))
    (tmp_path / "out").mkdir()
    for name, ended in (("rag", LATER), ("rag.partial", "2126-11-10T00:00:00+00:00")):
        document = predictions(failed("terms"), timestamp=ended)
        (tmp_path / "out" / f"{name}_predictions.json").write_text(json.dumps(document), encoding="utf-8")
    left_out = "the partial run of 2126-11-10T00:00:00+00:00, which is later; run all questions to accept its answers"
    for first in (f"1 accepted of {LATER}", "no answer differs from the recorded ones"):
        lines = ragcheck("baseline", "accept", "--results=out")[1].splitlines()
        assert (lines[0], lines[-1]) == (f"ragcheck-baseline.json: {first}", f"left out: {left_out}")


def test_an_accepted_run_cannot_be_added_once_more(
    save: Save, accept: Save, ragcheck: Callable[..., tuple[int, str, str]]
) -> None:
    save(passed("terms"))
    accept(failed("terms"))
    status, _, error = ragcheck("baseline", "save", "later.json")
    assert (status, "this run was saved into ragcheck-baseline.json before" in error) == (2, True)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("term", "'term' is not a question of the run or the baseline. Give one of their ids."),
        ("hours", "'hours' is an ERROR in the run, so there is no answer to accept. Run it again."),
        (
            "prices",
            "'prices' is a question of several datasets. Give one of billing::prices, shop::prices.",
        ),
    ],
)
def test_a_question_that_cannot_be_accepted_is_refused(
    save: Save, accept: Save, tmp_path: Path, name: str, text: str
) -> None:
    rows = passed("terms"), passed("prices"), passed("prices", dataset_name="shop")
    save(*rows)
    written = (tmp_path / "ragcheck-baseline.json").read_bytes()
    refused = accept(*rows, errored("hours"), ids=("terms", name))
    assert refused == (2, "", f"ragcheck baseline accept: {text}\n")
    assert (tmp_path / "ragcheck-baseline.json").read_bytes() == written


def test_nothing_is_accepted_without_a_baseline(accept: Save, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert accept(passed("terms")) == (
        2,
        "",
        (
            "ragcheck baseline accept: ragcheck-baseline.json: there is no such file. "
            "Make it with ragcheck baseline save.\n"
        ),
    )


@pytest.mark.parametrize("action", ["save", "accept"])
def test_a_run_that_shares_no_question_with_the_baseline_is_refused(
    save: Save, accept: Save, tmp_path: Path, action: str
) -> None:
    save(passed("terms"), passed("hours"))
    files = {each.name: each.read_bytes() for each in tmp_path.glob("ragcheck-baseline*")}
    status, _, error = save(of_shop("terms"), timestamp=LATER) if action == "save" else accept(of_shop("terms"))
    assert (status, error) == (
        2,
        (
            f"ragcheck baseline {action}: {'run' if action == 'save' else 'later'}.json: it shares no question with "
            "ragcheck-baseline.json. Give -o another file, or move that one away.\n"
        ),
    )
    assert {each.name: each.read_bytes() for each in tmp_path.glob("ragcheck-baseline*")} == files


@pytest.mark.parametrize("action", ["save", "accept"])
def test_a_baseline_in_an_output_folder_is_refused(
    tmp_path: Path, ragcheck: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    monkeypatch.chdir(tmp_path)
    outcomes = some_outcomes(PASSED)
    write_results(outcomes, aggregate(outcomes), tmp_path / "results", Redactor())
    given = "results/rag_predictions.json", "-o", "results/baseline.json"
    assert ragcheck("baseline", action, *given) == (
        2,
        "",
        (
            f"ragcheck baseline {action}: results/baseline.json: it is in the output folder, whose files the next run "
            "replaces. Save the run with ragcheck baseline save, which writes ragcheck-baseline.json.\n"
        ),
    )
    assert not (tmp_path / "results" / "baseline.json").exists()


def test_the_page_says_how_much_a_baseline_takes(save: Save, tmp_path: Path) -> None:
    page = (DOCS / "how-to" / "gate-on-regressions.md").read_text(encoding="utf-8")
    (stated,) = re.findall(
        r"1,000 questions, .* take ([\d.]+) MB in .ragcheck-baseline.json. and ([\d.]+) MB in .*\n.* adds (\d+) kB",
        page,
    )
    judge = {"kind": "openai", "model": "gpt-5-mini", "url": "https://judge.example/v1", "prompt_version": "en-2"}
    judgement = {
        "answer_correctness": 0.95, "groundedness": 0.91, "error_message": "", "abstained": False,
        "material": "0" * 64, "served_by": "gpt-5-mini",
    }  # fmt: skip
    metrics = {"answer_correctness": 0.95, "groundedness": 0.91, "exact_match": 0.0, "f1": 0.5123, "abstained": 0.0}
    labels = dict.fromkeys(("expected", "gold", "mentions"), "0" * 16)
    rows = [
        passed(
            f"q{n}", question="w" * 70, prediction="a" * 300, contexts=[f"{n} {i} ".ljust(800, "c") for i in range(5)],
            source_ids=[f"handbook-{i}.md" for i in range(5)], judge=judge, judgement=judgement, metrics=metrics,
            prompt_version="en-2", latency_seconds=0.123456, labels=labels, asked_at="2126-11-05T12:29:00.123+00:00",
        )
        for n in range(50)
    ]  # fmt: skip
    save(*rows)
    baseline, contexts = (tmp_path / f"ragcheck-baseline{ending}.json" for ending in ("", ".contexts"))
    first = baseline.stat().st_size
    save(*({**row, "asked_at": "2126-11-09T12:29:00.123+00:00"} for row in rows), timestamp=LATER)
    per_thousand = [20 * first / 1e6, 20 * contexts.stat().st_size / 1e6, 20 * (baseline.stat().st_size - first) / 1e3]
    assert per_thousand == pytest.approx([float(each) for each in stated], rel=0.1)
