"""Decides by counts and means whether a run is worse than its saved runs; see docs/explanation/statistics.md."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median_low

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.summary.gate.procedure.compared_question import (
    ComparedQuestion,
    Examined,
    JudgesAnew,
    Key,
    Outcome,
)
from pytest_ragcheck.summary.gate.procedure.count_test import CountFinding, critical_value, floor_value, mixed_p
from pytest_ragcheck.summary.gate.procedure.mean_test import MeanFinding, can_be_judged, can_be_red, weigh_means

FEWEST_QUESTIONS = 10
"""Smaller sets are decided as under `confirmed`, because no count of them can be significant."""

COUNT_SHARE = 0.6
"""Share of the false alarms for the count test. At a level of 0.005, six broken questions would not be red."""

_CHANGED_ELSEWHERE = 0.1
"""The largest share of changed answers outside of the failing documents with questions as units."""

_CORRELATED = 3.5
"""Standard deviations above which differences correlate within documents."""


@frozen
class GateFindings:
    gate: str
    """The procedure that decided: `confirmed` or `regression`; `confirmed` for a small set under `regression`."""

    examined: tuple[Examined, ...]

    count: CountFinding | None
    """None under `confirmed`."""

    mean: MeanFinding | None
    """None under `confirmed`, if too few answers changed to reach significance, or without judgements."""

    documents_share_noise: bool = False
    """True if the differences correlate within documents of the contexts that no question file names."""

    fails_by_day: tuple[Key, ...] = ()
    """Questions that failed all looks of one saved run and passed in another."""

    @property
    def candidates(self) -> tuple[Examined, ...]:
        return tuple(each for each in self.examined if each.outcome is not None)

    @property
    def confirmed(self) -> tuple[Key, ...]:
        return tuple(each.question.key for each in self.examined if each.confirmed)

    @property
    def not_measured(self) -> tuple[Key, ...]:
        """The candidates that could not be asked again or judged; each is an ERROR, not a regression."""
        return tuple(each.question.key for each in self.examined if each.outcome is Outcome.NOT_MEASURED)

    @property
    def red(self) -> bool:
        if self.gate == "confirmed":
            return bool(self.confirmed)
        counted = self.count is not None and (self.count.red or self.count.floor_red)
        return counted or (self.mean is not None and self.mean.red)


def by_document(questions: Sequence[ComparedQuestion]) -> dict[Key, int]:
    """The index of the unit by question; questions that share a document, even indirectly, form one unit."""
    parent = list(range(len(questions)))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = place = parent[parent[place]]
        return place

    first: dict[tuple[str, str], int] = {}
    for place, question in enumerate(questions):
        for document in question.documents:
            known = first.setdefault((question.key[0], document), place)
            parent[root(place)] = root(known)
    return {question.key: root(place) for place, question in enumerate(questions)}


def units_of(questions: Sequence[ComparedQuestion], broken: Iterable[Key]) -> tuple[str, dict[Key, int]]:
    """
    The kind of the units, `question` or `document`, and the unit of each question.

    A lost document changes only its own questions. If more than a tenth of the other answers changed too, the questions
    of a document may share noise, and it is the unit.
    """
    documents = by_document(questions)
    failing = {documents[key] for key in broken}
    elsewhere = [question for question in questions if documents[question.key] not in failing]
    changed = sum(question.changed for question in elsewhere)
    if len(set(documents.values())) < len(documents) and changed > _CHANGED_ELSEWHERE * len(elsewhere):
        return "document", documents
    return "question", {question.key: place for place, question in enumerate(questions)}


def are_correlated(differences: Iterable[tuple[float, Iterable[str]]]) -> bool:
    """
    True if the differences of questions that share a document correlate significantly.

    Each question has its difference to its saved runs, and the documents of its contexts.

    Source: the sum of the products of all pairs, with mean 0 and the variance of its terms under random signs.
    """
    found: dict[str, list[float]] = defaultdict(list)
    for difference, documents in differences:
        for document in documents:
            found[document].append(difference)
    products = variance = 0.0
    for values in found.values():
        squares = [value**2 for value in values]
        products += (sum(values) ** 2 - sum(squares)) / 2
        variance += (sum(squares) ** 2 - sum(square**2 for square in squares)) / 2
    return products > 0 and products**2 > _CORRELATED**2 * variance


def procedure_for(gate: str, n_questions: int) -> str:
    """The procedure that decides: `confirmed` instead of `regression` below 10 comparable questions."""
    return "confirmed" if n_questions < FEWEST_QUESTIONS else gate


def weigh(
    examined: Sequence[Examined],
    judge_anew: JudgesAnew,
    *,
    gate: str,
    false_alarms: float,
    tolerance: float,
    deterministic_judge: bool,
) -> GateFindings:
    """
    Decide on a run after all comparable questions were examined one by one.

    *gate* is that of `procedure_for`. *judge_anew* is for the means. *false_alarms* is the chance of a red run if
    nothing changed, and *tolerance* by how much a mean may drop, both 0..1.
    """
    questions = [each.question for each in examined]
    fails_by_day = tuple(
        question.key
        for question in questions
        if any(run.failed for run in question.known) and any(run.passed for run in question.known)
    )
    if gate == "confirmed":
        return GateFindings(gate=gate, examined=tuple(examined), count=None, mean=None, fails_by_day=fails_by_day)
    unit, unit_of = units_of(questions, [each.question.key for each in examined if each.confirmed])
    level = false_alarms * (1 - COUNT_SHARE)
    changed = can_be_judged(questions)
    means_can_be_red = can_be_red(changed, unit_of, level)
    mean = (
        weigh_means(
            questions,
            changed,
            unit_of,
            judge_anew,
            level=level,
            tolerance=tolerance,
            deterministic_judge=deterministic_judge,
        )
        if means_can_be_red
        else None
    )
    # A test that cannot become significant leaves its share of the false alarms to the other.
    count_level = false_alarms * COUNT_SHARE if means_can_be_red else false_alarms
    differences = mean.differences if mean is not None else {}
    declared = frozenset[str]().union(*(question.documents for question in questions))
    return GateFindings(
        gate=gate,
        examined=tuple(examined),
        count=_count(examined, unit, unit_of, count_level),
        mean=mean,
        documents_share_noise=unit == "question"
        and are_correlated(
            (differences[each.key], each.context_documents - declared) for each in questions if each.key in differences
        ),
        fails_by_day=fails_by_day,
    )


def _count(examined: Sequence[Examined], kind: str, unit_of: Mapping[Key, int], level: float) -> CountFinding:
    questions = [each.question for each in examined]
    balance: dict[int, int] = dict.fromkeys(unit_of.values(), 0)
    histories: dict[int, int] = {}
    can_break = set()
    for each in examined:
        unit, length = unit_of[each.question.key], len(each.question.known)
        always_passed = all(run.passed for run in each.question.known)
        change = int(each.confirmed and always_passed) - int(each.improved)
        balance[unit] += change
        if change:
            histories[unit] = min(length, histories.get(unit, length))
        if always_passed:
            can_break.add(unit)
    once = [histories[unit] for unit, value in balance.items() if value]
    broken = sum(value > 0 for value in balance.values())
    improved = len(once) - broken
    known_runs = min(once) if once else median_low(len(question.known) for question in questions)
    p, needed = mixed_p(broken, once), critical_value(known_runs, improved, level)
    if p <= level:
        needed = min(needed, broken)
    newly_broken = sum(each.confirmed and each.question.passed_before for each in examined)
    floor = floor_value(_newly_passing(examined), len(examined))
    return CountFinding(
        known_runs=known_runs,
        unit=kind,
        n_units=len(balance),
        broken=broken,
        improved=improved,
        needed=needed if needed <= len(can_break) else None,
        p=p,
        red=broken >= needed,
        floor=floor if floor <= sum(question.passed_before for question in questions) else None,
        floor_red=newly_broken >= floor,
    )


def _newly_passing(examined: Sequence[Examined]) -> int:
    # How many questions failed in their latest saved run and pass today, unless judged worse side by side.
    return sum(
        each.question.known[-1].failed and each.question.now.passed and (each.side_by_side is None or each.improved)
        for each in examined
    )
