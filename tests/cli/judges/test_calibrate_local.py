"""
`ragcheck calibrate --judge=local`, by a tiny model that the tests make.

    tox run -e local
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pytest_ragcheck.judging.offline.offline_judge import OfflineJudge
from tests.judging.tiny_classifier import make_classifier, needs_torch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = needs_torch

LABELLED = ((30, 1), (31, 0), (60, 0), (90, 1))


def test_it_is_compared_with_the_offline_judge_at_no_cost(
    ragcheck: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    model = make_classifier(tmp_path / "tiny")
    ragcheck("docs")  # what making a model prints is read here
    contexts = ["Within 30 days.", "Members have 90 days."]
    rows = [
        {"question": "Returns?", "contexts": contexts, "answer": f"You have {days} days.", "label_grounded": good}
        for days, good in LABELLED
    ]
    file = tmp_path / "labelled.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    status, out, err = ragcheck("calibrate", str(file), "--judge=local", "--judge=offline", f"--judge-model={model}")
    assert (status, err) == (0, "")
    assert f"1. local (tiny, local-1+{OfflineJudge.identity.prompt_version})" in out
    assert " none\n" in out
