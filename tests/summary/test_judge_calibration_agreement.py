"""A calibration is shown beside the means of the judge that it measured, and of no other judge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_ragcheck.cli import main
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.judging.judgement import JudgeIdentity
from pytest_ragcheck.report.files.result_documents import summary_document
from pytest_ragcheck.report.terminal.run_lines import summary_lines
from pytest_ragcheck.scores import Score
from pytest_ragcheck.summary.aggregate import aggregate
from pytest_ragcheck.summary.judge_calibration import Agreement, agreements_of, read_agreements
from tests.making import OFFLINE, a_record, an_error, some_outcomes

OTHER = JudgeIdentity(kind="openai", model="m", prompt_version="en-1")
FOUND = Agreement(
    path=Path("grounded.json"),
    score="groundedness",
    judge=OFFLINE,
    n=300,
    accuracy=0.87,
    balanced_accuracy=0.85,
    threshold=0.7,
)


def test_what_the_command_wrote_is_read(tmp_path: Path) -> None:
    rows = [{"answer": "The sky is blue.", "contexts": ["The sky is blue."], "label_grounded": good} for good in (1, 0)]
    (tmp_path / "l.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    output = tmp_path / "c.json"
    assert main(["calibrate", str(tmp_path / "l.jsonl"), "--judge=offline", "--output", str(output)]) == 0
    (read,) = read_agreements([output])
    assert (read.score, read.judge.kind, read.n, read.accuracy, read.threshold) == (
        "groundedness",
        "offline",
        2,
        0.5,
        0.7,
    )


def test_it_stands_beside_the_mean_and_in_the_summary() -> None:
    record = a_record("a", scores={"groundedness": Score(0.9), "f1": Score(0.5)})
    outcomes = some_outcomes(record, agreements=(FOUND,))
    summary = aggregate(outcomes)
    lines = {line.split()[0]: line for line in summary_lines(outcomes, summary) if line.strip()}
    assert lines["groundedness"].endswith("  agrees with people on 87% of 300 answers")
    assert "agrees" not in lines["f1"]
    assert summary_document(outcomes, summary)["judge_agreement"] == {
        "groundedness": {"n": 300, "accuracy": 0.87, "balanced_accuracy": 0.85, "threshold": 0.7}
    }


def test_a_file_about_another_judge_is_named() -> None:
    outcomes = some_outcomes(a_record("a", judge=OTHER), agreements=(FOUND,))
    said = f"rag_calibration: not shown, because {FOUND.path} has no judge of this model, server, prompt and parameters"
    assert said in list(summary_lines(outcomes, aggregate(outcomes)))
    outcomes = some_outcomes(an_error("a"), agreements=(FOUND,))
    assert not any("not shown" in line for line in summary_lines(outcomes, aggregate(outcomes)))


@pytest.mark.parametrize("judges", [(), (OTHER,), (OFFLINE, OTHER)])
def test_it_is_of_no_other_judge(judges: tuple[JudgeIdentity, ...]) -> None:
    assert agreements_of([FOUND], judges) == {}
    assert agreements_of([FOUND], (OFFLINE,)) == {"groundedness": FOUND}


@pytest.mark.parametrize(
    "content", ["{", "[]", "{}", '{"score": "f1", "judge": 1}', pytest.param("[" * 200_000, id="nested")]
)
def test_another_file_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "c.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read_agreements([path])
    assert str(caught.value) == (
        f"rag_calibration: {path} is not what ragcheck calibrate writes. "
        f"Make it with: ragcheck calibrate LABELLED.jsonl --output {path}"
    )


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"c.json cannot be read \(No such file or directory\)\. Make it with: "):
        read_agreements([tmp_path / "c.json"])


def test_two_files_of_one_score_are_refused(tmp_path: Path) -> None:
    document: dict[str, Any] = {"score": "f1", "judge": {"kind": "offline"}, "n": 1, "accuracy": 1, "threshold": 0.7}
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path in paths:
        path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(UsageError, match=r"a.json and .*b.json are both of f1 by the same judge\. Name one of them\."):
        read_agreements(paths)
