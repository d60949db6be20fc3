"""Holds one question for the gate: its saved runs and its answer of today, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Key = tuple[str, str]
"""Dataset name and id of a question."""

Scores = Mapping[str, float]
"""Values by metric."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One answer of the system to one question, with its scores."""

    answer: str | None
    """
    Digest of the answer and of its contexts. Equal digests mean the same answer, whose recorded scores stand.
    None if the saved run kept no text: the look can then be neither recognized nor judged again.
    """

    scores: Scores
    """The measured scores, under today's labels."""

    passed: bool
    """The verdict, under today's thresholds."""

    fresh: bool = False
    """True if today's judge gave the scores in this run; False if a recording or the verdict cache did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRun:
    """The looks of one saved run at one question."""

    looks: tuple[Look, ...]
    """The answer of the run first, then those of asking again when the run was saved; at least one."""

    @property
    def passed(self) -> bool:
        """True if the answer of the run passed; a later look does not count."""
        return self.looks[0].passed

    @property
    def failed(self) -> bool:
        """True if no look passed. A run that failed at first and passed later has neither passed nor failed."""
        return not any(look.passed for look in self.looks)

    @property
    def is_flaky(self) -> bool:
        """True if some looks passed and some failed."""
        return len({look.passed for look in self.looks}) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedQuestion:
    """
    A question with a PASS or a FAIL today and in at least one saved run, asked alike in all of them.

    Leave out a question in quarantine, an ERROR of today, and the saved runs that asked otherwise or had an ERROR.
    """

    key: Key
    thresholds: Scores
    """Minimum of each asserted metric."""

    known: tuple[KnownRun, ...]
    """The saved runs, oldest first; at least one."""

    now: Look
    """
    The first look of today. If the answer is a recorded one and the judge is the same, `recorded` gives its scores.
    """

    documents: frozenset[str] = frozenset()
    """The documents that the question file names as gold; questions that share one may be one unit."""

    context_documents: frozenset[str] = frozenset()
    """The documents of the contexts that came with the answer."""

    @property
    def passed_before(self) -> bool:
        """True if the latest saved run passed."""
        return self.known[-1].passed

    @property
    def is_candidate(self) -> bool:
        """True if the latest saved run passed and the answer of today fails."""
        return self.passed_before and not self.now.passed

    @property
    def looks_by_run(self) -> tuple[Look, ...]:
        """The first look of each run, oldest first, that of today last."""
        return (*(run.looks[0] for run in self.known), self.now)

    @property
    def changed(self) -> bool:
        """True if not all runs gave one recognizable answer."""
        answer = self.now.answer
        return answer is None or any(run.looks[0].answer != answer for run in self.known)

    def recorded(self, answer: str | None) -> Look | None:
        """The first saved look with the answer; None if no saved run gave it."""
        looks = (look for run in self.known for look in run.looks)
        return None if answer is None else next((look for look in looks if look.answer == answer), None)

    def margin(self, scores: Scores) -> float:
        """How far the worst asserted metric is above its minimum; below 0 if the scores fail."""
        margins = [scores[metric] - minimum for metric, minimum in self.thresholds.items() if metric in scores]
        return min(margins, default=0.0)
