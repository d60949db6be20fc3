"""`ragcheck merge` decides over the shards like the gate of a single run."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.report.files.result_files import write_shard
from pytest_ragcheck.summary.judge_calibration import Agreement
from pytest_ragcheck.summary.run_outcomes import GateRules, Reach
from pytest_ragcheck.verdict.verdict import Verdict
from tests.baselines import failed, passed, predictions
from tests.making import OFFLINE, a_question, a_record, an_error, some_outcomes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_ragcheck.verdict.record import Record

    Ragcheck = Callable[..., tuple[int, str, str]]

REGRESSION = GateRules(gate="regression")
LIMIT = {"groundedness": 0.7}


def good(name: str) -> Record:
    return a_record(name, scores={"groundedness": 0.9}, thresholds=LIMIT)


def bad(name: str, *again: str, **asked: Any) -> Record:
    return a_record(
        name,
        question=a_question(name, **asked),
        verdict=Verdict.FAIL,
        scores={"groundedness": 0.3},
        thresholds=LIMIT,
        reason="unsupported",
        asked_again=again,
    )


def shards(folder: Path, *records: Record, **said: Any) -> str:
    """Two shards of a run with these records, in a folder."""
    whole = some_outcomes(*records, **said)
    for number in (1, 2):
        part = replace(whole, records=records[number - 1 :: 2], shard=(number, 2), complete=False)
        write_shard(part, folder / "parts" / str(number), Redactor())
    return str(folder / "parts")


@pytest.fixture
def merge(tmp_path: Path, ragcheck: Ragcheck, monkeypatch: pytest.MonkeyPatch) -> Ragcheck:
    """Merges the folder's shards, compared with baseline.json if that is written."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: ragcheck("merge", "parts", *arguments)


def write_baseline(folder: Path, *rows: dict[str, Any]) -> None:
    rows = tuple({**row, "prompt_version": "offline-1", "judge": None, "top_k": None} for row in rows)
    (folder / "baseline.json").write_text(json.dumps(predictions(*rows)), encoding="utf-8")


WITH = ("--baseline", "baseline.json")


def row(name: str, **said: Any) -> dict[str, Any]:
    return passed(name, metrics={"groundedness": 0.9}, thresholds=LIMIT, **said)


def test_merged_replays_name_their_recording(tmp_path: Path, merge: Ragcheck) -> None:
    shards(tmp_path, good("a"), good("b"), replay_of="recorded.json")
    status, printed, _ = merge()
    assert (status, printed.splitlines().count("answers: recorded in recorded.json")) == (0, 1)
    predictions = json.loads((tmp_path / "ragcheck-results" / "rag_predictions.json").read_bytes())
    assert predictions["replay_of"] == "recorded.json"


def test_the_agreement_of_the_judge_with_people_is_that_of_the_shards(tmp_path: Path, merge: Ragcheck) -> None:
    measured = Agreement(
        path=tmp_path / "calibration.json",
        score="groundedness",
        judge=OFFLINE,
        n=300,
        accuracy=0.87,
        balanced_accuracy=None,
        threshold=0.7,
    )
    shards(tmp_path, good("a"), good("b"), agreements=(measured,))
    status, printed, _ = merge()
    assert status == 0
    assert "agrees with people on 87% of 300 answers" in printed
    summary = json.loads((tmp_path / "ragcheck-results" / "rag_summary.json").read_bytes())
    assert summary["judge_agreement"]["groundedness"]["n"] == 300


def test_all_pass_is_0_and_a_fail_is_1(tmp_path: Path, merge: Ragcheck) -> None:
    shards(tmp_path, good("a"), good("b"))
    assert merge()[0] == 0
    shards(tmp_path, good("a"), bad("b"))
    status, printed, _ = merge()
    assert status == 1
    assert "FAIL or ERROR: billing::b" in printed.splitlines()


