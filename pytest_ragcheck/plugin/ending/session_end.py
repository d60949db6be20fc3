"""Summarizes a run, writes its files and reports, and lists them in the terminal report."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.config.readers import HTML_ENDINGS
from pytest_ragcheck.engine.store.record_file import forget_unused
from pytest_ragcheck.engine.store.run_folder import forget_begun
from pytest_ragcheck.errors import ResultsError, UsageError
from pytest_ragcheck.plugin.asking.shared_run import money_spent
from pytest_ragcheck.plugin.collecting.run_baseline import baseline_if_read, rules_of
from pytest_ragcheck.plugin.collecting.selection import NO_ENDPOINT
from pytest_ragcheck.plugin.configuration import has_gate, settings_of
from pytest_ragcheck.plugin.ending.gated_outcomes import outcomes_of, reach_of
from pytest_ragcheck.plugin.run_state import OVER_BUDGET, GateOutcome, Run, turn_red
from pytest_ragcheck.plugin.workers import run_folder, runs_everything
from pytest_ragcheck.questions.call import caller_of
from pytest_ragcheck.questions.question_rows import questions_document
from pytest_ragcheck.redaction.printable import printable
from pytest_ragcheck.report.files.json_writer import rounded
from pytest_ragcheck.report.files.result_documents import predictions_document, summary_document
from pytest_ragcheck.report.files.result_files import write_results, write_shard
from pytest_ragcheck.report.files.results_reader import Results, asked_rows
from pytest_ragcheck.report.terminal.findings_lines import changes_of
from pytest_ragcheck.report.terminal.gate_lines import annotation_lines, decision_text, flaky_lines, lines_beside
from pytest_ragcheck.report.terminal.run_lines import LEFT_IS_RED, summary_lines
from pytest_ragcheck.report.write_report import write_report
from pytest_ragcheck.short_texts import counted
from pytest_ragcheck.summary.aggregate import Summary, aggregate
from pytest_ragcheck.summary.gate.baseline_comparison import flaky_in_run
from pytest_ragcheck.summary.gate.gate_decision import tolerated

if TYPE_CHECKING:
    from pytest_ragcheck.config.settings import Settings
    from pytest_ragcheck.summary.run_outcomes import Outcomes


def finish(
    session: pytest.Session, run: Run, *, not_passed: Collection[str], encoded: Callable[[Any], Any]
) -> list[str]:
    """
    Write the result files, unless no question was asked, and return the lines of the terminal report.

    A green run turns red if a file cannot be written, because the next reader would find the old one, or if documents
    are left in the system, because they would change the answers of the next run.

    *not_passed* is as for `reach_of`, and *encoded* as for `write_results`.
    """
    config = session.config
    settings = settings_of(config)
    # A shard without questions writes its files, too; `ragcheck merge` expects them.
    refused = session.exitstatus == pytest.ExitCode.USAGE_ERROR
    lines = list(_skipped_lines(session, run, settings))
    if not run.ran and (settings.run.shard is None or refused or config.getoption("collectonly")):
        if not (run.unfinished or settings.run.require_endpoint):
            forget_begun(run_folder(config))
        return lines
    clean, baseline = settings.redactor.text, baseline_if_read(config)
    outcomes = outcomes_of(run, settings)
    outcomes = replace(outcomes, tolerated=tolerated(outcomes, rules_of(config), baseline, clean=clean))
    summary = aggregate(
        outcomes,
        flaky=flaky_in_run(outcomes.measured, baseline, clean=clean),
        decision=run.gate.decision,
    )
    run.add_notes(run.queued_notes)
    run.gate.lines += flaky_lines(summary.flaky)
    lines += _outcome_lines(session, run, outcomes, summary)
    folder = settings.run.output
    try:
        outcomes = _with_reach(config, run, outcomes, not_passed, complete=outcomes.complete)
        written = write_results(outcomes, summary, folder, settings.redactor, encoded=encoded)
        if settings.run.shard is not None:
            whole = _with_reach(config, run, outcomes, not_passed, complete=True)
            write_shard(replace(whole, baseline=baseline.name if baseline else ""), folder, settings.redactor)
    except ResultsError as error:
        turn_red(session)
        return [*lines, printable(f"results: NOT WRITTEN: {error} Name it with --rag-output.")]
    if settings.run.resume and not written.partial:
        forget_unused(run_folder(config))
    if runs_everything(config):
        # The run has no store that a later run could resume or remove.
        shutil.rmtree(run_folder(config), ignore_errors=True)
    lines += map(printable, written.lines(config.invocation_params.dir))
    if settings.run.reports:
        lines += map(printable, write_reports(session, run.gate, outcomes, summary))
    return lines


def _skipped_lines(session: pytest.Session, run: Run, settings: Settings) -> Iterator[str]:
    # Yield why questions were skipped, and turn a run red that requires its endpoint and skipped all of them.
    config, skipped = session.config, run.results.no_endpoint
    if skipped:
        yield f"{skipped} {'test was' if skipped == 1 else 'tests were'} skipped: {NO_ENDPOINT}"
    asking = [
        node_id
        for node_id in run.results.skipped
        if node_id in run.questions.asked or caller_of(node_id, config.rootpath) in run.callers
    ]
    if run.ran or not asking:
        return
    red = settings.run.require_endpoint
    if red or not skipped:
        why = "; --rag-require-endpoint turns such a run red" if red else ""
        yield f"no question was asked: {counted(len(asking), 'test')} skipped{why}"
    if has_gate(config):
        yield "gate: not compared: no question was asked"
    if red:
        turn_red(session)


def _with_reach(
    config: pytest.Config, run: Run, outcomes: Outcomes, not_passed: Collection[str], *, complete: bool
) -> Outcomes:
    reach = reach_of(config, run, complete=complete, not_passed=not_passed)
    # Of a sample, only the comparison tells which question is gone.
    comparison = run.gate.decision and run.gate.decision.comparison
    gone = tuple("::".join(row.key) for row in comparison.missing) if comparison else ()
    return replace(outcomes, reach=replace(reach, searched=reach.searched + gone))


def _outcome_lines(session: pytest.Session, run: Run, outcomes: Outcomes, summary: Summary) -> Iterator[str]:
    # Yield the lines about the outcomes, and turn the run red for reasons other than verdicts.
    config = session.config
    settings = settings_of(config)
    yield from map(printable, summary_lines(outcomes, summary, all_metrics=config.get_verbosity() > 0))
    if run.results.resumed:
        yield f"resumed: {len(run.results.resumed)} of {len(outcomes.records)} questions were asked by the earlier run"
    yield from map(printable, (*run.notes, *_gate_lines(config, run.gate)))
    yield from annotation_lines(outcomes, environment=os.environ, decision=run.gate.decision)
    yield from _red_lines(session, run, settings)
    if spent := money_spent(config):
        yield f"cost: {spent}"
    yield from _uncounted(outcomes, settings)


def _red_lines(session: pytest.Session, run: Run, settings: Settings) -> list[str]:
    lines = []
    unexamined = sum(bool(record.evidence.get("over_budget")) for record in run.results.records.values())
    if run.results.over_budget or unexamined:
        counts = {"not run": run.results.over_budget, "not examined by the gate": unexamined}
        left = ", ".join(f"{count} {words}" for words, count in counts.items() if count)
        lines.append(f"cost: {OVER_BUDGET} of ${settings.run.max_cost_usd:g} was reached: {left}")
    if run.results.own_failures:
        lines.append(f"not measured: pytest-ragcheck itself failed at {', '.join(sorted(run.results.own_failures))}")
    if run.documents is not None and run.documents.left and not (lines or session.exitstatus):
        lines.append(LEFT_IS_RED)
    if lines:
        turn_red(session)
    return lines


def _uncounted(outcomes: Outcomes, settings: Settings) -> Iterator[str]:
    # Yield lines if the cost limit could not count some verdicts. A replay does not pay for recorded ones.
    if settings.run.max_cost_usd is None or outcomes.replay_of:
        return
    costs = [record.cost for record in outcomes.records if record.cost.asked_judge and record.cost.judge_usd is None]
    silent = sum(None in (cost.judge_input_tokens, cost.judge_output_tokens) for cost in costs)
    if silent:
        why = "because the judge's server reported no tokens for them"
        yield f"cost: {OVER_BUDGET} did not count {counted(silent, 'verdict')}, {why}"
    if unpriced := len(costs) - silent:
        # The judge's model has a price, or the run would not have begun.
        why = "whose model has no price"
        yield f"cost: {OVER_BUDGET} counted {counted(unpriced, 'verdict')} without the embeddings, {why}"


def _gate_lines(config: pytest.Config, gate: GateOutcome) -> Iterator[str]:
    # The lines of the gate that its failure text above does not show.
    shown_above = config.getoption("tbstyle", "auto") not in {"no", "line"}
    text = decision_text(gate.decision) if gate.decision is not None and shown_above else ""
    return lines_beside(text, gate.lines)


def write_reports(session: pytest.Session, gate: GateOutcome, outcomes: Outcomes, summary: Summary) -> Iterator[str]:
    """Write the reports, and yield a line for each. A green run turns red if one cannot be written."""
    settings = settings_of(session.config)
    clean, text = settings.redactor.document, settings.redactor.text
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
            turn_red(session)
            yield f"report: NOT WRITTEN: {error}"
        else:
            yield f"report: {path.relative_to(start) if path.is_relative_to(start) else path}"
