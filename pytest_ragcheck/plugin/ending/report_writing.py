"""Writes the HTML report and the Markdown summary of a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.config.readers import HTML_ENDINGS
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.plugin.collecting.gate_baseline import baseline_if_read
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.questions.question_rows import questions_document
from pytest_ragcheck.report.files.json_writer import rounded
from pytest_ragcheck.report.files.result_documents import predictions_document, summary_document
from pytest_ragcheck.report.files.results_reader import Results, asked_rows
from pytest_ragcheck.report.terminal.findings_lines import changes_of
from pytest_ragcheck.report.write_report import write_report

if TYPE_CHECKING:
    from pytest_ragcheck.plugin.run_state import GateOutcome
    from pytest_ragcheck.summary.aggregate import Summary
    from pytest_ragcheck.summary.run_outcomes import Outcomes


def write_reports(session: pytest.Session, gate: GateOutcome, outcomes: Outcomes, summary: Summary) -> Iterator[str]:
    """Write the reports, and yield a line for each. A green run turns red if one cannot be written."""
    settings = settings_of(session.config)
    clean = settings.redactor.document
    text = settings.redactor.text
    results = Results(
        predictions=clean(rounded(predictions_document(outcomes))),
        summary=clean(rounded(summary_document(outcomes, summary))),
        asked=asked_rows(clean(questions_document(each.dataset_name, each.questions)) for each in outcomes.sets),
        baseline=baseline_if_read(session.config) if gate.decision is not None else None,
        notes=list(map(text, gate.lines)),
        gate=None if gate.headline is None else text(gate.headline),
        changes={(text(dataset), text(name)): found for (dataset, name), found in changes_of(gate.decision).items()}
        if gate.decision is not None
        else {},
        xfailed={(text(dataset), text(name)): text(why) for (dataset, name), why in outcomes.tolerated.items()},
    )
    start = session.config.invocation_params.dir
    for path in settings.run.reports:
        is_page = path.suffix.lower() in HTML_ENDINGS
        try:
            # All commands of a CI step share one summary file.
            write_report(results, path, "html" if is_page else "markdown", append=not is_page)
        except UsageError as error:
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
            yield f"report: NOT WRITTEN: {error}"
        else:
            yield f"report: {path.relative_to(start) if path.is_relative_to(start) else path}"
