"""Compares contexts, ids, latency, refusals and metrics of a run with those of the latest saved run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from pytest_ragcheck.scores.catalogue import ABSTAINED
from pytest_ragcheck.summary.gate.recorded.saved_answer import SavedAnswer, text_digest
from pytest_ragcheck.summary.metric_statistics import percentile

if TYPE_CHECKING:
    from pytest_ragcheck.summary.gate.baseline_comparison import Change
    from pytest_ragcheck.summary.predictions_reader import Key
    from pytest_ragcheck.verdict.record import Record

_RENAMED_IDS, _KNOWN_TEXTS = 0.1, 0.5
"""Document ids are renamed if fewer of them are known than the first share, and more of the texts than the second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BeforeAndNow:
    """A number of the latest saved run and of this run."""

    before: float
    now: float

    @classmethod
    def of(cls, pairs: Iterable[tuple[float, float]], combined: Callable[[Iterable[float]], float]) -> BeforeAndNow:
        before, now = map(combined, zip(*pairs, strict=True))
        return cls(before=before, now=now)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldDrift:
    """Differences from the latest saved run, over the questions that both measured."""

    n: int
    n_ids: int
    """Number of document ids that the run returned."""

    n_known_ids: int
    known_texts: float
    """Share of the returned texts that the saved runs returned too, 0..1."""

    lost_gold_ids: tuple[str, ...]
    """Ids of gold documents that the saved runs returned and this run did not."""

    contexts: BeforeAndNow | None
    """Mean number of contexts of a question; None if the baseline keeps none."""

    top_k: float | None
    """Mean requested number of contexts; None if it is unknown."""

    latency_median: BeforeAndNow | None
    """Seconds; None if one of the runs has no times."""

    latency_p95: BeforeAndNow | None
    refusals: BeforeAndNow | None
    """Number of abstentions; None if the baseline does not know it."""

    unasserted: Mapping[str, BeforeAndNow]
    """Means of the metrics that no question asserts, without the refusals, over the answers that both runs measured."""

    no_longer_scored: Mapping[str, Sequence[Key]]
    """By asserted metric, the questions that the latest saved run scored and this run does not."""

    judge_models: tuple[str, ...]
    """Models that the judge's server names in this run; empty if the saved runs had one of them, or none."""

    former_judge_models: tuple[str, ...]
    """Models that the server of the same judge named in the saved runs; empty as above."""

    @property
    def ids_renamed(self) -> bool:
        """True if the system returns known texts under new ids."""
        return bool(self.n_ids) and self.n_known_ids <= _RENAMED_IDS * self.n_ids and self.known_texts >= _KNOWN_TEXTS


def world_drift(changes: Sequence[Change]) -> WorldDrift:
    pairs = [(change.before.saved[-1][0], change.now) for change in changes if change.before.saved]
    looks = [look for change in changes for look in change.before.answers]
    known_ids = {source_id for look in looks for source_id in look.source_ids or ()}
    known_texts = {digest for look in looks for digest in look.context_digests}
    ids = {source_id for change in changes for source_id in change.now.source_ids or ()}
    texts = [text_digest(text) in known_texts for change in changes for text in change.now.contexts]
    gold = {passage.doc_id for change in changes for passage in change.now.question.gold_passages if passage.doc_id}
    former, models = _replaced_models(changes)
    answered = [(saved, record) for saved, record in pairs if saved.text is not None]
    contexts = [(len(saved.context_digests), len(record.contexts)) for saved, record in answered]
    values = _values(pairs)
    asserted = {ABSTAINED, *(metric for _, record in pairs for metric in (*record.thresholds, *record.dropped))}
    lost: dict[str, list[Key]] = {}
    for saved, record in pairs:
        for metric in sorted(asserted & (saved.scores.keys() - record.scores.keys())):
            lost.setdefault(metric, []).append(record.question.key)
    return WorldDrift(
        n=len(pairs),
        n_ids=len(ids) if known_ids else 0,
        n_known_ids=len(ids & known_ids),
        known_texts=sum(texts) / len(texts) if texts else 0.0,
        lost_gold_ids=tuple(sorted((gold & known_ids) - ids)) if ids else (),
        contexts=BeforeAndNow.of(contexts, fmean) if contexts else None,
        top_k=fmean(wanted) if (wanted := [record.top_k for _, record in answered if record.top_k]) else None,
        latency_median=_latency(answered, 50),
        latency_p95=_latency(answered, 95),
        refusals=BeforeAndNow.of(abstained, sum) if (abstained := values.get(ABSTAINED)) else None,
        unasserted={metric: BeforeAndNow.of(both, fmean) for metric, both in values.items() if metric not in asserted},
        no_longer_scored=lost,
        judge_models=models,
        former_judge_models=former,
    )


def _replaced_models(changes: Sequence[Change]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The models of the saved runs and of this one, behind the same judge; both empty if they share a model."""
    former: set[str] = set()
    models: set[str] = set()
    for change in changes:
        judgement = change.now.judgement
        if judgement is None or judgement.cached or not judgement.served_by:
            continue
        looks = [look for look in change.before.answers if look.judge == change.now.judge]
        before = {look.judgement.served_by for look in looks if look.judgement is not None} - {""}
        if before:
            former |= before
            models.add(judgement.served_by)
    return ((), ()) if former & models else (tuple(sorted(former)), tuple(sorted(models)))


def _latency(pairs: Sequence[tuple[SavedAnswer, Record]], percent: float) -> BeforeAndNow | None:
    before = [saved.latency_seconds for saved, _ in pairs if saved.latency_seconds is not None]
    now = [record.latency_seconds for _, record in pairs if record.latency_seconds is not None]
    if not before or not now:
        return None
    return BeforeAndNow(before=percentile(before, percent), now=percentile(now, percent))


def _values(pairs: Sequence[tuple[SavedAnswer, Record]]) -> dict[str, list[tuple[float, float]]]:
    """Return by metric the values before and now of the answers that both runs measured."""
    values: dict[str, list[tuple[float, float]]] = {}
    for saved, record in pairs:
        for metric, score in record.scores.items():
            if metric in saved.scores and score.value is not None:
                values.setdefault(metric, []).append((saved.scores[metric], score.value))
    return values
