"""Compares the predictions files of several agents, question by question."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen, replace
from pytest_ragcheck.summary.gate.baseline_reader import Baseline, BaselineRow
from pytest_ragcheck.summary.gate.procedure.compared_question import ComparedQuestion, KnownRun, Look
from pytest_ragcheck.summary.gate.procedure.count_test import binomial_p, critical_value
from pytest_ragcheck.summary.gate.procedure.gate_session import COUNT_SHARE, units_of
from pytest_ragcheck.summary.gate.procedure.mean_test import lower_sum_p, sums_by_unit
from pytest_ragcheck.summary.metric_statistics import mean_interval, rate_difference_interval
from pytest_ragcheck.summary.predictions_reader import Key
from pytest_ragcheck.summary.trend import changes_of
from pytest_ragcheck.verdict.verdict import Verdict

_ERROR_RATE = 0.01
"""The default of `rag_false_alarms`; chance marks twice as many differences, because they have two directions."""


@frozen
class Difference:
    value: float
    low: float
    """Lower end of the 95 % interval; equal to `value` for a single question."""

    high: float
    n: int
    """The number of questions that both have, >= 1."""

    p: float
    """Chance of a difference at least as high in its direction between equal systems, by the gate's test, 0..1."""

    significant: bool
    """True if the gate's test finds the difference significant in its direction."""


@frozen
class Agent:
    name: str
    counts: Mapping[Verdict, int]
    means: Mapping[str, float]
    """Over the agent's own questions, as in its summary."""

    changes: tuple[str, ...]
    """The other settings than the first agent's, such as `top_k: 3 -> 5`."""

    n_only: int
    """Number of its questions that some other agent lacks."""

    differences: Mapping[str, Difference]
    """By metric, the difference from the first agent over the questions that both have; empty for the first."""

    pass_rate: Difference | None
    """The same for the share of PASS; None for the first agent."""

    gained: tuple[Key, ...]
    """PASS here, FAIL for the first agent."""

    lost: tuple[Key, ...]
    """FAIL here, PASS for the first agent."""


@frozen
class QuestionOfAll:
    """One question with the result of each agent, in the agents' order; None if it was not asked."""

    key: Key
    question: str
    rows: tuple[BaselineRow | None, ...]

    @property
    def differs(self) -> bool:
        return len({row.verdict for row in self.rows if row is not None}) > 1


@frozen
class Agents:
    agents: tuple[Agent, ...]
    metrics: tuple[str, ...]
    """The metrics that any agent has, in the order of the files."""

    questions: tuple[QuestionOfAll, ...]
    n_common: int

    reworded: tuple[Key, ...]
    """Questions whose text differs between the files; they are compared nevertheless."""

    relabelled: tuple[Key, ...]
    """Likewise for their labels, as far as the files name these."""


_Values = list[tuple[Key, list[float]]]
"""The value of the agent at each question, then that of the first agent."""

Documents = Mapping[Key, frozenset[str]]
"""The gold documents of questions, as far as they are known."""


def compare_agents(results: Sequence[tuple[str, Baseline]], documents: Documents) -> Agents:
    """
    The comparison of two or more agents, each given with its name; the others are compared with the first.

    As in the gate, questions that share one of the *documents* may form one unit.

    Raises:
        UsageError: Two agents have no question in common.
    """
    first_name, first = results[0]
    for name, other in results[1:]:
        if not first.rows.keys() & other.rows.keys():
            raise UsageError(
                f"{first_name} ({first.name}) and {name} ({other.name}) have no question in common, by dataset name "
                f"and id. Compare results over the same question files."
            )
    common = set(first.rows).intersection(*(other.rows for _, other in results))
    keys = dict.fromkeys(key for _, baseline in results for key in baseline.rows)
    rows_of = {key: tuple(baseline.rows.get(key) for _, baseline in results) for key in keys}
    questions = tuple(
        QuestionOfAll(key=key, question=next(row.question for row in rows if row is not None), rows=rows)
        for key, rows in rows_of.items()
    )
    return Agents(
        agents=tuple(_agent(name, baseline, first, common, documents) for name, baseline in results),
        metrics=tuple(dict.fromkeys(m for _, b in results for row in b.rows.values() for m in row.metrics)),
        questions=questions,
        n_common=len(common),
        reworded=tuple(q.key for q in questions if len({row.question for row in q.rows if row is not None}) > 1),
        relabelled=tuple(q.key for q in questions if len(_labels(q)) > 1),
    )


