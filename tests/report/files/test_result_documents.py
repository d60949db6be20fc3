from __future__ import annotations

from datetime import datetime, timedelta, timezone

from pytest_ragcheck import __version__
from pytest_ragcheck.judging.judgement import JudgeIdentity, Judgement
from pytest_ragcheck.report.files.result_documents import predictions_document, summary_document
from pytest_ragcheck.scores import Score
from pytest_ragcheck.summary.aggregate import aggregate
from pytest_ragcheck.summary.gate.saved_answer import label_digests
from pytest_ragcheck.verdict.verdict import Verdict
from tests.making import a_question, a_record, a_set, an_error, some_outcomes

OFFLINE_JUDGE = {"kind": "offline", "model": None, "url": None, "prompt_version": "offline-1"}
PASSED = a_record(
    question=a_question("refunds", metadata={"team": "billing"}),
    contexts=("30 days.",),
    source_ids=("billing.txt",),
    latency_seconds=0.25,
    scores={"groundedness": 0.9, "f1": 0.5, "exact_match": Score.unscored("broken")},
    thresholds={"groundedness": 0.7},
    unsupported_claims=("always",),
    judgement=Judgement(groundedness=0.9, abstained=False, unsupported_claims=("always",)),
    material="m",
    overall_lacks=("ragas_faithfulness",),
)
FAILED = a_record(
    "prices",
    verdict=Verdict.FAIL,
    answer="",
    reason="too low",
    blame="grounding",
    scores={"groundedness": 0.1},
    judge=None,
)
LATE = an_error("late")
OUTCOMES = some_outcomes(PASSED, LATE, FAILED, skipped={"billing": 1})


def test_the_predictions_hold_a_row_for_each_pass_and_fail_and_the_errors_beside_them() -> None:
    assert predictions_document(OUTCOMES) == {
        "schema_version": "1",
        "agent_name": "rag",
        "dataset_name": "billing",
        "timestamp": "2026-11-05T12:30:00+00:00",
        "num_examples": 2,
        "complete": True,
        "reach": {"searched": ["billing::*"]},
        "predictions": [
            {
                "question_id": "refunds",
                "dataset_name": "billing",
                "question": "What about refunds?",
                "prediction": "30 days",
                "metrics": {"groundedness": 0.9, "f1": 0.5},
                "metadata": {"team": "billing"},
                "verdict": "PASS",
                "reason": "",
                "blame": None,
                "contexts": ["30 days."],
                "source_ids": ["billing.txt"],
                "thresholds": {"groundedness": 0.7},
                "unscored": {"exact_match": "broken"},
                "overall_score_lacks": ["ragas_faithfulness"],
                "labels": label_digests(OUTCOMES.records[0].question),
                "unsupported_claims": ["always"],
                "latency_seconds": 0.25,
                "judgement": {
                    "answer_correctness": None,
                    "groundedness": 0.9,
                    "error_message": "",
                    "abstained": False,
                    "material": "m",
                },
                "prompt_version": "offline-1",
                "judge": OFFLINE_JUDGE,
                "endpoint": "http://localhost/query",
                "tier": "end_to_end",
                "top_k": None,
            },
            {
                "question_id": "prices",
                "dataset_name": "billing",
                "question": "What about prices?",
                "prediction": "",
                "metrics": {"groundedness": 0.1},
                "metadata": {},
                "verdict": "FAIL",
                "reason": "too low",
                "blame": "grounding",
                "contexts": [],
                "source_ids": None,
                "thresholds": {},
                "unscored": {},
                "overall_score_lacks": [],
                "labels": label_digests(OUTCOMES.records[1].question),
                "unsupported_claims": [],
                "latency_seconds": None,
                "judgement": None,
                "prompt_version": None,
                "judge": None,
                "endpoint": "http://localhost/query",
                "tier": "end_to_end",
                "top_k": None,
            },
        ],
        "errors": [
            {
                "question_id": "late",
                "dataset_name": "billing",
                "question": "What about late?",
                "kind": "endpoint_timeout",
                "message": "no reply within 60 s",
                "judge": OFFLINE_JUDGE,
                "endpoint": "http://localhost/query",
                "tier": "end_to_end",
                "top_k": None,
            }
        ],
    }


