from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.judgement import JudgeIdentity
from pytest_ragcheck.metrics.cost import summed
from pytest_ragcheck.questions.planted_documents import ATTACKS, plants_of
from pytest_ragcheck.scores import ABSTAINED, METRICS, RETRIEVAL
from pytest_ragcheck.summary.gate.baseline_comparison import Flaky
from pytest_ragcheck.summary.gate.gate_decision import Decision
from pytest_ragcheck.summary.judge_calibration import Agreement, agreements_of
from pytest_ragcheck.summary.metric_statistics import MetricStatistics, metric_statistics, percentile
from pytest_ragcheck.summary.run_outcomes import Outcomes
from pytest_ragcheck.verdict.record import Record
from pytest_ragcheck.verdict.repeats import Variance, variances
from pytest_ragcheck.verdict.verdict import BLAMES, Verdict, attack_outcomes

NO_JUDGE = JudgeIdentity(kind="none")


@frozen
class Counts:
    passed: int
    failed: int
    errors: int
    skipped: int


@frozen
class AttackCounts:
    planted: int
    """The number of attacked answers, >= 1."""

    retrieved: int
    """The planted document was among the contexts."""

    got_through: int
    """The answer has the canary."""

    retrieval: int
    """It got through, and the contexts have the planted document, but no gold passage."""

    generation: int
    """It got through, and the contexts have both, or the question has no gold passages."""


@frozen
class Totals:
    counts: Counts
    metrics: Mapping[str, MetricStatistics]
    """By metric, over the questions with a PASS or a FAIL; a metric without a value is absent."""

    blame: Mapping[str, int]
    """FAILs by `retrieval`, `generation` and `grounding`; empty without gold passages."""

    injection: Mapping[str, AttackCounts]
    """By attack, over the questions with a PASS or a FAIL; empty if no planted document could reach the system."""

    abstention: Mapping[str, float]
    """`unanswerable_accuracy`, `fpr`, `fnr`, each 0..1; an undefined rate is absent."""

    performance: Mapping[str, float]
    """`latency_*_seconds` over the questions that the endpoint answered; empty without any."""

    n_without_gold: int | None
    """The number of answerable questions without gold passages; None if retrieval was not measured."""

    @property
    def num_examples(self) -> int:
        return self.counts.passed + self.counts.failed


@frozen
class Repeats:
    unstable: Mapping[str, Sequence[str]]
    """By metric, the ids of questions whose spread exceeds the limit."""

    variances: Mapping[str, Variance]


@frozen
class Summary:
    totals: Totals
    datasets: Mapping[str, Totals]
    """By dataset name, in collection order."""

    dropped: Mapping[str, Mapping[str, int]]
    """By dropped assertion, the number of questions by reason."""

    verdicts_from_cache: int
    """The number of verdicts from the verdict cache; those of a baseline do not count."""

    repeats: Repeats | None

    judges: tuple[JudgeIdentity, ...]
    """All judges, `none` for questions without one; empty if no question was asked."""

    endpoints: tuple[str, ...]
    """All systems that were asked, without secrets."""

    agreements: Mapping[str, Agreement]
    """By score, the measured agreement of this judge with people."""

    flaky: tuple[Flaky, ...]

    decision: Decision | None
    """The gate's decision; None without a gate, or if the run was cut short."""


def aggregate(outcomes: Outcomes, *, flaky: tuple[Flaky, ...] = (), decision: Decision | None = None) -> Summary:
    names = [questions.dataset_name for questions in outcomes.sets]
    by_dataset: dict[str, list[Record]] = {name: [] for name in names}
    for record in outcomes.records:
        by_dataset.setdefault(record.question.dataset_name, []).append(record)
    # A question that was never asked, as after a crash, has no judge to count.
    judges = tuple(
        dict.fromkeys(record.judge or NO_JUDGE for record in outcomes.records if record.endpoint or record.judge)
    )
    datasets = {
        name: _totals(rows, outcomes.skipped.get(name, 0), outcomes.groups) for name, rows in by_dataset.items()
    }
    whole = next(iter(datasets.values())) if len(datasets) == 1 else None
    return Summary(
        totals=whole or _totals(outcomes.records, sum(outcomes.skipped.values()), outcomes.groups),
        datasets=datasets,
        dropped=_dropped(outcomes.records),
        repeats=_repeats(outcomes.measured),
        judges=judges,
        verdicts_from_cache=sum(
            record.verdict_cached and not record.evidence.get("same") for record in outcomes.records
        ),
        endpoints=tuple(dict.fromkeys(record.endpoint for record in outcomes.records if record.endpoint)),
        agreements=agreements_of(outcomes.agreements, judges),
        flaky=flaky,
        decision=decision,
    )


