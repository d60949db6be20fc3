"""The samples of result files are what the example run writes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from pytest_ragcheck import __version__
from pytest_ragcheck.cli.project.schema import read_schema
from pytest_ragcheck.engine.store.run_folder import FOLDER

from .conftest import EXAMPLES

if TYPE_CHECKING:
    from pathlib import Path

SAMPLES = EXAMPLES / "new_output_structure"
NAMES = ("shop_questions.json", "rag_server_predictions.json", "rag_server_summary.json")


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def without_what_differs(value: Any) -> Any:
    """The document without times, and without the plugin's version and the server's port."""
    if isinstance(value, dict):
        return {
            key: None if re.search(r"^timestamp$|latency|^plugin_version$", key) else without_what_differs(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [without_what_differs(item) for item in value]
    return re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", value) if isinstance(value, str) else value


def test_the_samples_are_what_the_example_run_writes(tmp_path: Path) -> None:
    for part in ("rag_server", "shop"):
        shutil.copytree(EXAMPLES / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    ended = subprocess.run(
        command, cwd=tmp_path / "shop", capture_output=True, encoding="utf-8", timeout=120, check=False
    )
    assert ended.returncode == 0, ended.stdout
    written = tmp_path / "new_output_structure"
    assert {path.name for path in written.iterdir() if path.name != FOLDER} == set(NAMES)
    for name in NAMES:
        assert without_what_differs(read(written / name)) == without_what_differs(read(SAMPLES / name))


@pytest.mark.parametrize("name", NAMES)
def test_the_samples_keep_to_the_schemas(name: str) -> None:
    kind = name.rpartition("_")[2].removesuffix(".json")
    jsonschema.validate(read(SAMPLES / name), json.loads(read_schema(kind)), jsonschema.Draft202012Validator)


def test_the_samples_have_a_bit_of_everything() -> None:
    predictions, summary = read(SAMPLES / NAMES[1]), read(SAMPLES / NAMES[2])
    assert {row["verdict"] for row in predictions["predictions"]} == {"PASS", "FAIL"}
    assert summary["counts"] == {"pass": 4, "fail": 1, "error": 0, "skipped": 1}
    # Whatever reads the five metrics of an answer finds them in every row.
    assert all({"exact_match", "f1"} <= row["metrics"].keys() for row in predictions["predictions"])
    assert summary["plugin_version"] == __version__
