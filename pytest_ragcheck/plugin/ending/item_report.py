"""Completes the reports of an item where it runs, reads them where the results are written, and shortens them."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.concurrency.frames import is_own_failure
from pytest_ragcheck.frozen import replace
from pytest_ragcheck.plugin.collecting.run_baseline import baseline_of, rules_of
from pytest_ragcheck.plugin.collecting.selection import NO_ENDPOINT
from pytest_ragcheck.plugin.configuration import is_fork, settings_of
from pytest_ragcheck.plugin.guests.junit_properties import add_properties, attach
from pytest_ragcheck.plugin.guests.traceback_texts import failure_repr, set_crash
from pytest_ragcheck.plugin.run_state import OVER_BUDGET, RUN, Evaluated, Run, forget_records, run_of, take_records
from pytest_ragcheck.plugin.workers import TOLERATED, node_id_of, put_payload, take_payload
from pytest_ragcheck.summary.gate.gate_decision import why_tolerated
from pytest_ragcheck.summary.run_outcomes import COMPARING, EXPECTED, PASSED
from pytest_ragcheck.verdict.failure_text import crash_line, first_line
from pytest_ragcheck.verdict.record import QuestionErrored, QuestionFailed, Record, without_shown_turns

if TYPE_CHECKING:
    import pytest


def complete_report(item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """Put the new records of the item on the report, and make the text of a FAIL or an ERROR readable."""
    payload: dict[str, object] = {}
    run, is_worker = item.config.stash.get(RUN, None), hasattr(item.config, "workerinput")
    if run is not None and not run.sent and is_worker:
        payload["collected"] = run.to_json()
    evaluated = take_records(item)
    is_sent = is_worker or is_fork(item.config)
    if evaluated:
        payload["records"] = evaluated
        if is_sent:
            payload["records"] = [(one.record.to_json(), one.on_demand, one.resumed) for one in evaluated]
    if run is not None and run.queued_notes:
        payload["notes"] = run.queued_notes.copy()
        run.queued_notes.clear()
    is_theirs = any(one.record.error_kind == "not_evaluated" for one in evaluated)
    if call.excinfo is not None and not is_theirs and is_own_failure(call.excinfo.value):
        payload["own_failure"] = True
    if run is not None and run.judge_problem:
        payload["judge_problem"] = run.judge_problem
    records = add_properties(item, report, [one.record for one in evaluated])
    if report.when == "teardown":
        attach(item.config, records)
        forget_records(item)
    if payload:
        put_payload(report, payload, is_sent=is_sent)
    if call.excinfo is not None:
        _make_readable(item, call.excinfo, report, records)
    _redact(item, report, records)


def records_of(report: pytest.TestReport, config: pytest.Config) -> list[Record]:
    payload = take_payload(report)
    if payload is None:
        return []
    run = run_of(config)
    if "collected" in payload:
        run.merge(payload["collected"])
    run.add_notes(payload.get("notes", ()))
    run.judge_problem = run.judge_problem or payload.get("judge_problem", "")
    records, place = [], node_id_of(report, config)
    if "own_failure" in payload:
        run.results.own_failures.add(place)
    for one in payload.get("records", ()):
        evaluated = one
        if not isinstance(one, Evaluated):
            text, on_demand, resumed = one
            evaluated = Evaluated(record=Record.from_json(text), on_demand=on_demand, resumed=resumed)
        records.append(record := run.results.with_known_turns(evaluated.record))
        record = without_shown_turns(record, run.results.records)
        question = run.questions.selected.get(place)
        # A worker sends a copy of the question; keep one in memory, unless the row needs its earlier turns.
        if question is not record.question and question == record.question and not record.question.history:
            record = replace(record, question=question)
        run.results.add_record(evaluated if record is evaluated.record else replace(evaluated, record=record), place)
    return records


def add_outcome(run: Run, report: pytest.TestReport, config: pytest.Config) -> None:
    place, results = node_id_of(report, config), run.results
    outcome: str = report.outcome
    if outcome == "rerun":
        results.forget(place)
    elif report.failed:
        crash = getattr(report.longrepr, "reprcrash", None)
        text = str(getattr(crash, "message", None) or report.longrepr).strip()
        results.failed.setdefault(place, text.partition("\n")[0] or "failed without a text")
    elif report.passed and report.when == "call":
        results.excused[place] = PASSED
    elif report.skipped and not hasattr(report, "wasxfail"):
        results.no_endpoint += NO_ENDPOINT in str(report.longrepr)
        if f"not run: {OVER_BUDGET} of" in str(report.longrepr):
            results.over_budget += 1
        else:
            results.skipped.add(place)
    elif report.skipped and not hasattr(report, TOLERATED):
        # A failure that only the gate tolerates was not expected by a user.
        # pytest.xfail() has the text before its reason.
        why = report.wasxfail.removeprefix("reason: ")
        results.excused[place] = f"{EXPECTED}: {why}" if why else EXPECTED


def _make_readable(item: pytest.Item, excinfo: Any, report: pytest.TestReport, records: Sequence[Record]) -> None:
    marker = item.get_closest_marker("xfail")
    if marker and "raises" not in marker.kwargs and records and records[-1].error_kind and hasattr(report, "wasxfail"):
        # A marker hides no ERROR, as the key of a question file.
        report.outcome = "failed"
        del report.wasxfail
    for record in records:
        # A bare assert fails like `assert_passed()`.
        if excinfo.exconly().partition("\n")[0] == f"AssertionError: assert {record!r}":
            excinfo = excinfo.from_exc_info((QuestionFailed, QuestionFailed(record.text(), record=record), excinfo.tb))
            report.longrepr = item.repr_failure(excinfo)
    if not isinstance(excinfo.value, QuestionErrored | QuestionFailed):
        return
    record = excinfo.value.record
    if report.when == "setup":
        report.longrepr = failure_repr(excinfo, record)
    elif hasattr(report.longrepr, "reprcrash"):
        # A user's own test keeps its traceback; only its line in the short summary gets the scores.
        set_crash(report.longrepr, record.text(), record.question.path, record.question.line)
    _tolerate(item, excinfo.value, report)


def _redact(item: pytest.Item, report: pytest.TestReport, records: Sequence[Record]) -> None:
    # An exception of a user's client, judge or fixture may have secrets in its text, in local variables and in causes.
    if not report.failed or not (records or "rag_settings" in getattr(item, "fixturenames", ())):
        return
    config = item.config
    data = config.hook.pytest_report_to_serializable(config=config, report=report)
    shown = settings_of(config).redactor.document(data["longrepr"])
    # The redactor makes lists of tuples.
    if json.dumps(shown) != json.dumps(data["longrepr"]):
        clean = config.hook.pytest_report_from_serializable(config=config, data={**data, "longrepr": shown})
        report.longrepr = clean.longrepr


def _tolerate(item: pytest.Item, raised: QuestionErrored | QuestionFailed, report: pytest.TestReport) -> None:
    # The reason of a marker stays.
    if report.outcome != "failed" or isinstance(raised, QuestionErrored) or item.get_closest_marker("xfail"):
        return
    rules = rules_of(item.config)
    baseline = baseline_of(item.config) if rules.gate in COMPARING else None
    if reason := why_tolerated(raised.record, rules, baseline, clean=settings_of(item.config).redactor.text):
        report.outcome = "skipped"
        report.wasxfail = reason
        setattr(report, TOLERATED, True)


_ROWS = 46
"""Rows for all failures of a run. With pytest's own lines, ten failures take less than 80 rows."""

