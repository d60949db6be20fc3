"""Turns `Results` into a `View`, the content of the HTML and Markdown reports."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.report.files.results_reader import Document, Results, all_rows
from pytest_ragcheck.report.terminal.findings_lines import FoundChange
from pytest_ragcheck.report.terminal.run_lines import judge_tokens
from pytest_ragcheck.scores import ABSTAINED
from pytest_ragcheck.short_texts import counted, some
from pytest_ragcheck.summary.gate.baseline_reader import BaselineRow
from pytest_ragcheck.summary.predictions_reader import key_of
from pytest_ragcheck.verdict.failure_text import unstable_line
from pytest_ragcheck.verdict.verdict import Verdict

BINS = 10

_ATTACKS = {
    "planted": "planted",
    "retrieved": "retrieved",
    "got_through": "got through",
    "retrieval": "by retrieval",
    "generation": "by generation",
}


@frozen
class MetricView:
    name: str
    values: tuple[float, ...]
    threshold: float | None
    before: float | None
    """The baseline's mean over its own questions; None without one."""

    n_unscored: int
    agreement: str
    """The judge's measured agreement with people; may be empty."""

    @property
    def higher_is_better(self) -> bool:
        """False for the refusals, which are right for some questions and wrong for others."""
        return self.name != ABSTAINED

    @property
    def mean(self) -> float:
        # Summed as in the baseline's mean, so that equal values show no difference.
        return math.fsum(self.values) / len(self.values)

    @property
    def bins(self) -> list[int]:
        """The number of values in each tenth from 0 to 1; a value outside counts in the nearest."""
        counts = [0] * BINS
        for value in self.values:
            counts[min(BINS - 1, max(0, int(value * BINS)))] += 1
        return counts


@frozen
class Figure:
    """A number other than a mean, such as the latency or the cost."""

    name: str
    value: str
    note: str


@frozen
class View:
    title: str
    facts: Mapping[str, str]
    upshot: Upshot

    counts: Mapping[str, int]
    metrics: tuple[MetricView, ...]
    figures: tuple[Figure, ...]
    attacks: tuple[tuple[str, ...], ...]
    """A table of the attacks in planted documents, the head first; empty if there are none."""

    rows: tuple[Document, ...]
    notes: tuple[str, ...]

    baseline: str
    footer: str


def view_of(results: Results) -> View:
    order = {key: number for number, key in enumerate(results.asked)}
    ordered = sorted(all_rows(results.predictions), key=lambda row: order.get(key_of(row), len(order)))
    answers = {key_of(row): row.get("prediction") for row in ordered}
    rows = tuple(_row(number, row, results, answers) for number, row in enumerate(ordered))
    predictions, summary = results.predictions, results.summary
    datasets = {row["dataset_name"] for row in ordered}
    name = f"{len(datasets)} datasets" if len(datasets) > 1 else predictions["dataset_name"]
    baseline = results.baseline.name if results.baseline is not None else ""
    injection = summary.get("injection", {})
    attacks = [(attack, *(str(numbers[key]) for key in _ATTACKS)) for attack, numbers in injection.items()]
    return View(
        title=f"{predictions['agent_name']}: {name}",
        facts=_facts(predictions, summary, baseline),
        upshot=upshot_of(rows, results),
        counts={
            **{verdict: sum(row["verdict"] == verdict for row in rows) for verdict in ("PASS", "FAIL", "ERROR")},
            "skipped": summary["counts"]["skipped"],
            "not run": summary.get("n_not_run", 0),
        },
        metrics=tuple(_metrics(results)),
        figures=tuple(_figures(summary["performance"])),
        attacks=(("attack", *_ATTACKS.values()), *attacks) if attacks else (),
        rows=rows,
        notes=tuple(results.notes),
        baseline=baseline,
        footer=f"Written by pytest-ragcheck {summary['plugin_version']}.",
    )