def test_a_shard_that_was_stopped_is_red(tmp_path: Path, merge: Ragcheck) -> None:
    shards(tmp_path, good("a"), good("b"), stopped="the run was stopped before its end")
    status, told, _ = merge()
    assert (status, told.splitlines()[-2:]) == (
        1,
        [
            f"shard {number} of 2 is incomplete: the run was stopped before its end. Run it again, and merge."
            for number in (1, 2)
        ],
    )


EARLIER = (
    "shard 1 of 2 ended at 2026-11-04T12:29:59+00:00, more than a day before the last one. "
    "If it is of an earlier run, run it again, and merge."
)


def test_a_shard_that_ended_more_than_a_day_before_the_last_one_is_named(tmp_path: Path, merge: Ragcheck) -> None:
    shards(tmp_path, good("a"), good("b"))
    path = tmp_path / "parts" / "1" / "rag.shard-1-of-2.json"
    document = json.loads(path.read_bytes())
    for seconds, lines in ((86_000, []), (86_401, [EARLIER])):
        path.write_text(json.dumps({**document, "ended": document["ended"] - seconds}), encoding="utf-8")
        status, printed, _ = merge()
        assert (status, [line for line in printed.splitlines() if line.startswith("shard ")]) == (0, lines)


def test_what_was_expected_to_fail_or_is_in_quarantine_is_not_red(tmp_path: Path, merge: Ragcheck) -> None:
    shards(tmp_path, bad("a", quarantine="flaky"), bad("b"), excused={("billing", "b"): "expected to fail"})
    assert merge()[0] == 0


def test_a_suspect_of_the_shards_gate_is_green_and_many_are_red(tmp_path: Path, merge: Ragcheck) -> None:
    names = [f"q{number}" for number in range(12)]
    write_baseline(tmp_path, *map(row, names))
    shards(tmp_path, bad("q0", "FAIL", "FAIL"), *map(good, names[1:]), rules=REGRESSION)
    status, printed, _ = merge(*WITH)
    assert (status, "confirmed as failing:" in printed) == (0, True)
    summary = tmp_path / "ragcheck-results" / "rag_summary.json"
    assert "confirmed" not in json.loads(summary.read_bytes())["gate"]
    shards(tmp_path, *(bad(name, "FAIL", "FAIL") for name in names), rules=REGRESSION)
    status, printed, _ = merge(*WITH)
    assert status == 1
    assert "gate regression: RED: 12 confirmed as failing against baseline.json" in printed
    assert json.loads(summary.read_bytes())["gate"]["confirmed"] == [f"billing::{name}" for name in names]
    assert printed.count("  q3: groundedness 0.90 -> 0.30 < 0.70: unsupported\n    failed 3 of 3 times\n") == 1


def test_shards_that_ran_without_the_gate_have_unconfirmed_failures(tmp_path: Path, merge: Ragcheck) -> None:
    write_baseline(tmp_path, row("a"), row("b"))
    shards(tmp_path, good("a"), bad("b"))
    status, printed, _ = merge(*WITH, "--gate=regression")
    assert status == 1
    assert (
        "2 questions replayed, or ran without this gate or with another baseline: "
        "nothing was scored or asked again, or judged side by side. "
        "Ask the system with --rag-gate=regression and the baseline."
    ) in printed.splitlines()
    assert "baseline baseline.json: 1 newly failing, unconfirmed, 1 as before" in printed


def test_a_comparing_gate_without_a_baseline_takes_the_default_one_or_becomes_each(
    tmp_path: Path, merge: Ragcheck
) -> None:
    shards(tmp_path, good("a"), bad("b"), rules=REGRESSION)
    note = (
        "gate each: the run's gate regression has nothing to compare with here, neither --baseline nor "
        "ragcheck-baseline.json"
    )
    status, printed, _ = merge()
    assert (status, note in printed.splitlines()) == (1, True)
    write_baseline(tmp_path, row("a"), failed("b", metrics={"groundedness": 0.3}, thresholds=LIMIT))
    (tmp_path / "baseline.json").rename(tmp_path / "ragcheck-baseline.json")
    status, printed, _ = merge()
    assert (status, "gate each" in printed) == (0, False)
    assert "baseline ragcheck-baseline.json: 1 still failing, 1 as before" in printed.splitlines()


