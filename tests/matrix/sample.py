"""A user's project with a bit of everything, and the facts of a pytest run in it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from pytest_ragcheck.testing import CLASSES, FIXTURES
from tests.canned import bad, broken, good

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_ragcheck.testing import CannedQuestion

BILLING = (
    good("terms", tags=["smoke"], expected_answer="30 days").but(answer="30 days"),
    bad("prices"),
    broken("refunds"),
    good("later", skip="not written yet"),
    bad("known", xfail="no prices in the index"),
)
OWN = (good("own-good"), bad("own-bad"))
CITIES = (good("city-good"), bad("city-bad"))
PRICE_LIST = (good("größe"), bad("цена"))
CALLED = (good("call-good"), bad("call-bad"), broken("call-broken"))

PROJECT = {
    "pytest.ini": "[pytest]\nasyncio_default_fixture_loop_scope = function\n",
    "test_calls.py": """\
def test_one_call(rag_check):
    rag_check("What about call-good?").assert_passed()


def test_two_calls(rag_check):
    rag_check("What about call-good?").assert_passed()
    rag_check("What about call-bad?").assert_passed()


def test_broken_call(rag_check):
    rag_check("What about call-broken?")
""",
    "own/test_own.py": """\
import pytest


@pytest.mark.rag_questions("own.json")
def test_own(rag_result):
    rag_result.assert_passed()
    assert rag_result.latency_seconds < 3
""",
    "cities/conftest.py": """\
import pytest


@pytest.fixture(scope="module", params=["Paris", "Oslo"])
def city(request):
    return request.param


@pytest.fixture(scope="module")
def rag_client(city, rag_client):
    return rag_client
""",
    "beside/test_beside.py": """\
import asyncio

import anyio
import pytest
from hypothesis import given, strategies


@pytest.mark.asyncio
async def test_with_asyncio(rag_check):
    await asyncio.sleep(0)
    rag_check("What about call-good?").assert_passed()


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.mark.anyio
async def test_with_anyio(rag_check):
    await anyio.sleep(0)
    rag_check("What about call-good?").assert_passed()


@given(strategies.integers())
def test_a_property(number):
    assert number + 0 == number


def test_a_snapshot(snapshot):
    assert {"days": 30} == snapshot
""",
    "beside/__snapshots__/test_beside.ambr": (
        "# serializer version: 1\n# name: test_a_snapshot\n  dict({\n    'days': 30,\n  })\n# ---\n"
    ),
}

QUESTION_FILES = {
    "billing.rag.yaml": BILLING,
    "own/own.json": OWN,
    "cities/cities.rag.json": CITIES,
    "ключ ö/прайс лист.rag.yaml": PRICE_LIST,
}

# A project may be read-only, so the files that watch its runs are beside it.
JUNIT = "junit.xml"
ASKED = "SAMPLE_ASKED"
"""Variable with the path of the file to which the canned system adds each question."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The results of a pytest run over the sample."""

    exit_status: int
    text: str
    """Its output."""

    outcomes: dict[str, str]
    """By test the outcome, as JUnit's file has it, if it could be written; of a test that ran again the last."""

    properties: dict[str, dict[str, str]]
    """By test the properties in JUnit's file, of tests that have any."""

    documents: dict[str, Any]
    """By name the result files, without the times of the run and its questions."""

    asked: Counter[str]
    """How often each question was asked."""

    @property
    def section(self) -> list[str]:
        """The lines that the plugin prints at the end."""
        _, _, rest = self.text.partition("= ragcheck =")
        return re.split(r"^[=-]{3,} .+ [=-]{3,}$", rest, maxsplit=1, flags=re.MULTILINE)[0].splitlines()[1:]


def write_sample(folder: Path) -> Path:
    """The folder, with the project in it."""
    in_conftest = 'HERE / "asked.txt"'
    assert in_conftest in CLASSES
    conftest = CLASSES.replace(in_conftest, f'Path(os.environ["{ASKED}"])').replace("import json", "import json, os")
    cases: list[CannedQuestion] = [*CALLED]
    texts = {**PROJECT, "conftest.py": conftest + FIXTURES}
    for name, questions in QUESTION_FILES.items():
        rows = [{"id": case.id, "question": case.question, **case.entry} for case in questions]
        texts[name] = json.dumps({"questions": rows}, indent=2, ensure_ascii=False)
        cases += questions
    texts["canned.json"] = json.dumps({case.question: asdict(case) for case in cases})
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def run_sample(folder: Path, *options: str, output: Path | None = None, prefix: Sequence[str] = ()) -> Facts:
    """
    Runs pytest in the project, with every plugin that is installed.

    Args:
        folder: The project.
        options: Those of the run.
        output: Where the result files are expected; default: in the project.
        prefix: A command that is given pytest's to run.
    """
    asked, junit = folder.parent / "asked.txt", folder.parent / JUNIT
    # Without bytecode every run would compile the plugin and its imports again.
    mine = ("RAGCHECK_", "OPENAI_", "PYTEST_", "PYTHONDONTWRITEBYTECODE", "CI", "COV")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(mine)}
    ended = subprocess.run(
        [*prefix, sys.executable, "-m", "pytest", f"--junitxml={junit}", *options],
        cwd=folder,
        env={**environment, ASKED: str(asked), "COLUMNS": "160"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert asked.exists(), ended.stdout
    output = output or folder / "ragcheck-results"
    return Facts(
        exit_status=ended.returncode,
        text=ended.stdout,
        outcomes=_outcomes(junit) if junit.exists() else {},
        properties=_properties(junit) if junit.exists() else {},
        documents={path.name: _document(path) for path in sorted(output.glob("*.json"))},
        asked=Counter(asked.read_text(encoding="utf-8").splitlines()),
    )


def order_of_tests(folder: Path) -> list[str]:
    """The tests of the project's last run, in the order in which they ran."""
    return [_name(case) for case in ET.parse(folder.parent / JUNIT).iter("testcase")]


def _outcomes(junit: Path) -> dict[str, str]:
    found = {}
    for case in ET.parse(junit).iter("testcase"):
        tags = [part.tag for part in case if part.tag in {"failure", "error", "skipped"}]
        found[_name(case)] = " ".join(tags) or "passed"
    return found


def _properties(junit: Path) -> dict[str, dict[str, str]]:
    found = {}
    for case in ET.parse(junit).iter("testcase"):
        rows = [(row.get("name", ""), row.get("value", "")) for row in case.iter("property")]
        assert len(dict(rows)) == len(rows), f"{_name(case)}: {rows}"
        if rows:
            found[_name(case)] = dict(rows)
    return found


def _name(case: ET.Element) -> str:
    return f"{case.get('classname')}::{case.get('name')}"


def _document(path: Path) -> Any:
    document = json.loads(path.read_text(encoding="utf-8"))
    document.pop("timestamp", None)
    for row in [*document.get("predictions", ()), *document.get("errors", ())]:
        row.pop("asked_at", None)
    return document