def test_the_summary_holds_the_numbers_and_all_that_they_depend_on() -> None:
    questions = a_set("billing", PASSED.question, LATE.question, a_question("skipped"), a_question("deselected"))
    on_demand = {"rag_check was called": 2}
    outcomes = some_outcomes(
        PASSED, LATE, sets=(questions,), skipped={"billing": 1}, complete=False, on_demand=on_demand
    )
    grounded = {"mean": 0.9, "min": 0.9, "max": 0.9, "std": 0.0, "n_scored": 1, "n_unscored": 0}
    statistics = {"groundedness": grounded, "f1": {**grounded, **dict.fromkeys(("mean", "min", "max"), 0.5)}}
    numbers = {
        "num_examples": 1,
        "overall_metrics": {"groundedness": 0.9, "f1": 0.5},
        "metric_statistics": statistics,
        "counts": {"pass": 1, "fail": 0, "error": 1, "skipped": 1},
        "blame": {},
        "abstention": {},
        "performance": {f"latency_{name}_seconds": 0.25 for name in ("mean", "p50", "p95", "p99", "max")},
    }
    assert summary_document(outcomes, aggregate(outcomes)) == {
        "schema_version": "1",
        "agent_name": "rag",
        "dataset_name": "billing",
        "timestamp": "2026-11-05T12:30:00+00:00",
        **numbers,
        "n_not_run": 1,
        "on_demand": on_demand,
        "complete": False,
        "judge": {"kind": "offline", "model": None, "url": None, "prompt_version": "offline-1"},
        "judge_agreement": {},
        "thresholds": {"answer_correctness": 0.7, "groundedness": 0.7},
        "dropped": {},
        "endpoint": "http://localhost/query",
        "tier": "end_to_end",
        "plugin_version": __version__,
        "datasets": {"billing": {**numbers, "tier": "end_to_end"}},
    }


def test_the_timestamp_is_in_utc_wherever_the_run_was() -> None:
    local = datetime(2026, 11, 5, 12, 30, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    assert predictions_document(some_outcomes(PASSED, timestamp=local))["timestamp"] == "2026-11-05T07:00:00+00:00"


def test_several_judges_and_endpoints_are_all_named_and_none_where_nothing_was_asked() -> None:
    other = JudgeIdentity(kind="openai", model="m", url="http://j/v1", prompt_version="en-1")
    several = some_outcomes(PASSED, a_record("b", judge=other, endpoint="f"))
    document = summary_document(several, aggregate(several))
    assert document["endpoint"] == "http://localhost/query, f"
    assert document["judge"] == {
        "kind": "several",
        "judges": [
            {"kind": "offline", "model": None, "url": None, "prompt_version": "offline-1"},
            {"kind": "openai", "model": "m", "url": "http://j/v1", "prompt_version": "en-1"},
        ],
    }
    lost = some_outcomes(an_error("lost", judge=None, endpoint=""))
    assert summary_document(lost, aggregate(lost))["judge"] == {"kind": "unknown", "judges": []}
    unjudged = some_outcomes(a_record("a", judge=None))
    assert summary_document(unjudged, aggregate(unjudged))["judge"]["kind"] == "none"


def test_an_error_of_the_judge_keeps_the_answer_so_that_another_can_judge_it() -> None:
    unjudged = an_error(
        "unjudged",
        error_kind="judge_unavailable",
        reason="down",
        answer="30 days",
        contexts=("a",),
        latency_seconds=0.5,
        scores={"f1": 1.0},
        server_source_ids=("id-1",),
    )
    (row,) = predictions_document(some_outcomes(unjudged))["errors"]
    kept = ("prediction", "contexts", "latency_seconds", "metrics", "metadata", "judgement")
    assert {key: row[key] for key in kept} == {
        "prediction": "30 days",
        "contexts": ["a"],
        "latency_seconds": 0.5,
        "metrics": {"f1": 1.0},
        "metadata": {"server_source_ids": ["id-1"]},
        "judgement": None,
    }


def test_a_replay_says_of_what() -> None:
    outcomes = some_outcomes(PASSED, replay_of="recorded.json")
    assert predictions_document(outcomes)["replay_of"] == "recorded.json"
    assert summary_document(outcomes, aggregate(outcomes))["replay_of"] == "recorded.json"