def test_the_gate_each_takes_the_default_baseline_as_a_run_does(tmp_path: Path, merge: Ragcheck) -> None:
    write_baseline(tmp_path, row("a"), row("gone"))
    (tmp_path / "baseline.json").rename(tmp_path / "ragcheck-baseline.json")
    shards(tmp_path, good("a"))
    status, printed, _ = merge()
    assert (status, "baseline ragcheck-baseline.json: 1 missing, 1 as before" in printed.splitlines()) == (1, True)


def test_the_baseline_of_the_ini_file_is_the_default_one(tmp_path: Path, merge: Ragcheck) -> None:
    write_baseline(tmp_path, row("a"))
    (tmp_path / "pytest.ini").write_text("[pytest]\nrag_baseline = baseline.json\n", encoding="utf-8")
    shards(tmp_path, good("a"))
    assert "baseline baseline.json: 1 as before" in merge()[1].splitlines()


def test_the_command_that_accepts_names_the_file_if_the_folder_has_other_agents(
    tmp_path: Path, merge: Ragcheck, ragcheck: Ragcheck
) -> None:
    write_baseline(tmp_path, row("a"), row("b"))
    (tmp_path / "ragcheck-results").mkdir()
    (tmp_path / "ragcheck-results" / "other_predictions.json").write_text("{}", encoding="utf-8")
    shards(tmp_path, good("a"), bad("b"))
    _, printed, _ = merge(*WITH)
    found = re.search("accept them: ragcheck (baseline accept .*)", printed)
    assert found is not None
    assert found[1] == "baseline accept --results ragcheck-results/rag_predictions.json -o baseline.json"
    assert ragcheck(*found[1].split())[0] == 0


def test_the_command_that_accepts_names_the_merged_files_beside_the_output_folder_of_runs(
    tmp_path: Path, merge: Ragcheck
) -> None:
    write_baseline(tmp_path, row("a"), row("b"))
    shards(tmp_path, good("a"), bad("b"))
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --rag-output=out\n", encoding="utf-8")
    accept = "accept them: ragcheck baseline accept"
    assert f"{accept} --results ragcheck-results -o baseline.json\n" in merge(*WITH)[1]
    assert f"{accept} -o baseline.json\n" in merge(*WITH, "--output=out")[1]


def test_a_missing_question_is_red_unless_it_is_allowed_or_no_shard_would_collect_it(
    tmp_path: Path, merge: Ragcheck
) -> None:
    write_baseline(tmp_path, row("a"), row("gone"))
    shards(tmp_path, good("a"))
    status, printed, _ = merge(*WITH)
    assert (status, "1 missing against baseline.json" in printed) == (1, True)
    assert merge(*WITH, "--set", "rag_baseline_allow=missing-questions")[0] == 0
    shards(tmp_path, good("a"), rules=GateRules(missing="allowed"))
    assert merge(*WITH)[0] == 0
    shards(tmp_path, good("a"), reach=Reach(searched=("*",), left_out=("billing::gone",)))
    assert merge(*WITH)[0] == 0


def test_a_rate_tolerates_single_fails_and_an_error_is_red_under_every_gate(tmp_path: Path, merge: Ragcheck) -> None:
    shards(tmp_path, good("a"), bad("b"), rules=GateRules(gate="rate:0.5"))
    status, printed, _ = merge()
    assert (status, "gate rate:0.5: pass rate 0.500 (1 of 2; 95 % interval 0.095 to 0.905)" in printed) == (0, True)
    assert merge("--gate=rate:0.9")[0] == 1
    shards(tmp_path, good("a"), an_error("b"))
    assert merge("--gate=rate:0")[0] == 1


