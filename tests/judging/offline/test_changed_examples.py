"""The offline judge sees one changed detail as often as it did when its rules were written."""

from __future__ import annotations

import pytest

from tests.benchmarks.changed_details import SEEN_BY_RULES, judged


@pytest.mark.parametrize(("name", "least_right", "least_area"), [("read", 0.88, 0.88), ("sealed", 0.81, 0.89)])
def test_changed_details_are_seen_as_often_as_before(name: str, least_right: float, least_area: float) -> None:
    found = judged(name)
    right, of = found.right
    assert right / of >= least_right
    assert found.area_under_curve(SEEN_BY_RULES) >= least_area
