"""`ragcheck merge DIR...`: the shards of a run, as if it had been run at once."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.cli.arguments import add_output_folder
from pytest_ragcheck.cli.gating import add_gate_options, read_baseline_of, terms_of
from pytest_ragcheck.errors import ResultsError, UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from pytest_ragcheck.redaction import Redactor
    from pytest_ragcheck.summary.baseline import Baseline
    from pytest_ragcheck.summary.comparison import Comparison
    from pytest_ragcheck.summary.gate import Decision
    from pytest_ragcheck.summary.outcomes import Outcomes


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to those of `ragcheck`."""
    parser = commands.add_parser(
        "merge",
        help="put the shards of a run together",
        description="Makes of the results of all shards (pytest --rag-shard=I/N) the files that one run would have "
        "written, and decides over them as one run's gate would: by what the shards were held to, unless said "
        "otherwise. Exit status: 0 green; 1 red: an ERROR, a FAIL that the gate does not tolerate, or the gate itself; "
        "2 wrong usage.",
    )
    parser.add_argument("folders", metavar="FOLDER", nargs="+", type=Path, help="where the shards wrote their results")
    add_output_folder(parser)
    add_gate_options(parser)
    parser.set_defaults(run=_run)


def _run(chosen: argparse.Namespace) -> int:
    try:
        return _merge(chosen)
    except (UsageError, ResultsError) as error:
        print(f"ragcheck merge: {error}", file=sys.stderr)
        return 2


def _merge(chosen: argparse.Namespace) -> int:
    from pytest_ragcheck.given import redactor_of  # noqa: PLC0415 - for this command only
    from pytest_ragcheck.report.files import write_results  # noqa: PLC0415 - as above
    from pytest_ragcheck.report.flaky import flaky_lines  # noqa: PLC0415 - as above
    from pytest_ragcheck.report.gate import decision_headline, decision_lines, decision_text  # noqa: PLC0415 - as above
    from pytest_ragcheck.report.terminal import file_lines, summary_lines  # noqa: PLC0415 - as above
    from pytest_ragcheck.summary.aggregate import aggregate  # noqa: PLC0415 - as above
    from pytest_ragcheck.summary.flaky import flaky_in_run  # noqa: PLC0415 - as above
    from pytest_ragcheck.summary.gate import decide, red_by_themselves, tolerated  # noqa: PLC0415 - as above
    from pytest_ragcheck.summary.shards import find_shards, merged, read_shard  # noqa: PLC0415 - as above

    # Read first: the merged results may replace it.
    baseline = read_baseline_of(chosen)
    shards = [read_shard(path) for path in find_shards(chosen.folders)]
    outcomes = merged(shards, timestamp=datetime.now(timezone.utc))
    terms = terms_of(chosen, outcomes.terms)
    redactor = redactor_of(os.environ)
    comparison = None if baseline is None else _comparison(outcomes, baseline, redactor, terms.missing)
    decision = decide(outcomes, comparison, terms)
    outcomes = replace(outcomes, tolerated=tolerated(outcomes, terms, baseline, clean=redactor.text))
    flaky = flaky_in_run(outcomes.measured, baseline, clean=redactor.text)
    is_gated = comparison is not None or terms.gate != "each"
    summary = aggregate(outcomes, flaky=flaky, decision=decision if is_gated else None)
    lines = [*summary_lines(outcomes, summary), *decision_lines(decision), *_not_asked_again(decision)]
    lines += flaky_lines(flaky)
    written = write_results(outcomes, summary, chosen.output, redactor)
    for line in (*lines, *file_lines(written, Path.cwd())):
        print(line)
    if decision.red:
        text = decision_text(decision)
        # What the others list has been listed.
        print(f"gate {terms.gate}: RED: {text if decision.weighed is not None else decision_headline(decision)}")
    return int(decision.red or bool(red_by_themselves(outcomes)))


def _comparison(outcomes: Outcomes, baseline: Baseline, redactor: Redactor, missing: str) -> Comparison:
    """With the baseline; what the shards were not asked to collect is not missing, as far as they knew the baseline."""
    from pytest_ragcheck.summary.comparison import compare  # noqa: PLC0415 - for this command only

    def would_meet(dataset_name: str, id: str) -> bool:  # noqa: A002 - the question's own word
        return outcomes.complete and (dataset_name, id) not in outcomes.out_of_reach

    return compare(baseline, outcomes, clean=redactor.text, would_meet=would_meet, missing_allowed=missing == "allowed")


def _not_asked_again(decision: Decision) -> Iterator[str]:
    """That nobody knows whether what newly fails is more than noise: here nothing can be asked."""
    if decision.weighed is None:
        return
    once = [change for change in decision.weighed.comparison.newly_failing if not change.now.asked_again]
    if once:
        yield (
            f"{len(once)} newly failing, by one look each: run the shards with --rag-gate=regression and "
            "--rag-baseline, so that they ask again"
        )