def test_a_baseline_that_was_made_otherwise_is_refused_unless_it_is_forced(tmp_path: Path, merge: Ragcheck) -> None:
    write_baseline(tmp_path, row("a", tier="generation"), row("b", tier="generation"))
    shards(tmp_path, good("a"), good("b"))
    status, printed, _ = merge(*WITH)
    assert status == 1
    assert "baseline baseline.json: refused: tier: generation then, end_to_end now" in printed.splitlines()
    assert merge(*WITH, "--set", "rag_baseline_allow=other-settings")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            ("--gate=regression",),
            "--gate=regression has nothing to compare with. Give --baseline=PREDICTIONS, or --gate=each.",
        ),
        (
            ("--gate=loose",),
            "--gate: 'loose' is not a gate; choose each, confirmed, regression, or one with a number from 0 to 1: ",
        ),
        (
            ("--set", "rag_top_k=3"),
            ("--set: 'rag_top_k=3' is not a gate setting. Write NAME=VALUE with rag_false_alarms, rag_baseline_allow."),
        ),
        (
            ("--set", "rag_false_alarms=2"),
            "--set rag_false_alarms: '2' is not a number between 0 and 1; write one such as 0.01",
        ),
        (
            ("--baseline", "git:"),
            "--baseline: 'git:' is not git:REV:PATH; write, for example, git:origin/main:tests/base",
        ),
        (
            ("--baseline", "none.json"),
            "none.json: there is no such file. Give --baseline the {agent}_predictions.json of a full run.",
        ),
    ],
)
def test_wrong_usage_is_reported(tmp_path: Path, merge: Ragcheck, arguments: tuple[str, ...], text: str) -> None:
    shards(tmp_path, good("a"), good("b"))
    status, _, told = merge(*arguments)
    assert status == 2
    assert told.startswith(f"ragcheck merge: {text}")


def test_shards_that_were_held_to_different_gates_are_of_different_runs(tmp_path: Path, merge: Ragcheck) -> None:
    whole = some_outcomes(good("a"), good("b"))
    for number, rules in ((1, GateRules()), (2, REGRESSION)):
        part = replace(whole, records=whole.records[number - 1 : number], shard=(number, 2), complete=False)
        write_shard(replace(part, rules=rules), tmp_path / "parts" / str(number), Redactor())
    status, _, told = merge()
    assert (status, "are of different runs: gate {'gate': 'each'," in told) == (2, True)


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("latency_seconds", [1], "records[0].latency_seconds: found [1], expected number or null"),
        ("dropped", True, "records[0].dropped: found true, expected object"),
        ("verdict", "MAYBE", 'records[0].verdict: found "MAYBE", expected one of "PASS", "FAIL", "ERROR"'),
        ("scores", {"f1": [10**400, ""]}, "records[0].scores.f1[0]: the number is beyond 1e+100"),
    ],
)
def test_a_damaged_shard_is_refused_with_its_place(
    tmp_path: Path, merge: Ragcheck, key: str, value: Any, problem: str
) -> None:
    shards(tmp_path, good("a"), good("b"))
    path = tmp_path / "parts" / "1" / "rag.shard-1-of-2.json"
    document = json.loads(path.read_bytes())
    document["records"][0][key] = value
    path.write_text(json.dumps(document), encoding="utf-8")
    name = path.relative_to(tmp_path)
    status, _, told = merge()
    assert (status, told) == (
        2,
        f"ragcheck merge: {name}: {problem}. Give the folders that all shards of one run wrote.\n",
    )
    assert not (tmp_path / "ragcheck-results").exists()


