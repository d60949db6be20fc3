"""Show a FAIL that the gate tolerates as an expected failure, with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.plugin.collecting.gate_baseline import baseline_name, row_before, terms_of
from pytest_ragcheck.plugin.workers.transport import TOLERATED
from pytest_ragcheck.summary.gate.gate_decision import why_tolerated
from pytest_ragcheck.summary.gate_rules import COMPARING
from pytest_ragcheck.verdict.record import QuestionFailed

if TYPE_CHECKING:
    import pytest

    from pytest_ragcheck.verdict.record import Record


def tolerate(item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """Turn the report of a tolerated FAIL into that of an expected failure."""
    if report.outcome != "failed" or call.excinfo is None or not isinstance(call.excinfo.value, QuestionFailed):
        return
    if item.get_closest_marker("xfail") is not None:
        return  # the reason of the marker stays
    reason = _reason(call.excinfo.value.record, item.config)
    if reason:
        report.outcome = "skipped"
        report.wasxfail = reason
        setattr(report, TOLERATED, True)


def _reason(record: Record, config: pytest.Config) -> str:
    """Return why the gate tolerates the FAIL; empty if it does not."""
    terms = terms_of(config)
    if terms.gate not in COMPARING:
        return why_tolerated(record, terms, None, baseline="")
    return why_tolerated(record, terms, row_before(record, config), baseline=baseline_name(config))
