"""Renders a `View` as one HTML file with its style, script and data; the page loads nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.report.html.markup import escaped, filled, folded
from pytest_ragcheck.report.view import BINS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_ragcheck.report.view import MetricView, View

_SAME = 0.0005
"""Means closer than the shown digits count as equal."""


def page_of(view: View) -> str:
    """Return the whole file. Text from models, questions and servers stays text, never markup or script."""
    return filled(
        "page",
        title=view.title,
        state=view.upshot.state,
        state_word=view.upshot.state.capitalize(),
        why=escaped(view.upshot.why),
        facts="".join(
            f"<div><dt>{escaped(name)}</dt><dd>{escaped(said)}</dd></div>" for name, said in view.facts.items()
        ),
        counts="".join(
            f'<li class="{escaped(name)}"><b>{count:,}</b> {escaped(name)}</li>'
            for name, count in view.counts.items()
            if count or name == "PASS"
        ),
        metrics=_metrics(view),
        gate_lines=_notes(view),
        footer=escaped(view.footer),
        data={
            "rows": view.rows,
            "several": len({row["dataset"] for row in view.rows}) > 1,
            "metrics": [{"name": metric.name, "higherIsBetter": metric.higher_is_better} for metric in view.metrics],
            "baseline": view.baseline,
        },
    )


def _metrics(view: View) -> str:
    if not view.metrics:
        return "<p>Nothing was measured.</p>"
    asserted = {metric for row in view.rows for metric in row["thresholds"]}
    first = [metric for metric in view.metrics if metric.name in asserted] or list(view.metrics)
    further = [metric for metric in view.metrics if metric not in first]
    return _cards(first) + (folded("Metrics that are not asserted", _cards(further)) if further else "")


def _cards(metrics: Iterable[MetricView]) -> str:
    return f'<div class="metrics">{"".join(map(_metric, metrics))}</div>'


def _metric(metric: MetricView) -> str:
    change = ""
    if metric.before is not None:
        delta = metric.mean - metric.before
        changed = abs(delta) > _SAME
        direction = ("up" if delta > 0 else "down") if changed and metric.higher_is_better else ""
        said = f"{delta:+.3f} against {metric.before:.3f}" if changed else "as in the baseline"
        change = f'<small class="{direction}">{said}</small>'
    notes = [f"{len(metric.values):,} {'question' if len(metric.values) == 1 else 'questions'}"]
    if metric.n_unscored:
        notes.append(f"{metric.n_unscored} could not be measured")
    if metric.threshold is not None:
        notes.append(f"minimum {metric.threshold:g}")
    if metric.agreement:
        notes.append(metric.agreement)
    return (
        f'<article class="metric"><h3>{escaped(metric.name)}</h3><p class="mean">{metric.mean:.3f}{change}</p>'
        f"<p>{escaped(', '.join(notes))}</p>{_histogram(metric)}"
        f'<p class="axis" aria-hidden="true"><span>0</span><span>1</span></p></article>'
    )


def _histogram(metric: MetricView) -> str:
    counts = metric.bins
    most = max(counts)
    width, height = 100 / BINS, 40
    bars = "".join(
        f'<rect class="{"low" if _is_low(n, metric.threshold) else "met"}" x="{n * width + 0.5:.1f}" '
        f'y="{height - count / most * height:.2f}" width="{width - 1:.1f}" height="{count / most * height:.2f}">'
        f"<title>{n / BINS:.1f} to {(n + 1) / BINS:.1f}: {count}</title></rect>"
        for n, count in enumerate(counts)
        if count
    )
    line = ""
    if metric.threshold is not None:
        line = f'<line x1="{metric.threshold * 100:.2f}" x2="{metric.threshold * 100:.2f}" y1="0" y2="{height}"/>'
    said = ", ".join(f"{n / BINS:.1f} to {(n + 1) / BINS:.1f}: {count}" for n, count in enumerate(counts) if count)
    label = f"How the values of {metric.name} are spread: {said}"
    return (
        f'<svg viewBox="0 0 100 {height}" preserveAspectRatio="none" role="img" aria-label="{escaped(label)}">'
        f"{bars}{line}</svg>"
    )


def _is_low(bin_number: int, threshold: float | None) -> bool:
    """Return True if all values of the tenth are below the minimum."""
    return threshold is not None and (bin_number + 1) / BINS <= threshold


def _notes(view: View) -> str:
    if not view.notes:
        return ""
    lines = (line for note in view.notes for line in note.splitlines() if line.strip())
    shown = "".join(
        f'<p class="{"further" if line.startswith(" ") else "line"}">{escaped(line.strip())}</p>' for line in lines
    )
    return folded("Gate", f'<div class="notes">{shown}</div>')
