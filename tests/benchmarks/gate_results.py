"""The results of the simulation of the gate: a JSON line for each cell, as the command made them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass
from pathlib import Path

from pytest_ragcheck.summary.metric_statistics import wilson

RESULTS = Path(__file__).with_name("gate_results.jsonl")

Key = tuple[str, str, int, int]
"""Part, model, number of questions, number of saved runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many of the runs of one cell were red, by the gate and by the tests beside it."""

    runs: int = 0
    red: int = 0
    t_red: int = 0
    mcnemar_red: int = 0
    told_red: int = 0
    asks: int = 0
    judgements: int = 0
    """Further asks and judgements of all runs together."""

    warned: int = 0
    """Runs with a warning of documents that share noise; counted outside of the promise only."""

    def __add__(self, other: Tally) -> Tally:
        """Both together."""
        return Tally(**{name: value + getattr(other, name) for name, value in asdict(self).items()})

    def __str__(self) -> str:
        """The rate with its interval, then the requests of the gate."""
        return (
            f"{self.red}/{self.runs} ({self.ends[0]:.4f} to {self.ends[1]:.4f}) | t {self.share(self.t_red)} | "
            f"McNemar {self.share(self.mcnemar_red)} | {self.asks / self.runs:.1f} asks | "
            f"{self.judgements / self.runs:.0f} judgements"
        )

    def share(self, count: int) -> str:
        """A count as a share of the runs."""
        return f"{count / self.runs:.3f}"

    @property
    def ends(self) -> tuple[float, float]:
        """The 95 % interval of Wilson of the rate of red runs; 0 to 1 without a run."""
        return wilson(self.red / self.runs, self.runs) if self.runs else (0.0, 1.0)


Results = Mapping[Key, Tally]


def read_results(path: Path) -> dict[Key, Tally]:
    """The results by cell; none if there is no file."""
    found: dict[Key, Tally] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        (part, model, size, known), counts = json.loads(line)
        found[part, model, size, known] = Tally(**dict(zip(Tally.__slots__, counts, strict=False)))
    return found


def write_results(path: Path, results: Results) -> None:
    """Replaces the file at once, so that an interrupted command leaves the last state."""
    lines = (json.dumps([key, astuple(tally)]) for key, tally in results.items())
    written = path.with_suffix(".new")
    written.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    written.replace(path)