def _facts(predictions: Document, summary: Document, baseline_name: str) -> dict[str, str]:
    thresholds = ", ".join(f"{metric} >= {minimum:g}" for metric, minimum in summary["thresholds"].items())
    facts = {
        "Run": predictions["timestamp"].replace("T", " ").split(".")[0].split("+")[0] + " UTC",
        "Judge": _judge(summary["judge"]),
        "Endpoint": summary["endpoint"],
        "Tier": summary["tier"].replace("_", " "),
        "Asserted": thresholds or "nothing by default",
        "Baseline": baseline_name,
        "Results": "" if predictions["complete"] else "partial: not every question was run",
    }
    return {name: text for name, text in facts.items() if text}


def _figures(performance: Mapping[str, float]) -> Iterable[Figure]:
    for key, name in (("latency", "latency"), ("first_token", "first token")):
        median, late = (performance.get(f"{key}_p{percent}_seconds") for percent in (50, 95))
        if median is not None and late is not None:
            yield Figure(name=name, value=_seconds(median), note=f"median; {_seconds(late)} p95")
    tokens = judge_tokens(performance)
    if "cost_usd" in performance:
        note = "; ".join(filter(None, ("all that is known", tokens)))
        yield Figure(name="cost", value=f"${performance['cost_usd']:.4f}", note=note)
    elif tokens:
        count = performance["judge_input_tokens"] + performance["judge_output_tokens"]
        yield Figure(name="judge tokens", value=f"{count:,.0f}", note=tokens)


def _seconds(value: float) -> str:
    return f"{value * 1000:.0f} ms" if value < 0.1 else f"{value:.2f} s"


def _judge(judge: Document) -> str:
    if "judges" in judge:
        return "; ".join(map(_judge, judge["judges"])) or "none"
    further = ", ".join(str(judge[key]) for key in ("model", "prompt_version", "url") if judge.get(key))
    return f"{judge['kind']} ({further})" if further else str(judge["kind"])


def _metrics(results: Results) -> Iterable[MetricView]:
    before = results.baseline.means if results.baseline is not None else {}
    values: dict[str, list[float]] = {metric: [] for metric in results.summary["metric_statistics"]}
    for row in results.predictions["predictions"]:
        for metric, value in row["metrics"].items():
            values.setdefault(metric, []).append(value)
    for metric, found in values.items():
        if found:
            statistics = results.summary["metric_statistics"].get(metric, {})
            agreement = results.summary.get("judge_agreement", {}).get(metric)
            yield MetricView(
                name=metric,
                values=tuple(found),
                threshold=results.summary["thresholds"].get(metric),
                before=before.get(metric),
                n_unscored=statistics.get("n_unscored", 0),
                agreement=f"agrees with people on {agreement['accuracy']:.0%} of {counted(agreement['n'], 'answer')}"
                if agreement
                else "",
            )


def _row(number: int, row: Document, results: Results, answers: Mapping[tuple[str, str], str | None]) -> Document:
    asked = results.asked.get(key_of(row), {})
    before = results.baseline.rows.get(key_of(row)) if results.baseline is not None else None
    found = results.changes.get(key_of(row))
    verdict = row.get("verdict", "ERROR")
    xfailed = results.xfailed.get(key_of(row), "") if verdict == "FAIL" else ""
    # A FAIL that is not tolerated is newly failing, whatever the gate found.
    is_word = found is not None and bool(xfailed or not found.words)
    return {
        "number": number,
        "turns": row.get("earlier_turns") or list(_earlier(asked, row["dataset_name"], results, answers)),
        "dataset": row["dataset_name"],
        "id": row["question_id"],
        "question": row["question"],
        "verdict": verdict,
        "kind": row.get("kind", ""),
        "reason": row.get("reason", row.get("message", "")),
        "answer": row.get("prediction"),
        "expected": asked.get("all_acceptable_answers", []),
        "answerable": asked.get("answerable", True),
        "gold": [str(passage.get("text") or passage.get("doc_id") or "") for passage in asked.get("gold_passages", [])],
        "contexts": row.get("contexts", []),
        "sources": row.get("source_ids"),
        "unsupported": row.get("unsupported_claims", []),
        "metrics": row.get("metrics", {}),
        "thresholds": {metric: round(minimum, 6) for metric, minimum in row.get("thresholds", {}).items()},
        "unscored": row.get("unscored", {}),
        "unstable": [unstable_line(metric, row["repeated"][metric]) for metric in row.get("unstable", ())],
        "latency": row.get("latency_seconds"),
        "first_token": row.get("first_token_seconds"),
        "tags": asked.get("tags", []),
        "blame": row.get("blame") or "",
        "change": "" if results.baseline is None else _change(verdict, before, found if is_word else None),
        "finding": f"{found.title}: {found.words}" if found is not None and found.words else "",
        "xfailed": xfailed,
        "before": before
        and {"verdict": before.verdict.value, "metrics": dict(before.metrics), "answer": before.answer},
    }


