"""The arguments in `commands.json` agree with the tables of the package that they repeat."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import pytest_ragcheck
from pytest_ragcheck.cli.judge_measurement import LABELS
from pytest_ragcheck.config.table import TABLE
from pytest_ragcheck.demo.documentation import answers_from
from pytest_ragcheck.package_text import package_text

DESCRIBED: dict[str, Any] = json.loads(package_text("cli/commands.json"))


def arguments(command: str) -> dict[str, dict[str, Any]]:
    own = DESCRIBED["commands"][command]["arguments"]
    return {each["names"]: each for each in own if not isinstance(each, str)}  # a text names a shared group


def test_calibrate_takes_every_label() -> None:
    assert [f"label_{each}" for each in arguments("calibrate")["--label"]["choices"]] == [*LABELS]
    assert arguments("calibrate")["file"]["help"].endswith(", ".join(LABELS))


def test_demo_takes_every_fault(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="other: no such fault") as caught:
        answers_from(tmp_path, faults="other")
    faults = arguments("demo")["--fault"]["choices"]
    assert str(caught.value).endswith(f"Choose from {', '.join(faults)}.")


def test_schema_takes_the_question_files_and_every_result_file_of_an_agent() -> None:
    schemas = Path(pytest_ragcheck.__file__).parent.glob("summary/schemas/*.schema.json")
    titles = (json.loads(path.read_bytes())["title"] for path in schemas)
    results = [title.removeprefix("{agent}_").partition(".json")[0] for title in titles if title.startswith("{agent}_")]
    assert arguments("schema")["name"]["choices"] == ["questions", *sorted(results)]


def test_the_options_of_rejudge_are_those_of_pytest() -> None:
    options = {setting.option: setting for setting in TABLE}
    like_pytest = {name: each for name, each in arguments("rejudge").items() if each["help"] == "as in pytest"}
    assert len(like_pytest) == 7
    for name, argument in like_pytest.items():
        assert argument["metavar"] == options[name].metavar
        assert (argument.get("action") == "append") is (options[name].kind == "words")