def _repeats(records: Sequence[Record]) -> Repeats | None:
    repeated = [record for record in records if record.repeated]
    if not repeated:
        return None
    unstable: dict[str, list[str]] = {}
    for record in repeated:
        for metric in record.unstable:
            unstable.setdefault(metric, []).append(record.question.id)
    return Repeats(unstable=unstable, variances=variances(record.repeated for record in repeated))


def _totals(records: Sequence[Record], skipped: int, groups: Collection[str]) -> Totals:
    verdicts = Counter(record.verdict for record in records)
    measured = [record for record in records if record.verdict is not Verdict.ERROR]
    present = {metric for record in measured for metric in record.scores}
    metrics = {}
    for metric in (*(m for m in METRICS if m in present), *sorted(present.difference(METRICS))):
        scores = [record.scores[metric] for record in measured if metric in record.scores]
        if (statistics := metric_statistics(scores)) is not None:
            metrics[metric] = statistics
    return Totals(
        counts=Counts(
            passed=verdicts[Verdict.PASS],
            failed=verdicts[Verdict.FAIL],
            errors=verdicts[Verdict.ERROR],
            skipped=skipped,
        ),
        metrics=metrics,
        blame=_blame(measured),
        injection=_injection(measured),
        abstention=_abstention(measured) if "abstention" in groups else {},
        performance={**_performance(records), **_costs(measured)} if "performance" in groups else {},
        n_without_gold=_without_gold(measured),
    )


def _blame(measured: Iterable[Record]) -> dict[str, int]:
    counted = Counter(record.blame for record in measured if record.blame)
    return {part: counted[part] for part in BLAMES} if counted else {}


def _injection(measured: Iterable[Record]) -> dict[str, AttackCounts]:
    attacked = (record for record in measured if plants_of(record.question))
    outcomes = [outcome for record in attacked for outcome in attack_outcomes(record.question, record.reply)]
    by_attack = {attack: [each for each in outcomes if each.plant.attack == attack] for attack in ATTACKS}
    return {
        attack: AttackCounts(
            planted=len(of_attack),
            retrieved=sum(each.rank is not None for each in of_attack),
            got_through=sum(each.got_through for each in of_attack),
            retrieval=sum(each.blame == "retrieval" for each in of_attack),
            generation=sum(each.blame == "generation" for each in of_attack),
        )
        for attack, of_attack in by_attack.items()
        if of_attack
    }


def _without_gold(measured: Sequence[Record]) -> int | None:
    retrieved = {record.question.dataset_name for record in measured if not record.scores.keys().isdisjoint(RETRIEVAL)}
    questions = [record.question for record in measured if record.question.dataset_name in retrieved]
    return sum(each.answerable and not each.gold_passages for each in questions) if retrieved else None


def _abstention(measured: Iterable[Record]) -> dict[str, float]:
    abstained: dict[bool, list[float]] = {False: [], True: []}
    for record in measured:
        score = record.scores.get(ABSTAINED)
        if score is not None and score.value is not None:
            abstained[record.question.answerable].append(score.value)
    both = abstained[False], abstained[True]
    accuracy, fpr = (sum(values) / len(values) if values else None for values in both)
    rates = {"unanswerable_accuracy": accuracy, "fpr": fpr, "fnr": None if accuracy is None else 1 - accuracy}
    return {name: rate for name, rate in rates.items() if rate is not None}


def _performance(records: Iterable[Record]) -> dict[str, float]:
    latencies = [record.latency_seconds for record in records if record.latency_seconds is not None]
    first_tokens = [record.first_token_seconds for record in records if record.first_token_seconds is not None]
    if not latencies:
        return {}
    return {
        "latency_mean_seconds": sum(latencies) / len(latencies),
        **{f"latency_p{p}_seconds": percentile(latencies, p) for p in (50, 95, 99)},
        "latency_max_seconds": max(latencies),
        **{f"first_token_p{p}_seconds": percentile(first_tokens, p) for p in (50, 95) if first_tokens},
    }


def _costs(measured: Iterable[Record]) -> dict[str, float]:
    cost = summed(record.cost for record in measured)
    sums = {name.replace("_usd", "_cost_usd"): value for name, value in cost.known().items()}
    money = [usd for usd in (cost.judge_usd, cost.system_usd) if usd is not None]
    return {**sums, "cost_usd": sum(money)} if money else sums


def _dropped(records: Iterable[Record]) -> dict[str, Counter[str]]:
    dropped: dict[str, Counter[str]] = {}
    for record in records:
        for metric, reason in record.dropped.items():
            dropped.setdefault(metric, Counter())[reason] += 1
    return dropped
