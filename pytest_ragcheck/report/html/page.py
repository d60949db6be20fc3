"""Renders a `View` as one HTML file with its style, script and data; the page loads nothing."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import unicodedata
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

from pytest_ragcheck._version import __version__
from pytest_ragcheck.report.view import BINS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_ragcheck.report.view import MetricView, View

_ESCAPED = re.compile("[<>&\u2028\u2029\ud800-\udfff]")
"""Characters that could close the data's element or end a line in it, and those that UTF-8 cannot encode."""

_SAME = 0.0005
"""Means closer than the shown digits count as equal."""


def page_of(view: View) -> str:
    """Return the whole file. Text from models, questions and servers stays text, never markup or script."""
    style, script = _part("page.css"), _part("page.js")
    return Template(_part("page.html")).substitute(
        # The policy allows this file's own style and script only, whatever the data contains.
        policy=f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'",
        version=_text(__version__),
        title=_text(f"{view.title} - pytest-ragcheck"),
        heading=_text(view.title),
        state=view.upshot.state,
        state_word=view.upshot.state.capitalize(),
        why=_text(view.upshot.why),
        facts="".join(f"<div><dt>{_text(name)}</dt><dd>{_text(said)}</dd></div>" for name, said in view.facts.items()),
        counts="".join(
            f'<li class="{_text(name)}"><b>{count:,}</b> {_text(name)}</li>'
            for name, count in view.counts.items()
            if count or name == "PASS"
        ),
        metrics=_metrics(view),
        gate_lines=_notes(view),
        footer=_text(view.footer),
        style=style,
        script=script,
        report=_json(
            {
                "rows": view.rows,
                "several": len({row["dataset"] for row in view.rows}) > 1,
                "metrics": [
                    {"name": metric.name, "higherIsBetter": metric.higher_is_better} for metric in view.metrics
                ],
                "baseline": view.baseline,
            }
        ),
    )


def _metrics(view: View) -> str:
    if not view.metrics:
        return "<p>Nothing was measured.</p>"
    asserted = {metric for row in view.rows for metric in row["thresholds"]}
    first = [metric for metric in view.metrics if metric.name in asserted] or list(view.metrics)
    further = [metric for metric in view.metrics if metric not in first]
    return _cards(first) + (_folded("Metrics that are not asserted", _cards(further)) if further else "")


def _cards(metrics: Iterable[MetricView]) -> str:
    return f'<div class="metrics">{"".join(map(_metric, metrics))}</div>'


def _folded(title: str, content: str) -> str:
    return f'<details class="fold"><summary>{title}</summary>{content}</details>'


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
        f'<article class="metric"><h3>{_text(metric.name)}</h3><p class="mean">{metric.mean:.3f}{change}</p>'
        f"<p>{_text(', '.join(notes))}</p>{_histogram(metric)}"
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
        f'<svg viewBox="0 0 100 {height}" preserveAspectRatio="none" role="img" aria-label="{_text(label)}">'
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
        f'<p class="{"further" if line.startswith(" ") else "line"}">{_text(line.strip())}</p>' for line in lines
    )
    return _folded("Gate", f'<div class="notes">{shown}</div>')


def _text(text: str) -> str:
    """Return the text escaped for an element or attribute, with invisible characters shown by their code."""
    return html.escape("".join(char if _is_shown(char) else f"[U+{ord(char):04X}]" for char in text))


def _is_shown(char: str) -> bool:
    return char in "\n\t" or unicodedata.category(char) not in {"Cc", "Cf", "Cs"}


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _part(name: str) -> str:
    return files("pytest_ragcheck.report.html").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
