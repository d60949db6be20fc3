"""Counts the questions that lost the score of an asserted metric, and do not fail."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_ragcheck.scores.catalogue import ABSTAINED, DEMANDED, group_of
from pytest_ragcheck.summary.gate.procedure.count_test import floor_value

if TYPE_CHECKING:
    from pytest_ragcheck.summary.gate.baseline_comparison import Change
    from pytest_ragcheck.summary.predictions_reader import Key


@dataclass(slots=True)
class LostScores:
    """The questions with a score of a metric in the latest saved run, today, or both."""

    metric: str
    lost: list[Key] = field(default_factory=list)
    n_gained: int = 0
    n: int = 0

    @property
    def red(self) -> bool:
        return needs_more_than_labels(self.metric) and len(self.lost) >= floor_value(self.n_gained, self.n)


def needs_more_than_labels(metric: str) -> bool:
    """True if the metric may not apply to an answer, as without citation markers."""
    return group_of(metric) in {None, "citations"} and metric not in DEMANDED


def lost_scores(changes: Iterable[Change]) -> list[LostScores]:
    found: dict[str, LostScores] = {}
    for change in changes:
        now, saved = change.now, change.before.saved
        # A refusal of an unanswerable question is right, and cites nothing.
        if not (saved and now.question.answerable):
            continue
        for metric in {ABSTAINED, *now.thresholds, *now.dropped}:
            scores = found.setdefault(metric, LostScores(metric))
            had, has = metric in saved[-1][0].scores, metric in now.scores
            scores.n += had or has
            scores.n_gained += has > had
            if had > has:
                scores.lost.append(now.question.key)
    return [found[metric] for metric in sorted(found) if found[metric].lost]
