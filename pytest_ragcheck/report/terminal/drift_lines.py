"""Renders how contexts, ids, latency, refusals and metrics differ from the latest saved run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from statistics import fmean

from pytest_ragcheck.scores import ABSTAINED
from pytest_ragcheck.short_texts import counted, some
from pytest_ragcheck.summary.gate.comparability import LostScores
from pytest_ragcheck.summary.gate.gate_replies import Change
from pytest_ragcheck.summary.gate.saved_answer import SavedAnswer, context_digest
from pytest_ragcheck.summary.metric_statistics import percentile
from pytest_ragcheck.summary.predictions_reader import Key
from pytest_ragcheck.verdict.record import Record

Pairs = Sequence[tuple[SavedAnswer, Record]]

_SHOWN = 5
_FEWER_CONTEXTS = 0.95
_SLOWER = 1.25
"""Ratios beyond which a difference is shown."""

_MOVED = 0.05
"""Minimum difference of the mean of an unasserted metric."""

_MORE_REFUSALS, _LEAST = 0.05, 2
"""Minimum difference of refusals, as a share of the questions and as a number."""

_RENAMED_IDS, _KNOWN_TEXTS = 0.1, 0.5
"""Document ids count as renamed if at most the first share of the ids and at least the second of the texts is known."""


def lost_score_lines(lost: Iterable[LostScores], name: Callable[[Key], str]) -> Iterator[str]:
    for each in lost:
        questions = f"{len(each.lost)} of {counted(each.n, 'question')} ({some(map(name, each.lost), _SHOWN)})"
        gained = f"; {each.n_gained} gained one" if each.n_gained else ""
        yield f"{each.metric} had a score in the baseline and has none now: {questions}{gained}"


def drift_lines(changes: Sequence[Change]) -> Iterator[str]:
    pairs = [(change.before.saved[-1][0], change.now) for change in changes if change.before.saved]
    answered = [(saved, record) for saved, record in pairs if saved.text is not None]
    yield from _judge_models(changes)
    yield from _documents(changes)
    if answered:
        yield from _contexts(answered)
        yield from _latency(answered)
    yield from _scores(pairs)


def _judge_models(changes: Sequence[Change]) -> Iterator[str]:
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
    if models and not former & models:
        yield (
            f"the judge's server has another model behind the same name: {', '.join(sorted(models)[:_SHOWN])}, "
            f"in the baseline {', '.join(sorted(former)[:_SHOWN])}"
        )


def _documents(changes: Sequence[Change]) -> Iterator[str]:
    looks = [look for change in changes for look in change.before.answers]
    known_ids = {source_id for look in looks for source_id in look.source_ids or ()}
    ids = {source_id for change in changes for source_id in change.now.source_ids or ()}
    if not (ids and known_ids):
        return
    known_texts = {digest for look in looks for digest in look.context_digests}
    texts = [context_digest(text) in known_texts for change in changes for text in change.now.contexts]
    known = fmean(texts) if texts else 0.0
    gold = {passage.doc_id for change in changes for passage in change.now.question.gold_passages if passage.doc_id}
    if len(ids & known_ids) <= _RENAMED_IDS * len(ids) and known >= _KNOWN_TEXTS:
        yield (
            f"the system's document ids have changed: {len(ids & known_ids)} of {len(ids)} occur in the baseline, "
            f"{100 * known:.0f} % of the texts do; "
            + ("metrics by id cannot be compared" if gold & known_ids else "recorded retrieval scores stand")
        )
        return
    if lost := sorted((gold & known_ids) - ids):
        named = some(lost, _SHOWN, joint=" and ")
        yield f"gold documents that the baseline's contexts had and no reply has: {named}"
    passages = (passage for change in changes if change.edited for passage in change.now.question.gold_passages)
    new = {passage.doc_id or "" for passage in passages if not passage.text}
    if unknown := new - known_ids - ids:
        yield (
            f"edited gold ids that neither the baseline nor a reply has: {some(sorted(unknown), _SHOWN)}; "
            "the recorded answers fail under them, so the gate cannot see whether their retrieval collapsed"
        )


def _contexts(answered: Pairs) -> Iterator[str]:
    before = fmean(len(saved.context_digests) for saved, _ in answered)
    now = fmean(len(record.contexts) for _, record in answered)
    if now < _FEWER_CONTEXTS * before:
        top_k = [record.top_k for _, record in answered if record.top_k]
        asked = f" of {fmean(top_k):g} asked for" if top_k else ""
        yield f"fewer contexts: {now:.1f} a question{asked}, {before:.1f} in the baseline"


def _latency(answered: Pairs) -> Iterator[str]:
    before = [saved.latency_seconds for saved, _ in answered if saved.latency_seconds is not None]
    now = [record.latency_seconds for _, record in answered if record.latency_seconds is not None]
    if not before or not now:
        return
    (median, late), (median_before, late_before) = [[percentile(each, p) for p in (50, 95)] for each in (now, before)]
    if _differs(median, median_before) or _differs(late, late_before):
        yield (
            f"latency: median {median:.2f} s, p95 {late:.2f} s "
            f"(in the baseline {median_before:.2f} s and {late_before:.2f} s)"
        )


def _differs(*seconds: float) -> bool:
    low, high = sorted(seconds)
    return high > _SLOWER * low and high - low > 0.05


def _scores(pairs: Pairs) -> Iterator[str]:
    asserted = {ABSTAINED, *(metric for _, record in pairs for metric in (*record.thresholds, *record.dropped))}
    values: dict[str, list[tuple[float, float]]] = {}
    for saved, record in pairs:
        for metric, score in record.scores.items():
            if metric in saved.scores and score.value is not None:
                values.setdefault(metric, []).append((saved.scores[metric], score.value))
    before, now = map(sum, zip(*values.get(ABSTAINED, [(0.0, 0.0)]), strict=True))
    if abs(now - before) >= max(_LEAST, _MORE_REFUSALS * len(pairs)):
        yield f"answers that abstain: {now:.0f} of {len(pairs)}, {before:.0f} in the baseline"
    moved = []
    for metric, both in values.items():
        old, new = map(fmean, zip(*both, strict=True))
        if metric not in asserted and round(abs(new - old), 6) >= _MOVED:
            moved.append((-abs(new - old), f"{metric} {old:.2f} -> {new:.2f}"))
    if moved:
        largest = sorted(moved, key=itemgetter(0))[:_SHOWN]
        yield f"not asserted, so the gate ignores them: {', '.join(text for _, text in largest)}"