_FEWEST = 3
"""Minimum number of rows of a failure below its heading: reason, question and answer."""

_LABEL = re.compile(r"(blame|attack|turn \d+|question|expected|answer|see) +(?=\S)")
_DROPPED = (re.compile(r"contexts? |          \("), re.compile("see "))
"""Lines that are left out first, in this order."""


def shorten_failures(config: pytest.Config, failed: Sequence[tuple[pytest.TestReport, Sequence[Record]]]) -> list[str]:
    """
    Shorten the texts of the reports, unless `-v` is set, and put the reason first in the short summary.

    Each failed report comes with the records of its item. The line that is returned names the option for the whole
    texts, if any was shortened.
    """
    if not config.pluginmanager.has_plugin("terminalreporter"):
        return []
    # A log of CI has no width, and pytest cuts nothing there either.
    width = sys.maxsize if os.environ.get("CI") else config.get_terminal_writer().fullwidth
    rows = max(_FEWEST, (_ROWS - len(failed)) // max(1, len(failed)))
    shortened = 0
    for report, records in failed:
        for record in records:
            for lines in _texts(report, record):
                if config.get_verbosity() <= 0 and (short := _brief(lines, rows=rows, width=width)) != lines:
                    lines[:] = short
                    shortened += 1
    return [f"shortened: {shortened} of the failures above; -v shows them whole"] if shortened else []


def _texts(report: pytest.TestReport, record: Record) -> Iterator[list[str]]:
    # Yield the lines of the record's failure text in the report, and complete the line of the short summary.
    shown: Any = report.longrepr
    crash = getattr(shown, "reprcrash", None)
    if crash is None or crash.message != first_line(record).partition("\n")[0]:
        return
    crash.message = crash_line(record)
    for entry in shown.reprtraceback.reprentries:
        if entry.lines == record.text().splitlines():
            yield entry.lines


def _brief(lines: Sequence[str], *, rows: int, width: int) -> list[str]:
    # A failure text that fits into *rows*, as far as its first lines, question and answer allow.
    # *rows* counts rows of the terminal, >= 3, and *width* the characters of a row, >= 20.
    shown = list(lines)
    for dropped in _DROPPED:
        if _height(shown, width) <= rows:
            return shown
        shown = [line for line in shown if not dropped.match(line)]
    if _height(shown, width) <= rows:
        return shown
    reason = [line for line in shown if not _LABEL.match(line)]
    labelled = [_cut(line, width) for line in shown if _LABEL.match(line)]
    if 1 + len(labelled) > rows:
        labelled = _merged(labelled, width)
    left = max(1, rows - len(labelled))
    first, *further = reason or [""]
    if _height([first], width) > left:
        # The header of the run has the minimums.
        first = re.sub(r" < [\d.]+(?=(, \w+ [\d.]+ < [\d.]+)*: )", "", first)
    shown = [_cut(first, left * width)]
    for line in further:
        if _height([*shown, line], width) <= left:
            shown.append(line)
    return [*shown, *labelled]


def _height(lines: Iterable[str], width: int) -> int:
    return sum(max(1, ceil(len(line) / width)) for line in lines)


def _merged(labelled: Sequence[str], width: int) -> list[str]:
    texts = {line.split()[0]: line for line in labelled if line.split()[0] in {"question", "expected", "answer"}}
    if "question" in texts and "expected" in texts:
        expected = _cut(f"  expected: {texts.pop('expected')[10:]}", width // 2)
        texts["question"] = _cut(texts["question"], width - len(expected)) + expected
    return list(texts.values())


def _cut(line: str, length: int) -> str:
    return line if len(line) <= length else f"{line[: length - 3].rstrip()}..."
