"""The offline judge against people's labels; needs the label files, which are not part of the project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.benchmarks import offline_judge as benchmark

FOLDER = os.environ.get("RAGCHECK_JUDGING_LABELS", "")

pytestmark = pytest.mark.skipif(
    not FOLDER,
    reason="RAGCHECK_JUDGING_LABELS is not set: the folder of the label files that the judge is held against",
)


@pytest.mark.parametrize("name", benchmark.FLOORS)
def test_scores_agree_with_the_labels_as_well_as_they_did(name: str):
    row = benchmark.agreement(Path(FOLDER) / f"{name}.jsonl")
    least_area, least_accuracy = benchmark.FLOORS[name]
    assert row.area_under_curve >= least_area
    assert row.balanced_accuracy >= least_accuracy


def test_refusals_are_recognised_as_well_as_before():
    told = benchmark.refusals(Path(FOLDER) / "abstention.jsonl")
    assert told.found >= benchmark.LEAST_REFUSALS_FOUND
    assert told.false_alarms <= benchmark.MOST_FALSE_ALARMS


def test_squad_passes_with_its_own_answers_only():
    folder = Path(FOLDER).parent / "slices" / "squad_v2"
    if not folder.exists():
        pytest.skip(f"{folder} is not there: SQuAD v2 in its official shape or the hub's")
    said = benchmark.squad(folder)
    assert said.own_pass >= benchmark.LEAST_OWN_ANSWERS_PASS
    assert said.foreign_pass <= benchmark.MOST_FOREIGN_ANSWERS_PASS
