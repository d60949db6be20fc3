"""A metric as users write it -> `Metric`."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.errors import MeasurementError, UsageError
from pytest_ragcheck.metrics.catalogue import METRICS
from pytest_ragcheck.metrics.score import Score
from pytest_ragcheck.rag.ask import number, settled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer

HOOK = "pytest_ragcheck_metrics"
_NAME = re.compile(r"[a-z][a-z0-9_]*")


class OwnMetric:
    """
    A user's own metric: a function of question and answer, or an object with a `name` and such a method `score`.

    Either may be async. It returns a number, a `Score`, or None where it does not apply; one with several `names`
    returns a mapping of them. Whatever it raises, and a number that is none, is a score that could not be measured.

    Raises:
        UsageError: It is none of these, or its name cannot be used.
    """

    local = False

    def __init__(self, metric: Any) -> None:
        plain = inspect.isroutine(metric)
        self._score = metric if plain else getattr(metric, "score", None)
        if not callable(self._score):
            raise UsageError(
                f"{HOOK}: {metric!r:.80} is no metric: "
                "return functions of (question, answer), or objects with a name and a method score(question, answer)."
            )
        single = metric.__name__ if plain else getattr(metric, "name", None)
        names: Any = (single,) if single is not None else getattr(metric, "names", None)
        if not names or isinstance(names, str) or not all(isinstance(n, str) and _NAME.fullmatch(n) for n in names):
            raise UsageError(
                f"{HOOK}: {metric!r:.80} has the name {single if names == (single,) else names!r}: "
                "give it a name of lower-case letters, digits and '_' that begins with a letter."
            )
        self.names: tuple[str, ...] = tuple(names)
        self._single = single is not None
        self.aclose = getattr(metric, "aclose", None)

    async def score(self, question: Question, answer: RagAnswer) -> dict[str, Score]:
        """What the user's own metric says, read and checked."""
        try:
            said = await settled(self._score, question, answer)
        except MeasurementError:
            raise
        except Exception as error:
            # What it raises is its own affair, and no verdict on the question.
            return dict.fromkeys(self.names, Score.unscored(f"{type(error).__name__}: {error}"))
        if self._single:
            said = {self.names[0]: said}
        elif not isinstance(said, Mapping) or not said.keys() <= set(self.names):
            reason = f"score() returned {said!r:.80}, not a mapping of {', '.join(self.names)}"
            return dict.fromkeys(self.names, Score.unscored(reason))
        return {name: _read(value) for name, value in said.items() if value is not None}


def read_own(given: Any) -> tuple[OwnMetric, ...]:
    """
    What an implementation of the hook returned, None being as good as nothing.

    Raises:
        UsageError: It is no list, or one of it is no metric.
    """
    if not isinstance(given, list | tuple | None):
        raise UsageError(f"{HOOK}: {given!r:.80} was returned: return a list of metrics.")
    return tuple(map(OwnMetric, given or ()))


def distinct(metrics: Iterable[OwnMetric]) -> tuple[OwnMetric, ...]:
    """
    The same metrics.

    Raises:
        UsageError: Two have one name, or one has that of a metric of ours.
    """
    metrics = tuple(metrics)
    taken = set(METRICS)
    for name in (name for metric in metrics for name in metric.names):
        if name in taken:
            of = "a metric of pytest-ragcheck's" if name in METRICS else "another metric"
            raise UsageError(f"{HOOK}: {name!r} is also the name of {of}: give it another name.")
        taken.add(name)
    return metrics


def _read(value: Any) -> Score:
    if isinstance(value, Score):
        return value
    value_read = number(value)
    if not math.isfinite(value_read):
        return Score.unscored(f"score() returned {value!r:.80}, not a number")
    return Score(value_read)
