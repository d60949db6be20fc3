from __future__ import annotations

import argparse
from datetime import datetime, timezone
from pathlib import Path

from pytest_ragcheck.cli.command_line import say
from pytest_ragcheck.cli.project.user_project import default_results
from pytest_ragcheck.cli.results.gate_arguments import default_baseline, gate_of
from pytest_ragcheck.config.readers import BASELINE_FILE, BaselinePlace
from pytest_ragcheck.redaction.printable import printable
from pytest_ragcheck.report.terminal.comparison_lines import accept_command
from pytest_ragcheck.report.terminal.gate_lines import decision_lines, decision_text, flaky_lines, lines_beside
from pytest_ragcheck.short_texts import some

_SHOWN = 10
_OF_EARLIER = "If it is of an earlier run, run it again, and merge."


def run(chosen: argparse.Namespace) -> int:
    from pytest_ragcheck.config.resolve import environment_redactor
    from pytest_ragcheck.report.files.result_files import write_results
    from pytest_ragcheck.report.files.results_reader import place_of_results
    from pytest_ragcheck.report.gated_results import gate_outcomes
    from pytest_ragcheck.report.terminal.run_lines import LEFT_IS_RED, summary_lines
    from pytest_ragcheck.summary.aggregate import aggregate
    from pytest_ragcheck.summary.gate.gate_decision import red_by_themselves
    from pytest_ragcheck.summary.shards import find_shards, merged, much_older, read_shard

    shards = list(map(read_shard, find_shards(chosen.folders)))
    outcomes = merged(shards, timestamp=datetime.now(timezone.utc))
    gate = gate_of(chosen, outcomes.rules, {shard.outcomes.baseline for shard in shards} - {""})
    rules, baseline = gate.rules, gate.baseline
    redactor = environment_redactor()
    start = Path.cwd()
    place = BaselinePlace.from_text(baseline.name if baseline is not None else BASELINE_FILE).resolved_in(start)
    is_plain = default_baseline().path == Path(BASELINE_FILE)
    results = place_of_results(start / chosen.output, outcomes.agent_name)
    accept = accept_command(
        results=results, baseline=place.path, start=start, is_plain=is_plain, output=default_results()
    )
    gated = gate_outcomes(outcomes, baseline, rules, clean=redactor.text, accept=accept)
    outcomes, decision = gated.outcomes, gated.decision
    is_gated = baseline is not None or rules.gate != "each"
    summary = aggregate(outcomes, flaky=gated.flaky, decision=decision if is_gated else None)
    text = decision_text(decision)
    lines = [*summary_lines(outcomes, summary), *lines_beside(text, decision_lines(decision))]
    lines += [*flaky_lines(gated.flaky), *filter(None, [gate.note])]
    written = write_results(outcomes, summary, chosen.output, redactor)
    say(*lines, *written.lines(start))
    if decision.red:
        say(f"gate {rules.gate}: RED: {text}")
    stopped = [shard for shard in shards if shard.outcomes.stopped]
    for shard in stopped:
        say(f"{shard.name} is incomplete: {shard.outcomes.stopped}. Run it again, and merge.")
    for shard in much_older(shards):
        ended = shard.outcomes.timestamp.isoformat(timespec="seconds")
        say(f"{shard.name} ended at {ended}, more than a day before the last one. {_OF_EARLIER}")
    if unpassed := red_by_themselves(outcomes):
        ids = ["::".join(record.question.key) for record in unpassed]
        say(f"FAIL or ERROR: {printable(some(ids, _SHOWN))}")
    if failed := outcomes.failed_otherwise:
        say(f"failed besides the questions: {some(failed, _SHOWN)}")
    left = outcomes.documents is not None and outcomes.documents.left
    if left:
        say(LEFT_IS_RED)
    return int(any((decision.red, unpassed, stopped, failed, left)))
