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

    import pytest

pytestmark = needs_torch

LABELLED = ((30, 1), (31, 0), (60, 0), (90, 1))


OWN = """
from pytest_ragcheck import LocalJudge, OfflineJudge, Panel


def panel():
    return Panel([LocalJudge("tiny"), OfflineJudge()])
"""


def test_it_and_a_panel_with_it_are_compared_with_the_offline_judge_at_no_cost(
    ragcheck: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "panel_of_local.py").write_text(OWN, encoding="utf-8")
    model = make_classifier(tmp_path / "tiny")
    ragcheck("docs")  # discard the output of making a model
    contexts = ["Within 30 days.", "Members have 90 days."]
    rows = [
        {"question": "Returns?", "contexts": contexts, "answer": f"You have {days} days.", "label_grounded": good}
        for days, good in LABELLED
    ]
    file = tmp_path / "labelled.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    judges = ("--judge=local", "--judge=offline", "--judge=panel_of_local:panel")
    status, out, err = ragcheck("calibrate", str(file), *judges, f"--judge-model={model}")
    assert (status, err) == (0, "")
    local, offline = f"local-1+{OfflineJudge.identity.prompt_version}", OfflineJudge.identity.prompt_version
    table, _, _ = out.partition("minus 1.")
    for start in (
        f"1. local (tiny, {local}) ",
        f"2. offline ({offline}) ",
        f"3. panel (mean of local tiny, offline, {local}, {offline}) ",
    ):
        (line,) = [line for line in table.splitlines() if line.startswith(start)]
        assert line.endswith(" none")
    assert ragcheck("calibrate", str(file), "--judge=local") == (
        2,
        "",
        (
            "ragcheck calibrate: the local judge needs a model: set --judge-model or RAGCHECK_JUDGE_MODEL "
            "to a folder or a name on the hub\n"
        ),
    )
