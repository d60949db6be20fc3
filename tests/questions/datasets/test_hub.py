"""Rows from the `datasets` library, which reads a folder like the hub."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.questions.datasets.registry import has_hub
from tests.questions.datasets.sources import FILES, content

if TYPE_CHECKING:
    from pathlib import Path

README = """\
---
configs:
- config_name: hagrid
  data_files:
  - {split: test, path: hagrid/test.jsonl}
---
"""

CODE = """
import json, sys
from pytest_ragcheck.errors import DatasetError
from pytest_ragcheck.questions.datasets.loading import rows_of_hub
from pytest_ragcheck.questions.datasets.retrieved_datasets import RAGBENCH
from pytest_ragcheck.questions.datasets.standard_dataset import Hub
said = {}
for repository, split in json.loads(sys.argv[1]):
    try:
        rows = rows_of_hub(Hub(repository=repository), subset="hagrid", split=split)
        found = [(row.place, row.columns["dataset_name"]) for row in rows]
        rows = rows_of_hub(Hub(repository=repository), subset="hagrid", split=split)
        ids = [question.id for question in RAGBENCH.read(rows, "ragbench:hagrid")]
        said[f"{repository} {split}"] = [found[0], found[-1], ids]
    except DatasetError as error:
        said[f"{repository} {split}"] = str(error)
print(json.dumps(said))
"""


@pytest.mark.skipif(find_spec("datasets") is None, reason="the hub needs the package 'datasets', of the extra")
def test_a_split_is_loaded_by_the_library_and_what_it_cannot_load_is_said(tmp_path: Path) -> None:
    repository = tmp_path / "ragbench"
    (repository / "hagrid").mkdir(parents=True)
    (repository / "README.md").write_text(README, encoding="utf-8")
    (repository / "hagrid/test.jsonl").write_bytes((FILES / "ragbench.jsonl").read_bytes())
    # In a process of its own, because the library reads its cache folder from the environment on import.
    asked = [[str(repository), "test"], [str(repository), "dev"], ["nobody/nothing", "test"]]
    command = [sys.executable, "-c", CODE, json.dumps(asked)]
    environment = {"HF_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "1", "HOME": str(tmp_path)}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    loaded, no_split, no_repository = json.loads(ended.stdout.splitlines()[-1]).values()
    last = len(content("ragbench"))
    place = f"{repository} (hagrid, test)"
    assert loaded[:2] == [[f"{place}: row 1", "hagrid_test"], [f"{place}: row {last}", "hagrid_test"]]
    assert loaded[2] == [f"hagrid_{number}" for number in range(8)]
    assert no_split.startswith(f"{repository} (hagrid, dev): cannot be loaded from the hub (ValueError: ")
    assert no_repository.startswith("nobody/nothing (hagrid, test): cannot be loaded from the hub (")
    assert no_repository.endswith("). Get the file by other means, and give its path: NAME=PATH.")


def test_a_library_that_is_blocked_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    blocked: Any = None
    monkeypatch.setitem(sys.modules, "datasets", blocked)
    assert not has_hub()