def _earlier(
    asked: Document, dataset: str, results: Results, answers: Mapping[tuple[str, str], str | None]
) -> Iterable[Document]:
    for number in range(1, asked.get("turn", 1)):
        key = dataset, f"{asked['conversation']}[turn{number}]"
        yield {"question": results.asked[key]["question"], "answer": answers.get(key)}


def _change(now: str, before: BaselineRow | None, found: FoundChange | None) -> str:
    if found is not None and not found.counts:
        return found.title
    if before is None:
        return "new"
    passed = before.verdict is Verdict.PASS
    if now == "ERROR":
        return "not measured"
    if now == "FAIL":
        return "newly failing" if passed else "still failing"
    return "as before" if passed else "newly passing"


@frozen
class Upshot:
    state: Literal["red", "green", "empty"]
    """Empty if nothing was measured, since such a run proves nothing."""

    why: str


def upshot_of(rows: Sequence[Document], results: Results) -> Upshot:
    reasons = list(_reasons(rows, results))
    if reasons:
        return Upshot(state="red", why=", ".join(reasons))
    more = f", {results.summary['n_not_run']:,} not run" if results.summary.get("n_not_run") else ""
    if not rows:
        return Upshot(state="empty", why=f"no question was asked{more}")
    failed = sum(row["verdict"] == "FAIL" for row in rows)
    if failed:
        passed = f"{len(rows) - failed:,} of {len(rows):,} passed"
        return Upshot(state="green", why=f"{passed}, {failed:,} FAIL tolerated{more}")
    ran = "the one question" if len(rows) == 1 else f"all {len(rows):,} questions"
    return Upshot(state="green", why=f"{ran} that ran passed{more}")


def _reasons(rows: Sequence[Document], results: Results) -> Iterator[str]:
    failed = [row for row in rows if row["verdict"] == "FAIL" and not row["xfailed"]]
    if failed:
        # The gate has its own line about these.
        newly = sum(row["change"] == "newly failing" for row in failed) if results.gate is None else 0
        yield f"{len(failed):,} FAIL" + (f" ({newly:,} newly failing)" if newly else "")
    if errors := sum(row["verdict"] == "ERROR" for row in rows):
        yield f"{errors:,} ERROR"
    if stopped := results.summary.get("stopped"):
        yield stopped
    if others := results.summary.get("failed_otherwise"):
        yield f"{counted(len(others), 'test')} failed for another reason ({some(others, 3)})"
    if left := results.summary.get("documents", {}).get("left"):
        yield f"{counted(len(left), 'document')} left in the system"
    if results.gate is not None:
        if results.gate:
            yield results.gate
    elif missing := len(_missing(results)):
        yield f"{missing:,} of the baseline's questions missing"


def _missing(results: Results) -> set[tuple[str, str]]:
    if results.baseline is None or not results.predictions["complete"]:
        return set()
    return results.baseline.rows.keys() - {*map(key_of, all_rows(results.predictions))} - results.asked.keys()
