"""Decides the gate, and makes lines about its baseline."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.plugin.collecting.collection_scope import reach_of
from pytest_ragcheck.plugin.collecting.gate_baseline import baseline_name, baseline_of, place_of
from pytest_ragcheck.plugin.configuration import DATASETS_PLUGIN, settings_of
from pytest_ragcheck.plugin.ending.item_outcomes import outcomes_of
from pytest_ragcheck.report.files.results_reader import place_of_results
from pytest_ragcheck.report.terminal.comparison_lines import accept_command
from pytest_ragcheck.summary.gate.baseline_comparison import Comparison, compare
from pytest_ragcheck.summary.gate.gate_decision import Decision, decide
from pytest_ragcheck.summary.gate.git_revision import committed

if TYPE_CHECKING:
    import pytest

    from pytest_ragcheck.plugin.collecting.dataset_items import Datasets
    from pytest_ragcheck.plugin.run_state import Run
    from pytest_ragcheck.summary.gate.baseline_reader import Baseline
    from pytest_ragcheck.summary.run_outcomes import Outcomes


def decided(config: pytest.Config, run: Run, *, not_passed: Collection[str]) -> Decision:
    settings = settings_of(config)
    outcomes = outcomes_of(run, settings)
    comparison = None
    if settings.gate.baseline is not None:
        comparison = _comparison(config, run, outcomes, not_passed)
    return decide(outcomes, comparison, outcomes.rules)


def gate_name(config: pytest.Config) -> str:
    """The name of the gate for a line about a missing decision."""
    settings = settings_of(config)
    return f"baseline {baseline_name(config)}" if settings.gate.baseline is not None else f"gate {settings.gate.rule}"


def older_lines(baseline: Baseline, run: Run) -> Iterator[str]:
    """Yield a line for each question file that changed after the baseline was made."""
    try:
        made = datetime.fromisoformat(baseline.timestamp.replace("Z", "+00:00"))
    except ValueError:
        return
    if made.tzinfo is None:
        made = made.replace(tzinfo=timezone.utc)
    for path in dict.fromkeys(questions.path for questions in run.questions.sets.values() if questions.path.is_file()):
        changed = datetime.fromtimestamp(path.stat().st_mtime, timezone.utc)
        # A checkout gives every file a new time; git has the time of the change.
        if changed > made and (changed := committed(path) or changed) > made:
            yield (
                f"baseline {baseline.name} of {made:%Y-%m-%d %H:%M} is older than {path.name} of "
                f"{changed:%Y-%m-%d %H:%M}: save a new one if the questions were changed on purpose"
            )


def _comparison(config: pytest.Config, run: Run, outcomes: Outcomes, not_passed: Collection[str]) -> Comparison:
    settings, baseline = settings_of(config), baseline_of(config)
    reach = reach_of(config, run, complete=outcomes.complete, not_passed=not_passed)
    datasets: Datasets | None = config.pluginmanager.get_plugin(DATASETS_PLUGIN)

    def expects(dataset_name: str, question_id: str) -> bool:
        questions = run.questions.sets.get(dataset_name)
        if datasets is None or questions is None or not datasets.gives(dataset_name):
            return reach.expects(dataset_name, question_id)
        return datasets.expects(questions, question_id)

    compared = compare(baseline, outcomes, outcomes.rules, clean=settings.redactor.text, expects=expects)
    start = config.invocation_params.dir
    # `ragcheck merge` writes the full run of the shards.
    results = settings.run.output if settings.run.shard is None else start / "ragcheck-results"
    results = place_of_results(results, settings.run.agent)
    is_plain = start == config.rootpath and config.getini("rag_baseline") is None
    # The command does not see -o of this run.
    output = Path("ragcheck-results") if config.getini("rag_output") is None else None
    command = accept_command(
        results=results, baseline=place_of(config).path, start=start, is_plain=is_plain, output=output
    )
    return replace(compared, accept=command)
