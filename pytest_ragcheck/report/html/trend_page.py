"""Renders a `Trend` as one HTML file: a chart a metric, and the outcome of each question in each run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any

from pytest_ragcheck._version import __version__
from pytest_ragcheck.report.html.page import card, decimals, escaped, filled, folded, table
from pytest_ragcheck.short_texts import counted, some
from pytest_ragcheck.summary.gate.baseline_reader import BaselineRow
from pytest_ragcheck.summary.trend import PASS_RATE, Trend, TrendLine, TrendPoint, TrendQuestion, TrendRun
from pytest_ragcheck.verdict.verdict import Verdict

_HEIGHT = 100
_DIGITS = 3
_SHOWN = 5


def trend_page(trend: Trend) -> str:
    first = [line for line in trend.lines if line.asserted]
    further = [line for line in trend.lines if not line.asserted]
    agents = ", ".join(dict.fromkeys(run.agent_name for run in trend.runs))
    return filled(
        "trend",
        styles=("page.css", "trend.css"),
        title=f"{agents}: {counted(len(trend.runs), 'run')}",
        latest=escaped(_latest(trend)),
        lines=_cards(first, trend)
        + (folded("Metrics that are not asserted", _cards(further, trend)) if further else ""),
        changes=_changes(trend),
        marks="; dashed: a run under other conditions, listed below" if any(trend.changes) else "",
        runs=folded("All runs", _runs(trend)),
        footer=escaped(f"Written by pytest-ragcheck {__version__}."),
        data={
            "runs": [
                {
                    "title": f"{number}: {_time(run)}, {run.name}" + ("" if run.complete else ", partial"),
                    "changed": bool(changes),
                }
                for number, (run, changes) in enumerate(zip(trend.runs, trend.changes, strict=True), start=1)
            ],
            "metrics": [line.name for line in trend.lines if line.name != PASS_RATE],
            "several": len({question.latest.dataset_name for question in trend.questions}) > 1,
            "rows": list(map(_row, trend.questions)),
        },
    )


def _latest(trend: Trend) -> str:
    last = len(trend.runs) - 1
    run = trend.runs[last]
    newly = [each.latest.id for each in trend.questions if each.first_bad == last and each.last_good is not None]
    counts = ", ".join(f"{count} {verdict.value}" for verdict in Verdict if (count := _count(run, verdict)))
    named = f"; {len(newly)} newly failing: {some(newly, _SHOWN)}" if newly else ""
    return f"{_time(run)}: {counts or 'no question'}{named}"


def _count(run: TrendRun, verdict: Verdict) -> int:
    return sum(row.verdict is verdict for row in run.rows.values())


def _time(run: TrendRun) -> str:
    return run.ended.strftime("%Y-%m-%d %H:%M UTC")


def _cards(lines: Iterable[TrendLine], trend: Trend) -> str:
    return f'<div class="lines">{"".join(_card(line, trend) for line in lines)}</div>'


def _card(line: TrendLine, trend: Trend) -> str:
    latest = line.points[-1]
    mean, note = "not measured", "in the latest run"
    if latest:
        mean = decimals(latest.mean)
        note = f"{decimals(latest.low)} to {decimals(latest.high)}, {counted(latest.n, 'question')}"
    return card(line.name, mean, note, chart=_chart(line, trend))


def _chart(line: TrendLine, trend: Trend) -> str:
    points = [(n, point) for n, point in enumerate(line.points) if point]
    texts = [
        f"run {n + 1}: {decimals(point.mean)} ({decimals(point.low)} to {decimals(point.high)}, {point.n})"
        for n, point in points
    ]
    bottom, top = _scale([point.low for _, point in points], [point.high for _, point in points])

    def x(n: float) -> str:
        return f"{(n + 0.5) / len(trend.runs) * 100:.2f}"

    def y(value: float) -> str:
        return f"{(top - value) / (top - bottom) * _HEIGHT:.2f}"

    shapes = [f'<line x1="0" x2="100" y1="{at}" y2="{at}"/>' for at in (0, _HEIGHT)]
    for n, changes in enumerate(trend.changes):
        if changes:
            title = escaped(f"run {n + 1}: {'; '.join(changes)}")
            at = f'x1="{x(n)}" x2="{x(n)}" y1="0" y2="{_HEIGHT}"'
            shapes.append(f'<line class="mark" {at}><title>{title}</title></line>')
    for part in _parts(line.points):
        if len(part) == 1:
            ((n, point),) = part
            shapes.append(f'<path class="reach" d="M{x(n)} {y(point.low)}V{y(point.high)}"/>')
        else:
            upper = [f"{x(n)} {y(point.high)}" for n, point in part]
            lower = [f"{x(n)} {y(point.low)}" for n, point in reversed(part)]
            shapes.append(f'<path class="band" d="M{"L".join(upper + lower)}Z"/>')
            shapes.append(f'<path d="M{"L".join(f"{x(n)} {y(point.mean)}" for n, point in part)}"/>')
    shapes += [
        f'<path class="dot" d="M{x(n)} {y(point.mean)}h0"><title>{escaped(text)}</title></path>'
        for (n, point), text in zip(points, texts, strict=True)
    ]
    label = f"{line.name} by run: {'; '.join(texts)}"
    return (
        f'<div class="chart"><span class="scale" aria-hidden="true"><span>{top:g}</span><span>{bottom:g}</span></span>'
        f'<svg viewBox="0 0 100 {_HEIGHT}" preserveAspectRatio="none" role="img" aria-label="{escaped(label)}">'
        f'{"".join(shapes)}</svg><span class="axis" aria-hidden="true"><span>{_day(1, trend)}</span>'
        f"<span>{_day(len(trend.runs), trend) if len(trend.runs) > 1 else ''}</span></span></div>"
    )


def _day(number: int, trend: Trend) -> str:
    return f"run {number}, {trend.runs[number - 1].ended:%Y-%m-%d}"


def _parts(points: Sequence[TrendPoint | None]) -> Iterator[list[tuple[int, TrendPoint]]]:
    # Yield the consecutive points, so that no line bridges a run without a value.
    for _, run in groupby(enumerate(points), key=lambda each: each[1] is None):
        if part := [(n, point) for n, point in run if point is not None]:
            yield part


def _scale(lows: Sequence[float], highs: Sequence[float]) -> tuple[float, float]:
    # The ends of the axis: the next tenths within the scores' 0..1, or the values themselves far beyond.
    bottom, top = min(lows, default=0), max(highs, default=1)
    if top - bottom <= 2:
        bottom, top = math.floor(bottom * 10 + 1e-9) / 10, math.ceil(top * 10 - 1e-9) / 10
    return (bottom, top) if top > bottom else (bottom - 0.1 * (bottom != 0), top + 0.1 * (top != 1))


def _changes(trend: Trend) -> str:
    items = "".join(
        f'<li><span class="changed">run {number}*</span> {escaped("; ".join(changes))}</li>'
        for number, changes in enumerate(trend.changes, start=1)
        if changes
    )
    return items and f'<ul class="changes" aria-label="Runs under other conditions than before">{items}</ul>'


def _runs(trend: Trend) -> str:
    head = ["run", "ended", "file", *(verdict.value for verdict in Verdict), *(line.name for line in trend.lines)]
    rows = [
        [
            f"{n + 1}{'*' if trend.changes[n] else ''}",
            _time(run),
            run.name + ("" if run.complete else " (partial)"),
            *(str(_count(run, verdict)) for verdict in Verdict),
            *(decimals(point.mean) if (point := line.points[n]) else "" for line in trend.lines),
        ]
        for n, run in enumerate(trend.runs)
    ]
    return table("Runs", head, rows, kind="scores runs")


def _row(question: TrendQuestion) -> dict[str, Any]:
    latest, rows = question.latest, question.rows
    bad, good = (None if n is None else rows[n] for n in (question.first_bad, question.last_good))
    texts = [(n, row.question) for n, row in enumerate(rows) if row is not None]
    return {
        "dataset": latest.dataset_name,
        "id": latest.id,
        "question": latest.question,
        "state": question.state,
        "outcomes": "".join(" " if row is None else row.verdict.value[0] for row in rows),
        "scores": _scores(rows),
        "bad": question.first_bad,
        "good": question.last_good,
        "badReason": bad.reason if bad else "",
        "badAnswer": bad.answer if bad else None,
        "goodAnswer": good.answer if good else None,
        "reason": latest.reason,
        "reworded": [n for (_, before), (n, now) in pairwise(texts) if before != now],
    }


def _scores(rows: Sequence[BaselineRow | None]) -> dict[str, list[float | None]]:
    names = dict.fromkeys(metric for row in rows if row is not None for metric in row.metrics)
    values = {name: [None if row is None else row.metrics.get(name) for row in rows] for name in names}
    return {name: [value and (round(value, _DIGITS) or value) for value in of] for name, of in values.items()}
