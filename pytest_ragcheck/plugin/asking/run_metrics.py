"""Makes the metrics of a run: those that its settings choose, and the users' own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_ragcheck.metrics.metric_choice import choose_metrics
from pytest_ragcheck.plugin.asking.session_loop import loop_of
from pytest_ragcheck.plugin.hooks import own_metrics

if TYPE_CHECKING:
    import pytest

    from pytest_ragcheck.config.settings import Settings
    from pytest_ragcheck.judging.judgement import Judge
    from pytest_ragcheck.metrics.metric import Metric


class Measures:
    """The metrics for each pair of settings and judge, closed at the end of the run."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        # Holds the pair too, so that no other object can get its id.
        self._made: dict[tuple[int, int], tuple[Settings, Judge | None, tuple[Metric, ...]]] = {}
        config.add_cleanup(self._close)

    def of(self, settings: Settings, judge: Judge | None) -> tuple[Metric, ...]:
        """Return the metrics for the pair, which are made at the first call."""
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
