"""Results as a flat table."""

from __future__ import annotations

import csv
import io
import json

from pytest_ragcheck.report.write_report import export_csv, export_jsonl
from tests.report.results import ERRORED, FAILED, PASSED, results_of

RESULTS = results_of(PASSED, FAILED, ERRORED)


def test_csv_has_a_row_a_question_and_empty_cells_for_what_was_not_measured() -> None:
    terms, prices, hours = csv.DictReader(io.StringIO(export_csv(RESULTS)))
    assert (terms["question_id"], terms["expected_answer"], terms["tags"]) == ("terms", "30 days", "payments")
    assert (terms["groundedness"], terms["n_contexts"], terms["latency_seconds"]) == ("0.8", "2", "0.25")
    assert (prices["verdict"], prices["blame"], prices["groundedness"]) == ("FAIL", "grounding", "0.4")
    assert (hours["verdict"], hours["error_kind"], hours["groundedness"]) == ("ERROR", "endpoint_timeout", "")


def test_jsonl_leaves_out_what_was_not_measured() -> None:
    rows = [json.loads(line) for line in export_jsonl(RESULTS).splitlines()]
    assert [row["verdict"] for row in rows] == ["PASS", "FAIL", "ERROR"]
    assert rows[2].keys() == {"dataset_name", "question_id", "question", "verdict", "reason", "error_kind"}
