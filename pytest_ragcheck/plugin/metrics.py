"""The metrics of a run: those that its settings name, and the users' own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.metrics.choice import choose_metrics
from pytest_ragcheck.metrics.own import distinct, read_own
from pytest_ragcheck.plugin.keys import OWN_METRICS
from pytest_ragcheck.plugin.private_loop import loop_of

if TYPE_CHECKING:
    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.metrics.metric import Metric
    from pytest_ragcheck.metrics.own import OwnMetric
    from pytest_ragcheck.settings import Settings


def own_metrics(config: pytest.Config) -> tuple[OwnMetric, ...]:
    """
    What those implementations of `pytest_ragcheck_metrics` give that pytest knows so far; each is called once.

    Raises:
        pytest.UsageError: One of them gives what is no metric.
    """
    found = config.stash.setdefault(OWN_METRICS, {})
    try:
        for implementation in config.hook.pytest_ragcheck_metrics.get_hookimpls():
            if implementation.plugin not in found:
                found[implementation.plugin] = read_own(implementation.function())
        return distinct(metric for metrics in found.values() for metric in metrics)
    except UsageError as error:
        raise pytest.UsageError(f"ragcheck: {error}") from None


class Measures:
    """The metrics of each pair of settings and judge that questions are evaluated with; they end with the run."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        # With the pair itself, so that no other object can come to have its identity.
        self._made: dict[tuple[int, int], tuple[Settings, Judge | None, tuple[Metric, ...]]] = {}
        config.add_cleanup(self._close)

    def of(self, settings: Settings, judge: Judge | None) -> tuple[Metric, ...]:
        """The metrics; made when they are first asked for."""
        key = (id(settings), id(judge))
        if key not in self._made:
            own = own_metrics(self._config)
            self._made[key] = (settings, judge, choose_metrics(settings, judge, own))
        return self._made[key][2]

    def _close(self) -> None:
        metrics = {id(metric): metric for *_, of_pair in self._made.values() for metric in of_pair}
        for metric in metrics.values():
            close = getattr(metric, "aclose", None)
            if close is not None:
                loop_of(self._config).run(close)
