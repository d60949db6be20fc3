"""Several records of one question as one, and how far their values are apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median, variance

from pytest_ragcheck.frozen import frozen, replace
from pytest_ragcheck.scores import PROHIBITIONS, Score, measured_values
from pytest_ragcheck.verdict.record import Record, lacks_secrets
from pytest_ragcheck.verdict.verdict import Thresholds, Verdict, decide

SPREAD_LIMIT = 0.2
"""The largest difference between repeated values of one metric that is not called unstable."""

ATTEMPTS = "attempts; "
"""The end of each clause that counts the answers that break a prohibition."""

Values = tuple[tuple[float, ...], ...]
"""The values of one metric of one question: for each answer, each of its judgements."""


@frozen
class Variance:
    """The parts of a metric's variance; each >= 0, None without several of its kind."""

    judge: float | None
    """Between judgements of one answer."""

    system: float | None
    """Between answers to one question."""


def combined_record(records: Sequence[Record], thresholds: Thresholds, new_leaks: Sequence[Record]) -> Record:
    """
    One record for several of the same question, with all values in `repeated`.

    Every score is the median of its values (the minimum for a prohibition), and the verdict is decided on them. If the
    medians pass and most records are a FAIL, the scores are those of the FAIL that is nearest to the medians. Answer,
    contexts and latency are those of the record whose scores are nearest, among the *new_leaks* if there are any. If
    one of the records is an ERROR, it is returned, unless another one breaks a prohibition.
    """
    asked = len(records)
    error = next((record for record in records if record.verdict is Verdict.ERROR), None)
    records = [record for record in records if record.verdict is not Verdict.ERROR]
    counts = {metric: sum(metric in record.shortfalls for record in records) for metric in PROHIBITIONS}
    if error is not None and not any(counts.values()):
        return error
    broken = "".join(f"{metric} is broken in {n} of {asked} {ATTEMPTS}" for metric, n in counts.items() if n)
    scores = {metric: _combined(records, metric) for record in records for metric in record.scores}
    decision = decide(records[0].question, scores, thresholds)
    failed = [record for record in records if record.verdict is Verdict.FAIL]
    if decision.verdict is Verdict.PASS and 2 * len(failed) > len(records):
        # Most answers reach each threshold, but most fail another one.
        scores = dict(min(failed, key=lambda record: _distance(record, scores)).scores)
        decision = decide(records[0].question, scores, thresholds)
        broken = f"{len(failed)} of {asked} answers failed, in different scores: "
    nearest = sorted(new_leaks or records, key=lambda record: _distance(record, scores))
    shown = next((record for record in nearest if record.verdict is decision.verdict), nearest[0])
    reason = broken + shown.reason if shown.verdict is decision.verdict else ""
    if decision.error not in reason:
        reason = "; ".join(filter(None, (reason, decision.error)))
    return replace(
        shown,
        verdict=decision.verdict,
        scores=scores,
        thresholds=decision.thresholds,
        dropped=decision.dropped,
        reason=reason,
        error_kind=decision.error_kind,
        verdict_cached=all(record.verdict_cached for record in records),
        repeated={
            metric: values
            for metric in scores
            if (values := tuple(each for record in records for each in _values(record, metric)))
        },
    )


def with_recorded_repeats(record: Record, row: Record) -> Record:
    """
    The record of a recorded answer with the values of all answers and judgements that its *row* has.

    Another judge repeats nothing, and a metric with another score today has its own values.
    """
    # A score of redacted texts has no findings from which the reason could be made.
    same_reason = lacks_secrets(row) and record.verdict is row.verdict
    if same_reason:
        record = replace(record, reason=row.reason)
    if row.judge != record.judge:
        return record
    same = dict(measured_values(record.scores).items() & measured_values(row.scores).items())
    repeated = {metric: values for metric, values in row.repeated.items() if metric in same}
    broken = "".join(row.reason.rpartition(ATTEMPTS)[:2]) if record.leaks and not same_reason else ""
    return replace(record, repeated={**record.repeated, **repeated}, reason=broken + record.reason)


def spread(values: Values) -> float:
    """The largest difference between two values, >= 0."""
    flat = [value for judgements in values for value in judgements]
    return max(flat) - min(flat)


def variances(repeated: Iterable[Mapping[str, Values]]) -> dict[str, Variance]:
    """
    Return, by metric, the judge's and the system's part of the variance over all questions.

    Source: one-way analysis of variance with random effects, the answers being the groups. The judge's part is the
    mean of the variances within answers; the system's is the variance between the answers' means, less the share of
    the judge's part that is left in a mean. Without repeated judgements nothing is subtracted.
    """
    within: dict[str, list[float]] = {}
    between: dict[str, list[float]] = {}
    for values_of in repeated:
        for metric, values in values_of.items():
            inside = [variance(judgements) for judgements in values if len(judgements) > 1]
            within.setdefault(metric, []).extend(inside)
            if len(values) > 1:
                noise = fmean(inside) / len(values[0]) if inside else 0.0
                between.setdefault(metric, []).append(variance(map(fmean, values)) - noise)
    return {
        metric: Variance(
            judge=fmean(within[metric]) if within.get(metric) else None,
            # An estimate below 0 means that the judge explains the whole variance.
            system=max(0.0, fmean(between[metric])) if between.get(metric) else None,
        )
        for metric in within
        if within.get(metric) or between.get(metric)
    }


def _combined(records: Sequence[Record], metric: str) -> Score:
    scores = [record.scores[metric] for record in records if metric in record.scores]
    values = [score.value for score in scores if score.value is not None]
    if metric in PROHIBITIONS and values and min(values) < 1:
        return Score(min(values))
    unscored = next((score for score in scores if score.value is None), None)
    return unscored or Score(median(values))


def _values(record: Record, metric: str) -> Values:
    if metric in record.repeated:
        return record.repeated[metric]
    value = record.scores[metric].value if metric in record.scores else None
    return () if value is None else ((value,),)


def _distance(record: Record, scores: Mapping[str, Score]) -> tuple[float, float]:
    # Prohibitions come first, so that an answer that breaks one is shown.
    values = {metric: (score.value, scores[metric].value) for metric, score in record.scores.items()}
    distances = {metric: abs(a - b) for metric, (a, b) in values.items() if a is not None and b is not None}
    return sum(distances.get(metric, 0) for metric in PROHIBITIONS), sum(distances.values())
