"""The page about shards: its parts are run and merged, and the steps of its workflow too."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import yaml

from tests.docs.pages import page

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.docs.pages import Reader


def test_the_parts_are_run_and_merged_and_so_are_those_of_the_workflow(reader: Callable[..., Reader]) -> None:
    someone = reader()
    someone.follow(page("how-to/split-a-run.md"))
    workflow = (someone.folder / ".github/workflows/ragcheck.yml").read_text(encoding="utf-8")
    part, whole = yaml.safe_load(workflow)["jobs"].values()
    (command,) = [step["run"] for step in part["steps"] if "pytest -" in step.get("run", "")]
    for number in part["strategy"]["matrix"]["part"]:
        assert someone.run(command.replace("${{ matrix.part }}", str(number))).status == 0
        shutil.move(someone.folder / f"part-{number}", someone.folder / "parts" / f"part-{number}")
    (merge,) = [step["run"] for step in whole["steps"] if "merge" in step.get("run", "")]
    ran = someone.run(merge)
    assert ran.status == 1
    assert "2 PASS, 1 FAIL, 0 ERROR, 0 skipped" in ran.output
