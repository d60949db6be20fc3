"""The reports of a run beside its result files: a page, and Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.keys import BASELINE
from pytest_ragcheck.questions.rows import questions_document
from pytest_ragcheck.report.documents import predictions_document, summary_document
from pytest_ragcheck.report.results import Results
from pytest_ragcheck.report.write import add_markdown, write_report
from pytest_ragcheck.report.writer import rounded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_ragcheck.plugin.gate import Gate
    from pytest_ragcheck.plugin.run import Run
    from pytest_ragcheck.summary.aggregate import Summary
    from pytest_ragcheck.summary.outcomes import Outcomes


def write_reports(session: pytest.Session, run: Run, outcomes: Outcomes, summary: Summary) -> Iterator[str]:
    """The lines that say where the reports are; what cannot be written makes a run that would be green fail."""
    settings = settings_of(session.config)
    clean = settings.redactor.document
    text = settings.redactor.text
    gate: Gate | None = session.config.pluginmanager.get_plugin("ragcheck-gate")
    results = Results(
        predictions=clean(rounded(predictions_document(outcomes))),
        summary=clean(rounded(summary_document(outcomes, summary))),
        questions=[clean(questions_document(each.dataset_name, each.questions)) for each in outcomes.sets],
        baseline=session.config.stash.get(BASELINE, None),
        notes=[text(line) for line in run.comparison],
        gate=text(gate.held) if gate is not None and gate.held is not None else None,
        xfailed={(text(dataset), text(name)): text(why) for (dataset, name), why in gate.xfailed(run).items()}
        if gate is not None
        else {},
    )
    start = session.config.invocation_params.dir
    for path, write in ((settings.report, write_report), (settings.markdown, add_markdown)):
        if path is None:
            continue
        try:
            write(results, path)
        except UsageError as error:
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
            yield f"report: NOT WRITTEN: {error}"
        else:
            yield f"report: {path.relative_to(start) if path.is_relative_to(start) else path}"
