"""The lines about changed contexts, ids, latency, refusals and metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from pytest_ragcheck.verdict.failure_text import some

if TYPE_CHECKING:
    from pytest_ragcheck.summary.gate.world_drift import BeforeAndNow, WorldDrift
    from pytest_ragcheck.summary.predictions_reader import Key

_SHOWN = 5
_FEWER_CONTEXTS = 0.95
_SLOWER = 1.25
"""Ratios beyond which a difference is shown."""

_MOVED = 0.05
"""The least difference of the mean of an unasserted metric that is shown."""

_MORE_REFUSALS, _LEAST = 0.05, 2
"""The least difference of refusals that is shown, as a share of the questions and as a number."""


def drift_lines(drift: WorldDrift, name: Callable[[Key], str]) -> Iterator[str]:
    """Yield a line for each change, with questions by *name*; none without changes."""
    if drift.judge_models:
        yield (
            f"the judge's server has another model behind the same name: {', '.join(drift.judge_models[:_SHOWN])}, "
            f"in the baseline {', '.join(drift.former_judge_models[:_SHOWN])}"
        )
    if drift.ids_renamed:
        yield (
            f"the system's document ids have changed: {drift.n_known_ids} of {drift.n_ids} occur in the baseline, "
            f"{100 * drift.known_texts:.0f} % of the texts do; metrics by id cannot be compared"
        )
    elif drift.lost_gold_ids:
        lost = some(drift.lost_gold_ids, _SHOWN, joint=" and ")
        yield f"gold documents that the baseline's contexts had and no reply has: {lost}"
    contexts = drift.contexts
    if contexts is not None and contexts.now < _FEWER_CONTEXTS * contexts.before:
        asked = f" of {drift.top_k:g} asked for" if drift.top_k is not None else ""
        yield f"fewer contexts: {contexts.now:.1f} a question{asked}, {contexts.before:.1f} in the baseline"
    yield from _latency(drift.latency_median, drift.latency_p95)
    refusals = drift.refusals
    if refusals is not None and abs(refusals.now - refusals.before) >= max(_LEAST, _MORE_REFUSALS * drift.n):
        yield f"answers that abstain: {refusals.now:.0f} of {drift.n}, {refusals.before:.0f} in the baseline"
    for metric, keys in drift.no_longer_scored.items():
        questions = f"{len(keys)} of {drift.n} questions ({some(map(name, keys), _SHOWN)})"
        yield f"{metric} had a score in the baseline and has none now: {questions}"
    moved = {
        metric: pair for metric, pair in drift.unasserted.items() if round(abs(pair.now - pair.before), 6) >= _MOVED
    }
    if moved:
        largest = sorted(moved, key=lambda metric: -abs(moved[metric].now - moved[metric].before))[:_SHOWN]
        means = ", ".join(f"{metric} {moved[metric].before:.2f} -> {moved[metric].now:.2f}" for metric in largest)
        yield f"not asserted, so the gate ignores them: {means}"


def _latency(middle: BeforeAndNow | None, p95: BeforeAndNow | None) -> Iterator[str]:
    if middle is None or p95 is None or not (_differs(middle) or _differs(p95)):
        return
    yield (
        f"latency: median {middle.now:.2f} s, p95 {p95.now:.2f} s "
        f"(in the baseline {middle.before:.2f} s and {p95.before:.2f} s)"
    )


def _differs(pair: BeforeAndNow) -> bool:
    low, high = sorted((pair.before, pair.now))
    return high > _SLOWER * low and high - low > 0.05
