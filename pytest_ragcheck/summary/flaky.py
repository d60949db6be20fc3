from __future__ import annotations

from collections.abc import Callable, Iterable

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.summary.gate.baseline_reader import Baseline, passes_and_fails
from pytest_ragcheck.verdict.record import Record
from pytest_ragcheck.verdict.verdict import Verdict


@frozen
class Flaky:
    dataset_name: str
    question_id: str
    passes: int
    fails: int


def flaky_in_history(baseline: Baseline) -> tuple[Flaky, ...]:
    """The questions that both passed and failed in the baseline, those nearest to half and half first."""
    return _sorted(
        Flaky(dataset_name=row.dataset_name, question_id=row.id, passes=row.passes, fails=row.fails)
        for row in baseline.rows.values()
        if row.passes and row.fails
    )


def flaky_in_run(
    records: Iterable[Record], baseline: Baseline | None, *, clean: Callable[[str], str]
) -> tuple[Flaky, ...]:
    """
    The questions of a run that both passed and failed, in its baseline or in the run itself.

    A question that always passed before and always fails now has changed and is not flaky. Questions in quarantine are
    left out, and so are broken prohibitions, which no passing answer excuses. *clean* removes secrets from a text, as
    from the texts of the baseline.
    """
    found = []
    for record in records:
        question = record.question
        earlier = (0, 0)
        if baseline is not None:
            before = baseline.row(question, clean)
            if before is not None and before.question == clean(question.question):
                earlier = (before.passes, before.fails)
        if not (record.repeated or record.asked_again or all(earlier)):
            continue  # a single verdict, as most records have
        passes, fails = passes_and_fails(record.verdict, record.repeated, record.thresholds)
        passes += record.asked_again.count(Verdict.PASS.value)
        fails += record.asked_again.count(Verdict.FAIL.value)
        if question.quarantine is None and not record.leaks and (all(earlier) or (passes and fails)):
            passes, fails = passes + earlier[0], fails + earlier[1]
            found.append(Flaky(dataset_name=question.dataset_name, question_id=question.id, passes=passes, fails=fails))
    return _sorted(found)


def _sorted(found: Iterable[Flaky]) -> tuple[Flaky, ...]:
    return tuple(sorted(found, key=lambda each: abs(each.passes - each.fails) / (each.passes + each.fails)))
