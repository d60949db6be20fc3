from __future__ import annotations

import pytest

from pytest_ragcheck.summary.metric_statistics import wilson


def test_the_interval_of_a_rate() -> None:
    # Wilson (1927): centre (0.7 + z^2 / 20) / (1 + z^2 / 10) = 0.6445, half width 0.2477 for z = 1.96
    assert wilson(0.7, 10) == pytest.approx((0.3968, 0.8922), abs=0.0001)
    assert wilson(0, 5)[0] == 0.0
    assert wilson(1.0, 5)[1] == 1.0