def _labels(question: QuestionOfAll) -> set[frozenset[tuple[str, str]]]:
    saved = (row.saved[0][0] for row in question.rows if row is not None and row.saved)
    return {frozenset(look.labels.items()) for look in saved if look.labels is not None}


def _agent(name: str, own: Baseline, first: Baseline, common: set[Key], documents: Documents) -> Agent:
    counts = Counter(row.verdict for row in own.rows.values())
    both = [] if own is first else [(first.rows[key], row) for key, row in own.rows.items() if key in first.rows]
    measured = [(a, b) for a, b in both if Verdict.ERROR not in (a.verdict, b.verdict)]
    differing = [b for a, b in measured if a.verdict is not b.verdict]
    gained, lost = (tuple(b.key for b in differing if b.verdict is each) for each in (Verdict.PASS, Verdict.FAIL))
    compared = [
        ComparedQuestion(
            key=after.key,
            thresholds={},
            known=(KnownRun(looks=(_look(before),)),),
            now=_look(after),
            documents=documents.get(after.key, frozenset()),
        )
        for before, after in measured
    ]
    failing = max(gained, lost, key=len)
    unit_of = units_of(compared, failing)[1]
    values: dict[str, _Values] = {}
    for a, b in measured:
        for metric in a.metrics.keys() & b.metrics.keys():
            values.setdefault(metric, []).append((b.key, [b.metrics[metric], a.metrics[metric]]))
    passes = [(q.key, [float(q.now.passed), float(q.passed_before)]) for q in compared]
    return Agent(
        name=name,
        counts={verdict: counts[verdict] for verdict in Verdict},
        means=own.means,
        changes=tuple(changes_of([("", first.rows), ("", own.rows)]))[1],
        n_only=len(own.rows.keys() - common),
        differences={metric: _mean_difference(each, unit_of) for metric, each in sorted(values.items())},
        pass_rate=_rate_difference(passes, unit_of) if passes else None,
        gained=gained,
        lost=lost,
    )


def _look(row: BaselineRow) -> Look:
    saved = row.saved[0][0]
    answer = None if saved.text is None else f"{saved.text}{saved.context_digests}"
    return Look(answer=answer, scores=row.metrics, passed=row.verdict is Verdict.PASS)


def _mean_difference(values: _Values, unit_of: Mapping[Key, int]) -> Difference:
    # The difference of the means, with the gate's test of means in the direction of the difference.
    n, units = len(values), sums_by_unit(values, unit_of)
    differences = [after - before for after, before in units]
    value = math.fsum(differences) / n
    low, high = mean_interval([each * len(units) / n for each in differences])
    p = lower_sum_p(units if value <= 0 else [unit[::-1] for unit in units])
    return Difference(value=value, low=low, high=high, n=n, p=p, significant=p <= _ERROR_RATE * (1 - COUNT_SHARE))


def _rate_difference(passes: _Values, unit_of: Mapping[Key, int]) -> Difference:
    # The difference of the shares of PASS, with the gate's count test for one saved run in its direction.
    n, units = len(passes), sums_by_unit(passes, unit_of)
    gained, lost = sum(after > before for after, before in units), sum(after < before for after, before in units)
    fewer, more = sorted((gained, lost))
    significant = more > fewer and more >= critical_value(1, fewer, _ERROR_RATE * COUNT_SHARE)
    found = replace(_mean_difference(passes, unit_of), p=binomial_p(more, fewer, 1), significant=significant)
    if len(units) < n:
        return found
    low, high = rate_difference_interval(gained, lost, n)
    return replace(found, low=low, high=high)
