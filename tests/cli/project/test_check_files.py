"""`ragcheck check`: question files by collection's own readers, result files by their schemas."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from pytest_ragcheck.questions import QUESTION_FILES

if TYPE_CHECKING:
    from collections.abc import Callable

GOOD = "- {id: who, question: Who pays?}\n"
BAD = "- {id: who, question: Who pays?, treshold: 0.7}\n- {id: who}\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def predictions(**fields: object) -> str:
    document = {
        "schema_version": "1",
        "agent_name": "acme",
        "dataset_name": "billing",
        "timestamp": "2026-01-01T00:00:00Z",
        "num_examples": 0,
        "complete": True,
        "predictions": [],
        "errors": [],
    }
    return json.dumps({**document, **fields})


def test_all_mistakes_are_listed_with_file_and_line(ragcheck: Callable[..., tuple[int, str, str]], project: Path):
    write(project / "tests" / "billing.rag.yaml", BAD)
    write(project / "good.rag.csv", "question\nWho pays?\n")
    status, out, err = ragcheck("check")
    assert (status, err) == (1, "")
    lines = out.splitlines()
    assert [line.split(" ")[0] for line in lines[:-1]] == [
        "tests/billing.rag.yaml:1:",
        "tests/billing.rag.yaml:2:",
        "tests/billing.rag.yaml:2:",
    ]
    assert lines[-1] == "3 mistakes in 1 of 2 files"


def test_the_words_are_those_of_a_pytest_run(
    ragcheck: Callable[..., tuple[int, str, str]], project: Path, pytester: pytest.Pytester
):
    write(pytester.path / "billing.rag.yaml", BAD)
    write(project / "billing.rag.yaml", BAD)
    _, out, _ = ragcheck("check", "billing.rag.yaml")
    run = pytester.runpytest_inprocess("--rag-url=http://127.0.0.1:9/query", "--rag-judge=offline")
    mistakes = out.splitlines()[:-1]
    assert len(mistakes) == 3
    assert [line for line in mistakes if line not in run.outlines] == []


def test_a_file_is_checked_for_its_own_tier(ragcheck: Callable[..., tuple[int, str, str]], project: Path):
    write(project / "search.rag.yaml", "tier: retrieval\nquestions: [Who pays?]\n")
    write(project / "terms.rag.yaml", "ingest: true\nquestions: [{question: Who?, gold_passages: {doc_id: a}}]\n")
    status, out, _ = ragcheck("check")
    assert status == 1
    assert "search.rag.yaml:2: question 'who-pays-" in out
    assert "has no gold passages, which the tier 'retrieval' looks for." in out
    assert "has a passage without 'text', which ingestion uploads." in out


def test_files_that_pytest_does_not_collect_are_left_out(ragcheck: Callable[..., tuple[int, str, str]], project: Path):
    write(project / "a.rag.yaml", GOOD)
    for folder in (".tox", "venv/lib", "node_modules", "ragcheck-results"):
        write(project / folder / "b.rag.yaml", BAD)
    write(project / "environment" / "pyvenv.cfg", "")
    write(project / "environment" / "c.rag.yaml", BAD)
    write(project / "results" / ".ragcheck" / "state", "")
    write(project / "results" / "d.rag.json", BAD)
    assert ragcheck("check") == (0, "1 file: no mistakes\n", "")


def test_a_folder_without_question_files_passes(ragcheck: Callable[..., tuple[int, str, str]]):
    assert ragcheck("check") == (0, "no question files\n", "")


@pytest.mark.parametrize("where", [(), ("tests",)])
def test_a_file_with_a_misspelt_ending_is_named(
    ragcheck: Callable[..., tuple[int, str, str]], project: Path, where: tuple[str, ...]
):
    write(project / "tests" / "a.rag.yaml", GOOD)
    misspelt = ("Terms.RAG.yalm", "prices_rag.yaml", "terms.rag.yml.txt")
    others = ("conf.rag.py", "chat.rag.html", "notes.rag.md", "a.rag.yaml~", ".a.rag.yaml.swp", "rag.yaml")
    for name in (*misspelt, *others):
        write(project / "tests" / name, GOOD)
    write(project / "docker_rag.yaml", GOOD)  # beside no question file
    status, out, err = ragcheck("check", *where)
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        *(
            f"not checked: tests/{name}, which ends with none of .rag.yaml, .rag.yml, .rag.json, .rag.jsonl, .rag.csv. "
            "Rename it if it has questions that pytest should collect."
            for name in misspelt
        ),
        "1 file: no mistakes",
    ]


def test_two_files_of_one_dataset_name_are_a_mistake(ragcheck: Callable[..., tuple[int, str, str]], project: Path):
    for name in ("a", "b"):
        write(project / f"{name}.rag.yaml", f"dataset_name: billing\nquestions:\n{GOOD}")
    status, out, _ = ragcheck("check")
    assert status == 1
    assert out.startswith("b.rag.yaml:1: the dataset name 'billing' is also that of a.rag.yaml. ")


def test_a_metric_of_ones_own_has_to_be_named(ragcheck: Callable[..., tuple[int, str, str]], project: Path):
    write(project / "a.rag.yaml", "- {id: who, question: Who pays?, thresholds: {politeness: 0.5}}\n")
    assert ragcheck("check")[0] == 1
    assert ragcheck("check", "--metric=politeness")[0] == 0


@pytest.mark.parametrize(
    ("fields", "mistake"),
    [
        ({"num_examples": -1}, "num_examples: found -1, expected at least 0"),
        ({"complete": "yes"}, 'complete: found "yes", expected boolean'),
        ({"schema_version": "2"}, 'schema_version: found "2", expected "1"'),
        ({"colour": 1}, "the file: unknown 'colour'"),
        ({"predictions": [3]}, "predictions[0]: found 3, expected object"),
        ({"num_examples": 10**400}, "num_examples: the number is beyond 1e+100"),
    ],
)
def test_a_damaged_result_file_is_shown_with_the_place(
    ragcheck: Callable[..., tuple[int, str, str]], project: Path, fields: dict[str, object], mistake: str
):
    write(project / "out" / "acme_predictions.json", predictions(**fields))
    status, out, err = ragcheck("check", "out")
    assert (status, err) == (1, "")
    assert out == f"out/acme_predictions.json: {mistake}\n1 mistake in 1 of 1 file\n"


def test_a_result_file_of_any_name_is_known_by_its_content(
    ragcheck: Callable[..., tuple[int, str, str]], project: Path
):
    write(project / "baseline.json", predictions())
    assert ragcheck("check", "baseline.json") == (0, "1 file: no mistakes\n", "")


def test_a_file_that_is_no_json_is_a_mistake_with_its_line(
    ragcheck: Callable[..., tuple[int, str, str]], project: Path
):
    write(project / "acme_summary.json", '{\n"a": \n')
    status, out, _ = ragcheck("check", "acme_summary.json")
    assert status == 1
    assert out.startswith("acme_summary.json:2: ")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("gone.rag.yaml", "ragcheck check: gone.rag.yaml: there is no such file or folder. Check the path.\n"),
        ("notes.txt", "ragcheck check: notes.txt: neither a question file nor a result file. Leave it out.\n"),
    ],
)
def test_a_path_that_cannot_be_checked_is_wrong_usage(
    ragcheck: Callable[..., tuple[int, str, str]], project: Path, path: str, text: str
):
    write(project / "notes.txt", "")
    assert ragcheck("check", path) == (2, "", text)


def test_the_check_of_question_files_imports_no_client_and_no_validator(project: Path):
    write(project / "a.rag.yaml", GOOD)
    code = (
        "import sys; from pytest_ragcheck.cli import main; status = main(['check']);"
        "print(status, {'openai', 'pydantic', 'httpx', 'httpx2', 'jsonschema', 'pytest'} & set(sys.modules))"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=True)
    assert ended.stdout == "1 file: no mistakes\n0 set()\n"


def test_the_hook_of_pre_commit_checks_each_kind_of_question_file():
    text = Path(__file__).parents[3].joinpath(".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    (hook,) = yaml.safe_load(text)
    assert all(re.search(hook["files"], f"tests/billing{ending}") for ending in QUESTION_FILES)
    assert not re.search(hook["files"], "tests/billing.yaml")
