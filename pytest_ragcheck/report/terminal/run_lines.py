"""Renders the header and the summary of a run as lines, which the caller prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pytest_ragcheck.questions.question import GENERATION, RETRIEVAL_ALONE, Origin, QuestionSet
from pytest_ragcheck.redaction.printable import printable
from pytest_ragcheck.scores import (
    BOUNDED,
    JUDGED,
    NO_EMBEDDING_MODEL,
    OVERALL,
    RAGAS_BY_EMBEDDINGS,
    RETRIEVAL,
    SEMANTIC,
    listed,
    recall_at_most,
)
from pytest_ragcheck.short_texts import counted, cut, some

if TYPE_CHECKING:
    from pytest_ragcheck.config.settings import Settings
    from pytest_ragcheck.summary.aggregate import Repeats, Summary, Totals
    from pytest_ragcheck.summary.run_outcomes import Outcomes
    from pytest_ragcheck.verdict.record import Record

LEFT_IS_RED = "documents: the run is red because documents are left; the verdicts are not affected"

_MOST_IDS_NAMED = 5
_ROW = 80
"""Characters of a narrow terminal's row."""

_BESIDE = 6
"""Most datasets side by side, for the width of most terminals."""

_MOST_DATASETS = 2 * _BESIDE
_LONGEST_NAME = 20

_TIERS = {
    GENERATION: "the passages are sent with the questions, nothing is retrieved",
    RETRIEVAL_ALONE: "the contexts alone are measured, no answer is asked for",
}


def header_lines(
    settings: Settings, *, endpoint: str, judge: str, sets: Sequence[QuestionSet], folder: str
) -> list[str]:
    others = "measured and pass" if settings.judge.name == "none" else "ERRORs"
    parts = [
        f"{'replay of' if settings.run.replay else 'endpoint'} {endpoint}",
        f"judge {judge}",
        asserted_bounds(settings, sets) or f"only thresholds of questions are asserted; other questions are {others}",
        f"results in {folder}",
    ]
    lines = ["; ".join(parts)]
    lines += [f"{each.dataset_name}: {_origin_words(each.origin)}" for each in sets if each.origin]
    if settings.run.tier in _TIERS:
        lines.append(f"tier {settings.run.tier}: {_TIERS[settings.run.tier]}")
    if other := [
        f"{each.dataset_name} ({tier})" for each in sets if (tier := each.tier) not in (None, settings.run.tier)
    ]:
        lines.append(f"with another tier: {', '.join(other)}")
    if own := [questions.dataset_name for questions in sets if questions.sets_thresholds]:
        lines.append(f"thresholds of their own: {', '.join(own)}")
    if lacking := without_embeddings(settings):
        lines.append(f"{', '.join(lacking)} cannot be measured: {NO_EMBEDDING_MODEL}")
    return [f"ragcheck: {line}" for line in lines]


def asserted_bounds(settings: Settings, sets: Sequence[QuestionSet]) -> str:
    """The thresholds of the run and its maximums: `groundedness >= 0.7, latency_seconds <= 5`."""
    minimums = (f"{metric} >= {minimum:g}" for metric, minimum in run_thresholds(settings, sets).items())
    return ", ".join((*minimums, *(f"{metric} <= {most:g}" for metric, most in settings.gate.maximums.items())))


def _origin_words(origin: Origin) -> str:
    taken = f"all {origin.available} questions" if origin.available != 1 else "the one question"
    if origin.samples is not None and origin.samples < origin.available:
        taken = f"{origin.samples} of {origin.available} questions (seed {origin.seed})"
    split = f", split {origin.split}" if origin.split else ""
    left_out = f"; {counted(origin.left_out, 'row')} left out for a blank question" if origin.left_out else ""
    return f"{taken} of {origin.source}{split}{left_out}"


def without_embeddings(settings: Settings) -> tuple[str, ...]:
    """The chosen metrics that cannot be measured without an embedding model."""
    if settings.judge.embedding_model:
        return ()
    by_model = RAGAS_BY_EMBEDDINGS if "ragas" in settings.run.metrics and settings.judge.name == "openai" else ()
    return (*by_model, *(SEMANTIC if "semantic" in settings.run.metrics else ()))


def run_thresholds(settings: Settings, sets: Iterable[QuestionSet], *, judged: bool = True) -> dict[str, float]:
    """
    The run's own thresholds by metric.

    *sets* is empty if unknown, as in the controller of xdist. *judged* is False if no question had a judge.
    """
    answered = {q.is_answered for each in sets for q in each.questions} or {settings.run.tier != RETRIEVAL_ALONE}
    judged = judged and settings.judged and True in answered
    both = [*(JUDGED if judged else ()), *([recall_at_most(settings.endpoint.top_k)] if False in answered else ())]
    minimums = settings.gate.minimums.items()
    return {
        **dict.fromkeys(both, settings.gate.threshold),
        **{metric: minimum for metric, minimum in minimums if judged or metric not in JUDGED},
    }


