"""Writes a report as HTML or Markdown, or the results as a flat table with a row for each question."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.redaction.printable import printable
from pytest_ragcheck.report.files.results_reader import Document, Results, all_rows
from pytest_ragcheck.report.view import MetricView, View, view_of
from pytest_ragcheck.short_texts import counted, from_difference, one_line, some, unequal
from pytest_ragcheck.summary.predictions_reader import key_of

_FIRST = (
    *("dataset_name", "question_id", "question", "expected_answer", "prediction", "verdict", "reason", "error_kind"),
    *("blame", "latency_seconds", "first_token_seconds", "n_contexts", "tags"),
)
"""The first columns of the table; the metrics follow."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_report(results: Results, path: Path, kind: str, *, append: bool = False) -> None:
    """Write or append the report as `html`, `markdown`, `csv` or `jsonl`."""
    write_text(path, _rendered(results, kind), append=append)


def write_text(path: Path, text: str, *, append: bool = False) -> None:
    """Write or append the text; a missing folder is created, and a failure is a `UsageError`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A lone surrogate in a model's text must not prevent the report.
        with path.open("a" if append else "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror}). Choose another file.") from None


def _rendered(results: Results, kind: str) -> str:
    if kind == "html":
        from pytest_ragcheck.report.html.page import page_of

        return page_of(view_of(results))
    if kind == "markdown":
        return markdown_of(view_of(results))
    return export_csv(results) if kind == "csv" else export_jsonl(results)


def export_csv(results: Results) -> str:
    rows = list(flat_rows(results))
    metrics = dict.fromkeys(name for row in rows for name in row if name not in _FIRST)
    return csv_text([*_FIRST, *metrics], rows)


def export_jsonl(results: Results) -> str:
    """A JSON object for each line; metrics without a measurement are absent."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in flat_rows(results))


def flat_rows(results: Results) -> Iterator[dict[str, Any]]:
    for row in all_rows(results.predictions):
        asked = results.asked.get(key_of(row), {})
        own = {
            "expected_answer": asked.get("expected_answer"),
            "verdict": row.get("verdict", "ERROR"),
            "reason": row.get("reason", row.get("message", "")),
            "error_kind": row.get("kind"),
            "n_contexts": len(row["contexts"]) if "contexts" in row else None,
            "tags": " ".join(asked.get("tags", ())) or None,
        }
        found = {**{name: own[name] if name in own else row.get(name) for name in _FIRST}, **row.get("metrics", {})}
        yield {name: value for name, value in found.items() if value is not None}


