"""Results of runs as tests make reports of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_ragcheck.questions.question_rows import questions_document
from pytest_ragcheck.report.files.result_documents import predictions_document, summary_document
from pytest_ragcheck.report.files.results_reader import Results, asked_rows
from pytest_ragcheck.scores import Score
from pytest_ragcheck.summary.aggregate import aggregate
from pytest_ragcheck.summary.gate.baseline_reader import Baseline, BaselineRow
from pytest_ragcheck.verdict.verdict import Verdict
from tests.making import a_question, a_record, an_error, some_outcomes

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_ragcheck.verdict.record import Record

PASSED = a_record(
    question=a_question("terms", question="How long can I return it?", expected_answer="30 days", tags=("payments",)),
    answer="You have 30 days. The money goes back to your card.",
    contexts=("The refund window is 30 days after delivery. The money goes back to the card.", "Delivery is free."),
    scores={"answer_correctness": Score(0.9), "groundedness": Score(0.8), "f1": Score.unscored("no tokens")},
    latency_seconds=0.25,
)
FAILED = a_record(
    question=a_question("prices", question="What does it cost?", answerable=False),
    verdict=Verdict.FAIL,
    answer="It costs 40 euros, and giraffes are extra.",
    contexts=("It costs 40 euros.",),
    scores={"answer_correctness": Score(0.9), "groundedness": Score(0.4)},
    thresholds={"answer_correctness": 0.7, "groundedness": 0.7},
    reason="giraffes are nowhere in the contexts",
    unsupported_claims=("giraffes are extra",),
    blame="grounding",
)
ERRORED = an_error("hours", reason="http://localhost/query: no reply within 60 s\nRaise rag_timeout.")


def results_of(*records: Record, baseline: Baseline | None = None, **told: Any) -> Results:
    """The results of a run of these records."""
    outcomes = some_outcomes(*records)
    return Results(
        predictions=predictions_document(outcomes),
        summary=summary_document(outcomes, aggregate(outcomes)),
        asked=asked_rows(questions_document(each.dataset_name, each.questions) for each in outcomes.sets),
        baseline=baseline,
        **told,
    )


def a_baseline(**verdicts: str) -> Baseline:
    """Where the questions had these verdicts, with a groundedness of 0.8 each."""
    rows = [
        BaselineRow(
            dataset_name="billing",
            id=name,
            question="?",
            verdict=Verdict(verdict),
            answer=f"What was said of {name}.",
            metrics={} if verdict == "ERROR" else {"groundedness": 0.8},
        )
        for name, verdict in verdicts.items()
    ]
    return Baseline(name="baseline.json", rows={row.key: row for row in rows})


def written(path: Path, text: str) -> Path:
    """The text as a file; lone surrogates as the report's writer leaves them."""
    path.write_text(text, encoding="utf-8", errors="backslashreplace")
    return path
