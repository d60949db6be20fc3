"""A single FAIL under a gate that looks at the whole run: shown as an expected failure, with the reason."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_ragcheck.errors import QuestionFailed
from pytest_ragcheck.plugin.compared_with import baseline_name, baseline_of
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.keys import TOLERATED
from pytest_ragcheck.summary.gate import why_tolerated
from pytest_ragcheck.summary.terms import Terms
from pytest_ragcheck.verdict import Verdict

if TYPE_CHECKING:
    import pytest

    from pytest_ragcheck.record import Record
    from pytest_ragcheck.summary.baseline import BaselineRow


def tolerate(item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """Makes the report of a FAIL that is not held against its question one of an expected failure."""
    if report.outcome != "failed" or call.excinfo is None or not isinstance(call.excinfo.value, QuestionFailed):
        return
    if item.get_closest_marker("xfail") is not None:
        return  # whoever wrote that has a reason of their own
    reason = _reason(call.excinfo.value.record, item.config)
    if reason:
        report.outcome = "skipped"
        report.wasxfail = reason
        setattr(report, TOLERATED, True)


def is_candidate(record: Record, config: pytest.Config) -> bool:
    """Whether the question newly fails, and the gate wants to know whether that is more than noise."""
    if record.verdict is not Verdict.FAIL or record.question.quarantine is not None or record.question.xfail:
        return False
    before = _before(record, config) if terms_of(config).gate == "regression" else None
    return before is not None and before.verdict is Verdict.PASS


def _reason(record: Record, config: pytest.Config) -> str:
    """Why the FAIL is tolerated; empty where it is not."""
    terms = terms_of(config)
    if terms.gate != "regression":
        return why_tolerated(record, terms, None, baseline="")
    return why_tolerated(record, terms, _before(record, config), baseline=baseline_name(config))


def terms_of(config: pytest.Config) -> Terms:
    """What the run is held to; without the plugin that holds its gate, nothing but `each` would make it red."""
    terms = Terms.of(settings_of(config))
    return replace(terms, gate="each") if config.pluginmanager.is_blocked("ragcheck-gate") else terms


def _before(record: Record, config: pytest.Config) -> BaselineRow | None:
    clean = settings_of(config).redactor.text
    question = record.question
    return baseline_of(config).rows.get((clean(question.dataset_name), clean(question.id)))
