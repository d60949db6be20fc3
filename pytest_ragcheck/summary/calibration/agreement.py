from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.judging.judgement import JudgeIdentity


@frozen
class Agreement:
    path: Path
    score: str

    judge: JudgeIdentity
    n: int
    """The number of answers, >= 1."""

    accuracy: float
    """Share of right verdicts at `threshold`, 0..1."""

    balanced_accuracy: float | None
    """Mean over the good and the bad answers, 0..1; None with one kind only."""

    threshold: float
    """0..1."""


def read_agreements(paths: Iterable[Path]) -> tuple[Agreement, ...]:
    """
    The agreements in the files.

    Raises:
        UsageError: A file is not from `ragcheck calibrate --output`, or two have the same score and judge.
    """
    found: list[Agreement] = []
    for agreement in chain.from_iterable(map(_read, paths)):
        for other in found:
            if (other.score, other.judge) == (agreement.score, agreement.judge):
                raise UsageError(
                    f"rag_calibration: {other.path} and {agreement.path} are both of {agreement.score} by the same "
                    "judge. Name one of them."
                )
        found.append(agreement)
    return tuple(found)


def agreements_of(agreements: Iterable[Agreement], judges: Sequence[JudgeIdentity]) -> dict[str, Agreement]:
    """The agreement of the run's judge by score; empty for a run with several judges."""
    return {each.score: each for each in agreements if [each.judge] == list(judges)}


def _read(path: Path) -> list[Agreement]:
    try:
        document: Any = json.loads(path.read_bytes())
        return [agreement_of(path, each) for each in document.get("judges", [document])]
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        problem = "is not what ragcheck calibrate writes"
    raise UsageError(
        f"rag_calibration: {path} {problem}. Make it with: ragcheck calibrate LABELLED.jsonl --output {path}"
    )


def agreement_of(path: Path, document: Any) -> Agreement:
    balanced = document.get("balanced_accuracy")
    return Agreement(
        path=path,
        score=str(document["score"]),
        judge=JudgeIdentity(**document["judge"]),
        n=int(document["n"]),
        accuracy=float(document["accuracy"]),
        balanced_accuracy=None if balanced is None else float(balanced),
        threshold=float(document["threshold"]),
    )