def test_a_question_in_the_set_of_another_dataset_is_refused(tmp_path: Path, merge: Ragcheck) -> None:
    shards(tmp_path, good("a"), good("b"))
    path = tmp_path / "parts" / "1" / "rag.shard-1-of-2.json"
    document = json.loads(path.read_bytes())
    document["sets"][0]["questions"][1]["dataset_name"] = "other"
    path.write_text(json.dumps(document), encoding="utf-8")
    status, _, told = merge()
    assert (status, "json: sets[0]: question 'b' is of another dataset, 'other'. Give the " in told) == (2, True)


def test_a_record_of_an_unknown_question_is_refused(tmp_path: Path, merge: Ragcheck) -> None:
    shards(tmp_path, good("a"), good("b"))
    path = tmp_path / "parts" / "1" / "rag.shard-1-of-2.json"
    document = json.loads(path.read_bytes())
    document["records"][0]["question"]["id"] = "z"
    path.write_text(json.dumps(document), encoding="utf-8")
    status, _, told = merge()
    assert (status, "records[0].question: 'billing::z' is not among the sets" in told) == (2, True)


def test_a_secret_of_the_environment_is_not_written(
    tmp_path: Path, merge: Ragcheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    shards(tmp_path, good("a"), replace(good("b"), answer="The key is judge-key-77aa66bb55cc."))
    monkeypatch.setenv("RAGCHECK_JUDGE_API_KEY", "judge-key-77aa66bb55cc")
    assert merge()[0] == 0
    written = list((tmp_path / "ragcheck-results").iterdir())
    assert written
    assert not any(b"judge-key-77aa66bb55cc" in path.read_bytes() for path in written)


def test_the_merge_compares_with_the_baseline_of_the_parts(tmp_path: Path, merge: Ragcheck) -> None:
    write_baseline(tmp_path, row("a"), failed("b", metrics={"groundedness": 0.3}, thresholds=LIMIT))
    (tmp_path / "baseline.json").rename(tmp_path / "ragcheck-baseline.json")
    write_baseline(tmp_path, row("a"), row("b"))
    shards(tmp_path, good("a"), bad("b"), rules=REGRESSION, baseline="baseline.json")
    status, printed, _ = merge()
    assert (status, "baseline baseline.json: 1 newly failing" in printed) == (1, True)
    assert merge("--baseline=ragcheck-baseline.json")[0] == 0
    (tmp_path / "baseline.json").unlink()
    status, _, stderr = merge()
    assert status == 2
    assert "the parts compared with baseline.json: there is no such file." in stderr
    assert stderr.endswith("Merge in a checkout that has it, or give --baseline.\n")


def test_parts_that_compared_with_several_baselines_need_one_to_be_given(tmp_path: Path, merge: Ragcheck) -> None:
    write_baseline(tmp_path, row("a"), row("b"))
    shards(tmp_path, good("a"), good("b"), rules=REGRESSION, baseline="baseline.json")
    path = tmp_path / "parts" / "1" / "rag.shard-1-of-2.json"
    document = json.loads(path.read_bytes())
    path.write_text(json.dumps({**document, "baseline": "other.json"}), encoding="utf-8")
    status, _, stderr = merge()
    assert status == 2
    assert (
        "the parts compared with several baselines: baseline.json, other.json. Give --baseline one of them." in stderr
    )
    assert merge(*WITH)[0] == 0


def test_verdicts_of_another_baseline_are_not_counted_as_those_of_the_cache(tmp_path: Path, merge: Ragcheck) -> None:
    write_baseline(tmp_path, row("a"), row("b"))
    look = {"answer": "0123456789abcdef", "scores": {"groundedness": 0.9}, "passed": True}
    evidence = {"gate": "confirmed", "thresholds": LIMIT, "now": look, "known": [[look]], "saved_runs": ["x"]}
    kept = [replace(good(name), verdict_cached=True, evidence={**evidence, "same": True}) for name in "ab"]
    shards(tmp_path, *kept, rules=REGRESSION)
    status, printed, _ = merge(*WITH)
    assert (status, "verdict cache" in printed) == (0, False)
    assert "2 questions replayed, or ran without this gate or with another baseline" in printed
