"""Describes the samples that are taken from datasets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The sample that a run takes from each dataset."""

    size: int
    """Number of questions at most, >= 1."""

    seed: int = 0
    """Selects the questions, >= 0."""

    def __str__(self) -> str:
        return f"{self.size}@{self.seed}" if self.seed else str(self.size)
