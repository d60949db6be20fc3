"""How records get from the process that runs an item to the one that writes the files: on the item's reports."""

from __future__ import annotations

import json

import pytest

from pytest_ragcheck.errors import QuestionErrored, QuestionFailed
from pytest_ragcheck.plugin.keys import BEGUN, RECORDS, RUN
from pytest_ragcheck.plugin.processes import place_of
from pytest_ragcheck.plugin.properties import add_properties
from pytest_ragcheck.plugin.reprs import failure_repr, set_crash
from pytest_ragcheck.plugin.run import run_of
from pytest_ragcheck.plugin.tolerated import tolerate
from pytest_ragcheck.record import Record

ATTRIBUTE = "ragcheck"
"""One ASCII JSON string: a report with anything but builtin types would break the whole run under xdist."""


def attach(item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """Puts the item's new records on the report, and makes the report of a FAIL or an ERROR readable."""
    luggage: dict[str, object] = {}
    run = item.config.stash.get(RUN, None)
    if run is not None and not run.told and hasattr(item.config, "workerinput"):
        luggage["collected"] = run.tell()
    evaluated = item.stash.get(RECORDS, [])
    if evaluated:
        luggage["records"] = [[one.record.to_json(), one.on_demand, one.resumed] for one in evaluated]
    if run is not None and run.untold:
        luggage["notes"] = run.untold.copy()
        run.untold.clear()
    add_properties(item, report, [one.record for one in evaluated])
    evaluated.clear()
    if luggage:
        setattr(report, ATTRIBUTE, json.dumps(luggage))
    if call.excinfo is not None and isinstance(call.excinfo.value, QuestionErrored | QuestionFailed):
        _make_readable(call.excinfo, report, call.excinfo.value.record)
        tolerate(item, call, report)


def begin(config: pytest.Config) -> None:
    """
    Notes that the process comes to its first question; a worker of xdist tells the controller, with what was collected.

    A controller that heard of the questions with the first record only could write nothing of a run that is
    interrupted before.
    """
    run = config.stash.get(RUN, None)
    if run is None:
        return
    run.begun = True
    if not hasattr(config, "workerinput"):
        return
    # Of collections only reports that have not passed get to the controller, and of those with one text the first.
    report = pytest.CollectReport(nodeid="", outcome="skipped", longrepr=f"{ATTRIBUTE}{run.suffix}", result=[])
    setattr(report, BEGUN, run.tell())
    config.hook.pytest_collectreport(report=report)


def hear_begun(text: str, config: pytest.Config) -> None:
    """Takes what a worker told when it came to its first question."""
    run = run_of(config)
    run.hear(text)
    run.begun = True


def take_off(report: pytest.TestReport, config: pytest.Config) -> list[Record]:
    """The records that came on the report; they are taken off it, so that no other plugin meets them."""
    text = report.__dict__.pop(ATTRIBUTE, None)
    if text is None:
        return []
    luggage = json.loads(text)
    run = run_of(config)
    if "collected" in luggage:
        run.hear(luggage["collected"])
    run.note_all(luggage.get("notes", ()))
    records = []
    for text, on_demand, resumed in luggage.get("records", ()):
        records.append(record := Record.from_json(text))
        run.take(record, place_of(report, config), on_demand=on_demand, resumed=resumed)
    return records


def _make_readable(excinfo: pytest.ExceptionInfo[BaseException], report: pytest.TestReport, record: Record) -> None:
    if report.when == "setup":
        report.longrepr = failure_repr(excinfo, record)
    elif hasattr(report.longrepr, "reprcrash"):
        # A user's own test keeps its traceback; its line in the short summary says the numbers.
        set_crash(report.longrepr, record)
