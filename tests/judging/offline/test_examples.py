"""The offline judge is right on the examples as often as it was when its rules were written."""

from __future__ import annotations

from tests.benchmarks.offline_examples import SEEN_BY_RULES, judged_sets, refusals

LEAST = {
    ("changed_details", "read"): (0.89, 0.90),
    ("changed_details", "sealed"): (0.85, 0.91),
    ("changed_details", "sealed 2"): (0.76, 0.73),
    ("changed_details", "sealed 3"): (0.78, 0.77),
    ("changed_details", "sealed 4"): (0.83, 0.86),
    ("changed_details", "sealed 5"): (0.83, 0.87),
    ("everyday_answers", "read"): (0.87, 0.87),
    ("everyday_answers", "sealed"): (0.84, 0.86),
}
"""The share of right verdicts, and the area under the curve."""


def test_the_examples_are_judged_as_well_as_before() -> None:
    met = set()
    for found in judged_sets():
        least_right, least_area = LEAST[found.file, found.name]
        right, of = found.right
        assert right / of >= least_right, found.name
        assert found.area_under_curve(SEEN_BY_RULES) >= least_area, found.name
        met.add((found.file, found.name))
    assert met == LEAST.keys()


LEAST_FOUND = {("read", True): 0.8, ("read", False): 0.8, ("sealed", True): 0.8, ("sealed", False): 0.65}
"""The share of refusals that are recognised, by set, in English and in other languages."""


def test_refusals_are_recognised_as_well_as_before() -> None:
    found = {(each.name, each.is_english): each for each in refusals()}
    assert {key: each.n_found / each.n >= LEAST_FOUND[key] for key, each in found.items()} == dict.fromkeys(
        LEAST_FOUND, True
    )
    assert all(each.n_false_alarms <= 0.1 * each.n_others for each in found.values())
