"""Renders a `View` as one HTML file with its style, script and data, and fills the templates of such pages."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from string import Template
from typing import Any
from urllib.parse import urlencode

from pytest_ragcheck._version import __version__
from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.report.files.results_reader import Document
from pytest_ragcheck.report.view import BINS, MetricView, View
from pytest_ragcheck.short_texts import counted

_SAME = 0.0005
"""Smaller differences of means are invisible in the shown digits."""

_ITEM = 2
"""Indent of a question among the gate's lines; its details are indented further."""

_ESCAPED = re.compile("[<>&\u2028\u2029\ud800-\udfff]")
"""Characters that could close the data's element or end a line in it, and those that UTF-8 cannot encode."""


def page_of(view: View) -> str:
    """The page, which loads nothing; text from models, questions and servers stays text, never markup or script."""
    return filled(
        "page",
        title=view.title,
        state=view.upshot.state,
        state_word=view.upshot.state.capitalize(),
        why=escaped(view.upshot.why),
        facts="".join(
            f"<div><dt>{escaped(name)}</dt><dd>{escaped(text)}</dd></div>" for name, text in view.facts.items()
        ),
        broken_title="What broke" if view.upshot.state == "red" else "Failures that were tolerated",
        counts="".join(
            f'<li class="{escaped(name)}"><b>{count:,}</b> {escaped(name)}</li>'
            for name, count in view.counts.items()
            if count or name == "PASS"
        ),
        metrics=_metrics(view) + _attacks(view),
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
    if not view.metrics and not view.figures:
        return "<p>Nothing was measured.</p>"
    asserted = {metric for row in view.rows for metric in row["thresholds"]}
    first = [metric for metric in view.metrics if metric.name in asserted] or list(view.metrics)
    further = [metric for metric in view.metrics if metric not in first]
    figures = (card(figure.name, figure.value, figure.note, kind="metric figure") for figure in view.figures)
    cards = _cards((*map(_metric, first), *figures))
    return cards + (folded("Metrics that are not asserted", _cards(map(_metric, further))) if further else "")


def _attacks(view: View) -> str:
    if not view.attacks:
        return ""
    head, *rows = view.attacks
    return f"<h3>Planted documents</h3>{table('Planted documents', head, rows)}"


def _cards(cards: Iterable[str]) -> str:
    return f'<div class="metrics">{"".join(cards)}</div>'


def _metric(metric: MetricView) -> str:
    change = ""
    if metric.before is not None:
        delta = metric.mean - metric.before
        changed = abs(delta) > _SAME
        direction = ("up" if delta > 0 else "down") if changed and metric.higher_is_better else ""
        text = f"{delta:+.3f} against {decimals(metric.before)}" if changed else "as in the baseline"
        change = f'<small class="{direction}">{text}</small>'
    notes = (
        counted(len(metric.values), "question"),
        f"{metric.n_unscored} could not be measured" if metric.n_unscored else "",
        "" if metric.threshold is None else f"minimum {metric.threshold:g}",
        metric.agreement,
    )
    chart = f'{_histogram(metric)}<p class="axis" aria-hidden="true"><span>0</span><span>1</span></p>'
    return card(metric.name, decimals(metric.mean), ", ".join(filter(None, notes)), change=change, chart=chart)


def _histogram(metric: MetricView) -> str:
    counts = metric.bins
    most = max(counts)
    width, height = 100 / BINS, 40
    titles = {n: f"{n / BINS:.1f} to {(n + 1) / BINS:.1f}: {count}" for n, count in enumerate(counts) if count}
    heights = {n: counts[n] / most * height for n in titles}
    bars = "".join(
        f'<rect class="{"low" if (n + 1) / BINS <= (metric.threshold or 0) else "met"}" x="{n * width + 0.5:.1f}" '
        f'y="{height - bar:.2f}" width="{width - 1:.1f}" height="{bar:.2f}"><title>{titles[n]}</title></rect>'
        for n, bar in heights.items()
    )
    line = ""
    if metric.threshold is not None:
        line = f'<line x1="{metric.threshold * 100:.2f}" x2="{metric.threshold * 100:.2f}" y1="0" y2="{height}"/>'
    label = f"How the values of {metric.name} are spread: {', '.join(titles.values())}"
    return (
        f'<svg viewBox="0 0 100 {height}" preserveAspectRatio="none" role="img" aria-label="{escaped(label)}">'
        f"{bars}{line}</svg>"
    )


def _notes(view: View) -> str:
    names = {f"{row['dataset']}::{row['id']}": row for row in view.rows} | {row["id"]: row for row in view.rows}
    lines = [line for note in view.notes for line in note.splitlines() if line.strip()]
    shown, listed = [], False
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if listed and indent < _ITEM:
            shown.append("</ul>")
            listed = False
        if indent < _ITEM:
            shown.append(f"<p>{escaped(line)}</p>")
        elif indent == _ITEM:
            shown.append(f"{'' if listed else '<ul>'}<li>{_linked(line.strip(), names)}</li>")
            listed = True
        else:
            shown[-1] = f"{shown[-1].removesuffix('</li>')}<br><small>{escaped(line.strip())}</small></li>"
    return folded("Gate", f'<div class="notes">{"".join(shown)}{"</ul>" if listed else ""}</div>') if shown else ""


def _linked(line: str, names: Mapping[str, Document]) -> str:
    name, colon, words = line.partition(": ")
    row = names.get(name)
    if row is None or not colon:
        return escaped(line)
    target = urlencode({"question": f"{row['dataset']}::{row['id']}"})
    return f'<a href="#{escaped(target)}">{escaped(name)}</a>: {escaped(words)}'


def filled(name: str, *, title: str, data: Any, styles: Sequence[str] = ("page.css",), **markup: str) -> str:
    """
    A whole page with its style and script.

    *name* is that of the template and of its script, which gets the *data*. *markup* has the values of the template's
    other places, escaped by the caller.
    """
    style, script = "".join(map(_part, styles)), _part("shared.js") + _part(f"{name}.js")
    return Template(_part(f"{name}.html")).substitute(
        # The policy allows this file's own style and script only, whatever the data contains.
        policy=f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'",
        version=escaped(__version__),
        title=escaped(f"{title} - pytest-ragcheck"),
        heading=escaped(title),
        style=style,
        script=script,
        report=_json(data),
        **markup,
    )


def folded(title: str, content: str) -> str:
    return f'<details class="fold"><summary>{title}</summary>{content}</details>'


def card(name: str, value: str, note: str, *, change: str = "", chart: str = "", kind: str = "metric") -> str:
    """The card of one metric; the change and the chart are markup, escaped by the caller."""
    return (
        f'<article class="{kind}"><h3>{escaped(name)}</h3><p class="mean">{escaped(value)}{change}</p>'
        f"<p>{escaped(note)}</p>{chart}</article>"
    )


def decimals(value: float) -> str:
    """The value with 3 decimals, or with up to 6 if it would be shown as 0."""
    return f"{value:.3f}" if not value or abs(value) >= 0.0005 else f"{value:.6f}".rstrip("0")


def table(label: str, head: Iterable[str], rows: Iterable[Iterable[str]], *, kind: str = "scores") -> str:
    """A table that scrolls in its own region, with its cells escaped."""
    heading = "".join(f"<th>{escaped(cell)}</th>" for cell in head)
    lines = "".join(f"<tr>{''.join(f'<td>{escaped(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return (
        f'<div class="table" tabindex="0" role="region" aria-label="{label}"><table class="{kind}">'
        f"<thead><tr>{heading}</tr></thead><tbody>{lines}</tbody></table></div>"
    )


def escaped(text: str) -> str:
    """The text escaped for an element or attribute, with invisible characters shown by their code."""
    return html.escape(
        "".join(
            f"[U+{ord(char):04X}]" if unicodedata.category(char) in {"Cc", "Cf", "Cs"} and char not in "\n\t" else char
            for char in text
        )
    )


def _part(name: str) -> str:
    return package_text(f"report/html/{name}")


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
