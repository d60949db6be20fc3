"""What the run's gate makes of a run that has come to its end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from pytest_ragcheck.plugin.compared_with import baseline_name, baseline_of
from pytest_ragcheck.plugin.configuration import settings_of
from pytest_ragcheck.plugin.reach import Reach
from pytest_ragcheck.report.comparison import comparison_lines, regressions_text
from pytest_ragcheck.report.gate import (
    rate_line,
    rate_text,
    refusal_lines,
    refusal_text,
    regression_lines,
    regression_text,
)
from pytest_ragcheck.summary.comparison import compare
from pytest_ragcheck.summary.in_git import committed
from pytest_ragcheck.summary.regression import regression
from pytest_ragcheck.summary.sameness import differences
from pytest_ragcheck.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    import pytest

    from pytest_ragcheck.plugin.run import Run
    from pytest_ragcheck.summary.baseline import Baseline
    from pytest_ragcheck.summary.comparison import Comparison
    from pytest_ragcheck.summary.outcomes import Outcomes


@dataclass(frozen=True, slots=True, kw_only=True)
class Gated:
    """What a gate found."""

    lines: tuple[str, ...] = ()
    """For the end of the run."""

    text: str = ""
    """Why the run is red; empty where it is not."""

    headline: str = ""
    """The first lines of `text` in one line."""


def gated(config: pytest.Config, run: Run, *, not_passed: Collection[str], xfailed: Collection[str]) -> Gated:
    """
    What the gate makes of the run.

    Args:
        config: pytest's.
        run: Of which all items have ended.
        not_passed: Node ids of what did not pass.
        xfailed: Node ids of those of which pytest was told to expect that.
    """
    settings = settings_of(config)
    outcomes = run.outcomes(settings)
    found = []
    if settings.baseline is not None:
        reach = Reach(config, run, complete=outcomes.complete, not_passed=not_passed)
        comparison = compare(
            baseline_of(config),
            outcomes,
            clean=settings.redactor.text,
            would_meet=reach.would_meet,
            expected_to_fail={key for node_id in xfailed for key in run.keys_of(node_id)},
            missing_allowed=settings.missing == "allowed",
        )
        found.append(_compared(config, comparison))
        found.append(Gated(lines=tuple(_older(comparison.baseline, outcomes))))
    if (lowest := settings.gate_rate) is not None:
        found.append(_rated(outcomes, lowest))
    texts = [each.text for each in found if each.text]
    return Gated(
        lines=tuple(line for each in found for line in each.lines),
        text="\n\n".join(texts),
        headline="; ".join(text.partition("\n")[0] for text in texts),
    )


def gate_name(config: pytest.Config) -> str:
    """The gate in the line that says why nothing was decided."""
    settings = settings_of(config)
    return f"baseline {baseline_name(config)}" if settings.baseline is not None else f"gate {settings.gate}"


def _compared(config: pytest.Config, comparison: Comparison) -> Gated:
    settings = settings_of(config)
    otherwise = differences(comparison) if settings.other_baseline == "refuse" else ()
    if otherwise:
        return Gated(lines=tuple(refusal_lines(comparison, otherwise)), text=refusal_text(comparison, otherwise))
    if settings.gate == "regression":
        weighed = regression(comparison, error_rate=settings.false_alarms, tolerance=settings.tolerance)
        red = weighed.worse or bool(comparison.lost)
        return Gated(lines=tuple(regression_lines(weighed)), text=regression_text(weighed) if red else "")
    lines = tuple(comparison_lines(comparison))
    # Under a rate the comparison is for the reader.
    red = comparison.worse and settings.gate == "each"
    return Gated(lines=lines, text=regressions_text(comparison) if red else "")


def _rated(outcomes: Outcomes, lowest: float) -> Gated:
    verdicts = [record.verdict for record in outcomes.measured if record.question.quarantine is None]
    passed = verdicts.count(Verdict.PASS)
    failed = len(verdicts) - passed
    low = bool(verdicts) and passed / len(verdicts) < lowest
    return Gated(lines=(rate_line(passed, failed, lowest),), text=rate_text(passed, failed, lowest) if low else "")


def _older(baseline: Baseline, outcomes: Outcomes) -> Iterator[str]:
    """That a question file has changed since the baseline was made."""
    try:
        made = datetime.fromisoformat(baseline.timestamp.replace("Z", "+00:00"))
    except ValueError:
        return
    for path in dict.fromkeys(questions.path for questions in outcomes.sets if questions.path.is_file()):
        changed = datetime.fromtimestamp(path.stat().st_mtime, timezone.utc)
        # A checkout makes every file new; when it was changed, git knows.
        if changed > made and (changed := committed(path) or changed) > made:
            yield (
                f"baseline {baseline.name} of {made:%Y-%m-%d %H:%M} is older than {path.name} of "
                f"{changed:%Y-%m-%d %H:%M}: make a new one if its questions are meant to have changed"
            )