def csv_text(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """The heading and a line for each row; a text that begins like a formula gets an apostrophe in front."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(_without_formula, columns))
    writer.writerows([_without_formula(row.get(column, "")) for column in columns] for row in rows)
    return text.getvalue()


def _without_formula(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


COMMENT_CHARS = 65_536
"""The longest comment that GitHub accepts; a step summary may have 1 MiB (GitHub's documentation, 2026)."""

_ROOM = 500
"""Reserved for the last line, which counts the omitted questions."""

_TEXT_CHARS = 300

_NAMED = 5
"""Most newly failing questions in the first line."""

_NOTES = 30
"""Most lines of the gate, which begin with the reasons for red."""

_SIGNS = {"red": "❌", "green": "✅", "empty": "⚪"}

_GROUPS = (
    ("Newly failing", lambda row: row["change"] == "newly failing"),
    ("Failing", lambda row: row["verdict"] == "FAIL" and row["change"] != "newly failing" and not row["xfailed"]),
    ("Could not be measured", lambda row: row["verdict"] == "ERROR"),
    ("Failing, tolerated", lambda row: row["xfailed"] and row["change"] != "newly failing"),
    ("Newly passing", lambda row: row["change"] == "newly passing"),
)


def markdown_of(view: View, *, most_chars: int = COMMENT_CHARS) -> str:
    """The report with at most *most_chars*, >= 20,000; questions that do not fit are counted at the end."""
    text = "".join(f"{line}\n" for line in _top(view))
    blocks = [(row, block) for title, belongs in _GROUPS for row, block in _group(title, filter(belongs, view.rows))]
    if not blocks:
        return text
    text += "\n<details>\n<summary>Questions</summary>\n"
    for at, (_, block) in enumerate(blocks):
        if len(text) + len(block) > most_chars - _ROOM:
            left = sum(row is not None for row, _ in blocks[at:])
            text += f"\nThe result files have {counted(left, 'more question')}.\n"
            break
        text += block
    return f"{text}\n</details>\n"


def _top(view: View) -> Iterator[str]:
    newly = [cell(row["id"]) for row in view.rows if row["change"] == "newly failing"]
    named = f"; newly failing: {some(newly, _NAMED, joint=' and ')}" if newly else ""
    yield f"## {_SIGNS[view.upshot.state]} {cell(view.title)}: {cell(view.upshot.why)}{named}"
    yield ""
    yield ", ".join(f"{count} {name}" for name, count in view.counts.items() if count or name == "PASS")
    figures = {figure.name.capitalize(): f"{figure.value} ({figure.note})" for figure in view.figures}
    facts = " · ".join(f"{name}: {cell(shown)}" for name, shown in {**view.facts, **figures}.items())
    table = _metric_table(view.metrics, compared=bool(view.baseline)) if view.metrics else ()
    yield from _folded("Metrics", (*table, "", facts))
    if view.attacks:
        yield from _folded("Planted documents", table_lines(view.attacks))
    if view.notes:
        yield from _folded("Gate", _block(view.notes))


def _folded(title: str, lines: Iterable[str]) -> Iterator[str]:
    yield from ("", "<details>", f"<summary>{title}</summary>", "")
    yield from lines
    yield from ("", "</details>")


def _block(notes: Sequence[str]) -> Iterator[str]:
    # Yield the lines unchanged, in a fence that none of them can close.
    lines = [_visible(line)[:_TEXT_CHARS] for note in notes for line in note.split("\n")]
    fence = "`" * max(3, *(len(run) + 1 for line in lines for run in re.findall("`+", line)), 3)
    yield f"{fence}text"
    yield from lines[:_NOTES]
    if len(lines) > _NOTES:
        yield f"... the run's output has {counted(len(lines) - _NOTES, 'more line')}"
    yield fence


def _metric_table(metrics: Sequence[MetricView], *, compared: bool) -> Iterator[str]:
    rows = [["metric", "mean", "minimum", "questions", "baseline", "change"]]
    for metric in metrics:
        minimum = "" if metric.threshold is None else f"{metric.threshold:g}"
        before = metric.before
        change = ["", ""] if before is None else [f"{before:.3f}", f"{metric.mean - before:+.3f}"]
        rows.append([cell(metric.name), f"{metric.mean:.3f}", minimum, str(len(metric.values)), *change])
    yield from table_lines(rows if compared else [row[:4] for row in rows])


def table_lines(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a table with its head, from escaped cells; the first column has names, and the others numbers."""
    for number, cells in enumerate(rows):
        yield f"| {' | '.join(cells)} |"
        if number == 0:
            yield f"| --- |{' ---: |' * (len(cells) - 1)}"


def _group(title: str, rows: Iterator[Document]) -> Iterator[tuple[Document | None, str]]:
    listed = list(rows)
    if listed:
        yield None, f"\n### {title}: {len(listed)}\n\n"
        for row in listed:
            yield row, _question(row)


def _question(row: Document) -> str:
    short = ", ".join(
        f"{metric} {unequal(row['metrics'][metric], minimum, '<')}"
        for metric, minimum in row["thresholds"].items()
        if row["metrics"].get(metric, minimum) < minimum
    )
    shown = ": ".join(filter(None, (short, row["reason"] if row["verdict"] != "PASS" else "")))
    lines = [f"- **{cell(row['dataset'])}::{cell(row['id'])}** {cell(row['question'])}"]
    # An ERROR has its remedy on further lines.
    lines += [f"  {cell(part)}" for part in shown.split("\n", 1) if part]
    if row["finding"]:
        lines.append(f"  {cell(row['finding'])}")
    elif row["xfailed"]:
        lines.append(f"  tolerated: {cell(row['xfailed'])}")
    if row["change"] == "newly failing":
        answers = {"recorded": row["before"]["answer"], "answer": row["answer"]}
        for (label, text), other in zip(answers.items(), reversed(answers.values()), strict=True):
            if text is not None:
                lines.append(f"  {label}: {cell(from_difference(text, other or '', _TEXT_CHARS)) or '(empty)'}")
    if row["blame"]:
        lines.append(f"  blame: {row['blame']}")
    return "  \n".join(lines) + "\n"


def cell(text: str) -> str:
    """The text on one line, escaped so that it makes no Markdown link, image or mention."""
    line = re.sub(r"([\\`*_\[\]<>|#~!&])", r"\\\1", _visible(one_line(text, _TEXT_CHARS)))
    # A zero-width space keeps GitHub from notifying people and from linking issues and addresses.
    return re.sub(r"@(?=\w)|(?<=\\#)(?=\d)|(?<=\w):(?=//)", lambda match: f"{match[0]}\u200b", line)


def _visible(line: str) -> str:
    # The line with invisible characters shown by their code, and without commands to CI runners.
    return printable("".join(char if char.isprintable() else f"[U+{ord(char):04X}]" for char in line))
