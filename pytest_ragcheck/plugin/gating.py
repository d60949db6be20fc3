"""What the run's gate makes of a run that has come to its end."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

from pytest_ragcheck.plugin.compared_with import baseline_name, baseline_of
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.outcomes import outcomes_of
from pytest_ragcheck.plugin.reach import Reach
from pytest_ragcheck.summary.comparison import compare
from pytest_ragcheck.summary.gate import decide
from pytest_ragcheck.summary.in_git import committed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    import pytest

    from pytest_ragcheck.plugin.run import Run
    from pytest_ragcheck.summary.baseline import Baseline
    from pytest_ragcheck.summary.comparison import Comparison
    from pytest_ragcheck.summary.gate import Decision
    from pytest_ragcheck.summary.outcomes import Outcomes


def decided(config: pytest.Config, run: Run, *, not_passed: Collection[str]) -> Decision:
    """
    What the gate makes of the run.

    Args:
        config: pytest's.
        run: Of which all items have ended.
        not_passed: Node ids of what did not pass.
    """
    settings = settings_of(config)
    outcomes = outcomes_of(run, settings)
    comparison = None
    if settings.baseline is not None:
        comparison = _comparison(config, run, outcomes, not_passed)
    return decide(outcomes, comparison, outcomes.terms)


def gate_name(config: pytest.Config) -> str:
    """The gate in the line that says why nothing was decided."""
    settings = settings_of(config)
    return f"baseline {baseline_name(config)}" if settings.baseline is not None else f"gate {settings.gate}"


def older_lines(baseline: Baseline, run: Run) -> Iterator[str]:
    """That a question file has changed since the baseline was made."""
    try:
        made = datetime.fromisoformat(baseline.timestamp.replace("Z", "+00:00"))
    except ValueError:
        return
    for path in dict.fromkeys(questions.path for questions in run.sets.values() if questions.path.is_file()):
        changed = datetime.fromtimestamp(path.stat().st_mtime, timezone.utc)
        # A checkout makes every file new; when it was changed, git knows.
        if changed > made and (changed := committed(path) or changed) > made:
            yield (
                f"baseline {baseline.name} of {made:%Y-%m-%d %H:%M} is older than {path.name} of "
                f"{changed:%Y-%m-%d %H:%M}: make a new one if its questions are meant to have changed"
            )


def _comparison(config: pytest.Config, run: Run, outcomes: Outcomes, not_passed: Collection[str]) -> Comparison:
    settings, baseline = settings_of(config), baseline_of(config)
    if settings.shard is not None:
        # What the other shards ask this run would meet, were it whole; they say the same, and the merge asks all.
        whole = Reach(config, run, complete=True, not_passed=not_passed)
        run.out_of_reach = frozenset(key for key in baseline.rows if not whole.would_meet(*key))
    reach = Reach(config, run, complete=outcomes.complete, not_passed=not_passed)
    return compare(
        baseline,
        outcomes,
        clean=settings.redactor.text,
        would_meet=reach.would_meet,
        missing_allowed=settings.missing == "allowed",
    )
