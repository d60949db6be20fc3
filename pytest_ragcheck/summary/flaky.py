"""Questions whose outcome flips without a change, by their history and by what one run saw of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_ragcheck.summary.gate.observations import looks
from pytest_ragcheck.verdict.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pytest_ragcheck.summary.gate.baseline_reader import Baseline
    from pytest_ragcheck.verdict.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaky:
    """One such question; its identity is `dataset_name` and `question_id`."""

    dataset_name: str
    question_id: str
    passes: int
    """How often it passed, of all times that are known, >= 1."""

    fails: int
    """How often it failed, >= 1."""


def flaky_in_history(baseline: Baseline) -> tuple[Flaky, ...]:
    """The questions that the baseline knows to have passed and failed, those nearest to half and half first."""
    return _sorted(
        Flaky(dataset_name=row.dataset_name, question_id=row.id, passes=row.passes, fails=row.fails)
        for row in baseline.rows.values()
        if row.passes and row.fails
    )


def flaky_in_run(
    records: Iterable[Record], baseline: Baseline | None, *, clean: Callable[[str], str]
) -> tuple[Flaky, ...]:
    """
    The questions of a run that its baseline knows to have passed and failed, or that did so in the run itself.

    A question that always passed before and always fails now is none: that is a change. Nor is one in quarantine,
    which somebody knows of.

    Args:
        records: Of the run; where it asked again, each time is a look.
        baseline: With a history; None where the run is compared with nothing.
        clean: Takes secrets out of a text, as was done with the texts of the baseline.
    """
    found = []
    for record in records:
        question = record.question
        key = clean(question.dataset_name), clean(question.id)
        before = baseline.rows.get(key) if baseline is not None else None
        if before is not None and before.question != clean(question.question):
            before = None
        earlier = (before.passes, before.fails) if before is not None else (0, 0)
        now = looks(record.verdict, record.repeated, record.thresholds)
        now = (
            now[0] + record.asked_again.count(Verdict.PASS.value),
            now[1] + record.asked_again.count(Verdict.FAIL.value),
        )
        if question.quarantine is None and (all(earlier) or all(now)):
            found.append(
                Flaky(
                    dataset_name=question.dataset_name,
                    question_id=question.id,
                    passes=earlier[0] + now[0],
                    fails=earlier[1] + now[1],
                )
            )
    return _sorted(found)


def _sorted(found: Iterable[Flaky]) -> tuple[Flaky, ...]:
    return tuple(sorted(found, key=lambda each: abs(each.passes - each.fails) / (each.passes + each.fails)))