def score_words(record: Record) -> str:
    """The asserted scores, for a verbose line."""
    scores = ((metric, record.scores[metric].value) for metric in record.thresholds if metric in record.scores)
    return printable(" ".join(f"{metric}={value:.2f}" for metric, value in scores if value is not None))


def summary_lines(outcomes: Outcomes, summary: Summary, *, all_metrics: bool = True) -> Iterator[str]:
    """Yield the summary; without *all_metrics*, only the asserted metrics if there are any."""
    asserted = {metric for record in outcomes.records for metric in record.thresholds}
    metrics = summary.totals.metrics.keys()
    shown = metrics if all_metrics else asserted & metrics or metrics
    yield from _metric_lines(summary, shown)
    yield from scorecard_lines(summary, shown)
    yield from _limit_lines(outcomes, summary)
    if summary.repeats is not None:
        yield from _repeat_lines(summary.repeats)
    counts = summary.totals.counts
    line = f"{counts.passed} PASS, {counts.failed} FAIL, {counts.errors} ERROR, {counts.skipped} skipped"
    yield f"{line}, {outcomes.not_run} not run" if outcomes.not_run else line
    if outcomes.documents is not None:
        yield from outcomes.documents.lines()
    yield from _origin_lines(outcomes, summary)


def equal_error_lines(errors: Iterable[Sequence[Record]]) -> Iterator[str]:
    """Yield a line for each cause of several ERRORs, given the records of each cause."""
    for records in errors:
        if len(records) > 1:
            first, _, _ = records[0].reason.partition("\n")
            text = f"{len(records)} ERROR: {cut(first, 200)}"
            ids = [record.question.id for record in records]
            named = _named_in(ids, _ROW - len(f"{text}: "))
            yield f"{text}: {_some(ids, named)}" if named else text


def _some(ids: Sequence[str], most: int = _MOST_IDS_NAMED) -> str:
    return printable(some(ids, most, joint=" and "))


def _named_in(ids: Sequence[str], room: int) -> int:
    fitting = (named for named in range(_MOST_IDS_NAMED, 0, -1) if len(_some(ids, named)) <= room)
    return next(fitting, 0)


def _metric_lines(summary: Summary, shown: Collection[str]) -> Iterator[str]:
    if shown:
        width = max(map(len, (*shown, "metric")))
        yield f"{'metric':<{width}}   mean    min    max    std  scored  unscored"
        for metric, s in summary.totals.metrics.items():
            if metric in shown:
                line = f"{metric:<{width}}  {s.mean:5.3f}  {s.min:5.3f}  {s.max:5.3f}  {s.std:5.3f}"
                line += f"  {s.n_scored:6}  {s.n_unscored:8}"
                if agreement := summary.agreements.get(metric):
                    line += f"  agrees with people on {agreement.accuracy:.0%} of {counted(agreement.n, 'answer')}"
                yield line


def _gold_lines(outcomes: Outcomes, without_gold: int) -> Iterator[str]:
    as_zero = sum(
        record.question.answerable
        and not record.question.gold_passages
        and not record.scores.keys().isdisjoint(RETRIEVAL)
        for record in outcomes.measured
    )
    if as_zero:
        yield f"retrieval counts as 0 on {as_zero}: no gold passages, though others of the dataset have some"
    if without_gold > as_zero:
        yield f"retrieval not measured on {without_gold - as_zero}: no gold passages"


def _unscored_lines(outcomes: Outcomes, summary: Summary) -> Iterator[str]:
    # Yield the metrics that have no row in the table because no question has a score of them.
    reasons: dict[str, list[str]] = {}
    for record in outcomes.measured:
        for metric, score in record.scores.items():
            if score.value is None and metric not in summary.totals.metrics:
                reasons.setdefault(metric, []).append(score.reason)
    alike: dict[str, list[str]] = {}
    for metric, found in reasons.items():
        alike.setdefault(f"{len(found)}: {cut(found[0].partition(chr(10))[0], 200)}", []).append(metric)
    yield from (f"{listed(metrics)} not measured on {why}" for why, metrics in alike.items())


def _limit_lines(outcomes: Outcomes, summary: Summary) -> Iterator[str]:
    asserted = {*BOUNDED, *(metric for record in outcomes.records for metric in record.thresholds)}
    for metric, reasons in summary.dropped.items():
        what = "not asserted" if metric in asserted else "asserted on NO question, not"
        yield from (f"{metric} {what} on {count}: {reason}" for reason, count in reasons.items())
    yield from _unscored_lines(outcomes, summary)
    if "unanswerable_accuracy" in summary.totals.abstention:
        yield f"abstention: {', '.join(f'{name} {rate:.3f}' for name, rate in summary.totals.abstention.items())}"
    lacking = Counter(metric for record in outcomes.measured for metric in record.overall_lacks)
    if lacking:
        yield f"{OVERALL} without {', '.join(f'{metric} on {count}' for metric, count in lacking.items())}"
    yield from _gold_lines(outcomes, summary.totals.n_without_gold or 0)
    if summary.totals.blame:
        blame, failed = summary.totals.blame, summary.totals.counts.failed
        parts = ", ".join(f"{part} {count}" for part, count in blame.items())
        yield f"blame: {parts} (of {sum(blame.values())} FAIL with gold passages; {failed} FAIL in all)"
    if summary.totals.injection:
        yield "injection   planted  retrieved  got through  by retrieval  by generation"
    for attack, n in summary.totals.injection.items():
        yield (f"{attack:<10}  {n.planted:7}  {n.retrieved:9}  {n.got_through:11}  {n.retrieval:12}  {n.generation:13}")


