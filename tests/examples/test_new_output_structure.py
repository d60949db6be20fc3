"""The samples of result files equal the files that the examples write."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from pytest_ragcheck.cli.project.docs import read_schema
from tests.harness import OTHERS, python_of_forks

from .conftest import EXAMPLES

if TYPE_CHECKING:
    from pathlib import Path

SAMPLES = EXAMPLES / "new_output_structure"
NAMES = (
    "natural_questions_questions.json",
    "gemma_2b_baseline_predictions.json",
    "gemma_2b_baseline_summary.json",
)


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_samples_are_what_the_script_makes_of_the_old_layout(tmp_path: Path) -> None:
    script, old = EXAMPLES / "convert_old_format.py", EXAMPLES / "old_output_structure"
    command: list[str | Path] = [sys.executable, script, old, "-o", tmp_path]
    ended = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    assert {path.name for path in SAMPLES.iterdir()} == {"README.md", *NAMES}
    for name in NAMES:
        written, sample = read(tmp_path / name), read(SAMPLES / name)
        assert {**written, "plugin_version": None} == {**sample, "plugin_version": None}


def test_the_shop_writes_every_field_of_the_result_files(tmp_path: Path) -> None:
    for part in ("rag_server", "shop"):
        shutil.copytree(
            EXAMPLES / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__", "ragcheck-results")
        )
    command = [*python_of_forks("-m", "pytest"), *OTHERS, "-p", "no:cacheprovider"]
    ended = subprocess.run(
        command, cwd=tmp_path / "shop", capture_output=True, encoding="utf-8", timeout=120, check=False
    )
    assert ended.returncode == 0, ended.stdout
    written = tmp_path / "shop" / "ragcheck-results"
    predictions = read(written / "rag_server_predictions.json")
    summary = read(written / "rag_server_summary.json")
    assert read(written / "shop_questions.json")["num_questions"] == 6
    assert {row["verdict"] for row in predictions["predictions"]} == {"PASS", "FAIL"}
    assert summary["counts"] == {"pass": 4, "fail": 1, "error": 0, "skipped": 1}
    # Every row has the metrics that readers of the format use.
    assert all({"exact_match", "f1"} <= row["metrics"].keys() for row in predictions["predictions"])
    assert any(row["contexts"] for row in predictions["predictions"])
    assert all(row["latency_seconds"] is not None for row in predictions["predictions"])


@pytest.mark.parametrize("name", NAMES)
def test_the_samples_keep_to_the_schemas(name: str) -> None:
    kind = name.rpartition("_")[2].removesuffix(".json")
    validator = jsonschema.Draft202012Validator(json.loads(read_schema(kind)))
    assert list(validator.iter_errors(read(SAMPLES / name))) == []
