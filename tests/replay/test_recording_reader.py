"""Files of a run can be replayed, and the error about another file names its kind."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck import Judgement
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.rag.answer import RagAnswer
from pytest_ragcheck.redaction import Redactor
from pytest_ragcheck.replay.recording_reader import read_recording
from pytest_ragcheck.report.files.result_files import write_results
from pytest_ragcheck.scores import Score
from pytest_ragcheck.summary.aggregate import aggregate
from pytest_ragcheck.summary.gate.saved_answer import label_digests
from pytest_ragcheck.verdict.verdict import Verdict
from tests.baselines import errored, passed, predictions
from tests.making import OFFLINE, a_question, a_record, an_error, some_outcomes

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_ragcheck.replay.recorded_run import Recording

SAID = Judgement(
    answer_correctness=2 / 3,
    groundedness=1.0,
    error_message="m",
    abstained=False,
    votes={"groundedness": [1.0]},
    served_by="gpt-5-2025-08-07 fp_1",
)
JUDGEMENT = {"answer_correctness": 1, "groundedness": 1, "error_message": "", "abstained": None, "material": "m"}


def read(folder: Path, content: Any) -> Recording:
    path = folder / "rec.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return read_recording(path, name="rec.json")


def test_what_a_run_writes_is_read_back(tmp_path: Path) -> None:
    answered = a_record(
        "a",
        contexts=("c",),
        source_ids=("1",),
        latency_seconds=0.25,
        scores={"groundedness": 1.0, "f1": Score.unscored("broken")},
        judgement=SAID,
        material="m",
    )
    unjudged = an_error("b", answer="[1]", server_source_ids=("1",), error_kind="judge_reply", reason="no JSON")
    outcomes = some_outcomes(answered, unjudged, an_error("c"), a_record("d", judge=None))
    written = write_results(outcomes, aggregate(outcomes), tmp_path, Redactor())
    recording = read_recording(written.predictions, name="rec.json")
    a, b, c, d = (recording.rows["billing", name] for name in "abcd")
    assert (a.question, a.verdict, a.judge, a.endpoint) == (
        a_question("a"), answered.verdict, OFFLINE, "http://localhost/query",
    )  # fmt: skip
    assert a.reply == RagAnswer(text="30 days", contexts=("c",), source_ids=("1",), latency_seconds=0.25)
    # Not rounded: a score just below a threshold stays there.
    assert (a.judgement, a.material) == (SAID, "m")
    assert a.judgement is not None
    assert a.judgement.served_by == SAID.served_by
    assert a.scores == {"groundedness": Score(1.0), "f1": Score.unscored("broken")}
    assert recording.labels["billing", "a"] == label_digests(answered.question)
    assert (b.verdict, b.error_kind, b.reason) == (Verdict.ERROR, "judge_reply", "no JSON")
    assert b.reply == RagAnswer(text="[1]", server_source_ids=("1",))
    assert not c.has_reply
    assert (d.judge, d.judgement) == (None, None)


def test_rows_of_earlier_versions_have_answers_and_no_verdicts(tmp_path: Path) -> None:
    row = {key: value for key, value in passed("a").items() if key not in ("judgement", "judge", "endpoint")}
    recorded = read(tmp_path, predictions(row, complete=False)).rows["billing", "a"]
    assert recorded.has_reply
    assert (recorded.judge, recorded.judgement, recorded.endpoint) == (None, None, "")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"overall_metrics": {}}, "it is a summary. Replay the {agent}_predictions.json of a run."),
        (
            predictions(schema_version="0"),
            (
                'it has "schema_version" "0", and this pytest-ragcheck reads "1". '
                "Record again: run once without --rag-replay."
            ),
        ),
        (
            predictions(passed("a"), passed("a")),
            "predictions[1] is a second row of question 'a' of 'billing'. Restore the file as the run wrote it.",
        ),
        (
            predictions(passed(contexts=[1])),
            'predictions[0] has [1] under "contexts". Restore the file as the run wrote it.',
        ),
        (
            predictions(passed(latency_seconds="slow")),
            'predictions[0] has "slow" under "latency_seconds". Restore the file as the run wrote it.',
        ),
        (
            predictions(passed(verdict="OK")),
            'predictions[0] has "OK" under "verdict". Restore the file as the run wrote it.',
        ),
        (
            predictions(passed(judge="me")),
            'predictions[0] has "me" under "judge". Restore the file as the run wrote it.',
        ),
        (
            predictions(passed(judgement={**JUDGEMENT, "abstained": 1})),
            'predictions[0], under "judgement", has 1 under "abstained". Restore the file as the run wrote it.',
        ),
        (
            predictions(errored(prediction="30 days", contexts=None)),
            'errors[0] has null under "contexts". Restore the file as the run wrote it.',
        ),
        (
            predictions(passed(judgement=JUDGEMENT, metrics={"f1": 1.0}, repeated={"f1": [[1.0], []]})),
            'predictions[0] has {"f1": [[1.0], []]} under "repeated". Restore the file as the run wrote it.',
        ),
        (
            predictions(passed(earlier_turns=["30 days"])),
            'predictions[0] has ["30 days"] under "earlier_turns". Restore the file as the run wrote it.',
        ),
        (
            predictions(passed(earlier_turns=[{"question": "Hi", "answer": "Ho"}])),
            (
                'predictions[0] has [{"question": "Hi", "answer": "Ho"}] under "earlier_turns". '
                "Restore the file as the run wrote it."
            ),
        ),
    ],
)
def test_what_cannot_be_replayed_is_said(tmp_path: Path, content: Any, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(tmp_path, content)
    assert str(caught.value) == f"rec.json: {text}"


def test_the_combined_scores_of_several_answers_have_all_digits(tmp_path: Path) -> None:
    repeated = {"groundedness": [[1.0], [1 / 3]]}
    row = passed("a", judgement=JUDGEMENT, repeated=repeated, metrics={"groundedness": 0.666667})
    record = read(tmp_path, predictions(row)).rows["billing", "a"]
    assert record.scores["groundedness"].value == (1 + 1 / 3) / 2