def _origin_lines(outcomes: Outcomes, summary: Summary) -> Iterator[str]:
    yield f"judge: {'; '.join(judge.words for judge in summary.judges) or 'unknown, because no answer was judged'}"
    if outcomes.agreements and summary.judges and not summary.agreements:
        files = ", ".join(dict.fromkeys(each.path.name for each in outcomes.agreements))
        yield f"rag_calibration: not shown, because {files} has no judge of this model, server, prompt and parameters"
    yield from _cost_lines(summary.totals.performance)
    if outcomes.replay_of:
        yield f"answers: recorded in {outcomes.replay_of}"
    if summary.verdicts_from_cache:
        yield f"verdict cache: {summary.verdicts_from_cache} of {len(outcomes.records)} verdicts from an earlier run"
    yield from (f"asked on demand: {count}: {why}" for why, count in sorted(outcomes.on_demand.items()))


def judge_tokens(performance: Mapping[str, float]) -> str:
    """The tokens of the judge's model in words; empty if unknown."""
    if not {"judge_input_tokens", "judge_output_tokens"} <= performance.keys():
        return ""
    return "judge {judge_input_tokens:,.0f} tokens in, {judge_output_tokens:,.0f} out".format_map(performance)


def _cost_lines(performance: Mapping[str, float]) -> Iterator[str]:
    money = f"${performance['cost_usd']:.4f} for the questions with a verdict" if "cost_usd" in performance else ""
    if text := "; ".join(filter(None, (judge_tokens(performance), money))):
        yield f"cost: {text}"


def _repeat_lines(repeats: Repeats) -> Iterator[str]:
    for metric, variance in repeats.variances.items():
        parts = (("the judge's", variance.judge), ("the system's", variance.system))
        text = ", ".join(f"{value:.4f} {whose}" for whose, value in parts if value is not None)
        if variance.judge or variance.system:
            yield f"variance of {metric}: {text}"
    for metric, ids in repeats.unstable.items():
        yield f"unstable: {metric} of {_some(ids)}"


def scorecard_lines(summary: Summary, shown: Collection[str]) -> Iterator[str]:
    """Yield a table with a column for each of 2 to `_MOST_DATASETS` datasets; the summary file has more."""
    datasets = summary.datasets
    if len(datasets) < 2:
        return
    if len(datasets) > _MOST_DATASETS:
        yield f"by dataset: the numbers of each of the {len(datasets)} datasets are in the summary file"
        return
    metrics = [metric for metric in summary.totals.metrics if metric in shown]
    names = list(datasets)
    for start in range(0, len(names), _BESIDE):
        yield from _block({name: datasets[name] for name in names[start : start + _BESIDE]}, metrics)


def _block(datasets: Mapping[str, Totals], metrics: list[str]) -> Iterator[str]:
    columns = list(map(_cells, datasets.values()))
    rates = ("unanswerable_accuracy", "fpr", "fnr")
    counts = ("PASS", "FAIL", "ERROR", "skipped")
    rows = [row for row in (*metrics, *rates, *counts) if any(row in cells for cells in columns)]
    cells = [[row, *(each.get(row, "") for each in columns)] for row in rows]
    yield from aligned([["by dataset", *(f"{_shortened(name):>5}" for name in datasets)], *cells])


def aligned(table: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the rows, with the cells of the first column on the left and the others on the right."""
    first, *widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for name, *cells in table:
        right = (f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        yield "  ".join([f"{name:<{first}}", *right]).rstrip()


def _cells(totals: Totals) -> dict[str, str]:
    counts = totals.counts
    return {
        **{metric: f"{statistics.mean:.3f}" for metric, statistics in totals.metrics.items()},
        **{rate: f"{value:.3f}" for rate, value in totals.abstention.items()},
        "PASS": str(counts.passed),
        "FAIL": str(counts.failed),
        "ERROR": str(counts.errors),
        **({"skipped": str(counts.skipped)} if counts.skipped else {}),
    }


def _shortened(name: str) -> str:
    # The name, or the end of a long name, since names of files differ at their end.
    return name if len(name) <= _LONGEST_NAME else f"...{name[3 - _LONGEST_NAME :]}"
