"""`ragcheck schema`, and the help that editors give by the schema of question files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from pytest_ragcheck.cli.project.docs import read_schema
from pytest_ragcheck.cli.project.init import SCHEMA_FILE
from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.questions.fields.key_names import FILE, QUESTION
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.questions.question_rows import questions_document
from tests.cli.language_server import LanguageServer
from tests.harness import unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

SERVER = "yaml-language-server@1.25.0"
MODELINE = f"# yaml-language-server: $schema=./{SCHEMA_FILE}\n"


@pytest.mark.parametrize("name", ["questions", "predictions", "summary"])
def test_every_schema_is_printed_and_is_one(name: str, ragcheck: Callable[..., tuple[int, str, str]]) -> None:
    status, printed, errors = ragcheck("schema", name)

    assert (status, errors, printed) == (0, "", read_schema(name))
    schema = json.loads(printed)
    Draft202012Validator.check_schema(schema)
    assert (schema["$schema"], printed[-1]) == ("https://json-schema.org/draft/2020-12/schema", "\n")


def test_the_schema_of_questions_is_that_of_written_questions_too() -> None:
    validator: Any = Draft202012Validator(json.loads(read_schema("questions")))
    document = questions_document("billing", [Question(dataset_name="billing", id="a", question="Who?")])

    assert validator.is_valid(document)
    assert not validator.is_valid({**document, "answers": []})


def test_the_schema_is_ascii_and_the_same_in_every_run() -> None:
    code = "from pytest_ragcheck.cli import main; main(['schema', 'questions'])"
    command = [sys.executable, "-c", code]
    runs = [
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout
        for seed in ("1", "2")
    ]

    assert runs == [read_schema("questions").encode("ascii")] * 2


# In an editor


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LanguageServer]:
    """The language server of VS Code's YAML extension and of many other editors, in a project with the schema."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        unavailable("node and npm are needed to try the schema in an editor's language server")
    tools: Path = tmp_path_factory.mktemp("tools")
    install = [
        npm,
        "install",
        "--prefer-offline",
        "--no-audit",
        "--no-fund",
        "--silent",
        "--prefix",
        str(tools),
        SERVER,
    ]
    installed = subprocess.run(install, capture_output=True, text=True, check=False, timeout=120)
    if installed.returncode:
        unavailable(f"npm cannot install {SERVER}: {installed.stderr[-300:]}")
    folder: Path = tmp_path_factory.mktemp("project")
    (folder / SCHEMA_FILE).write_text(read_schema("questions"), encoding="utf-8")
    script = tools / "node_modules" / "yaml-language-server" / "bin" / "yaml-language-server"
    server = LanguageServer([node, str(script), "--stdio"], folder)
    yield server
    server.close()


def test_an_editor_proposes_the_keys_of_a_question_under_their_own_names(editor: LanguageServer) -> None:
    in_list = editor.proposals("list.rag.yaml", MODELINE + "- question: Who?\n  |\n")
    in_file = editor.proposals("file.rag.yaml", MODELINE + "questions:\n  - question: Who?\n    |\n")

    assert set(in_list) == set(in_file) == {*QUESTION.aliases, "turns"} - {"question"}
    assert in_list["answerable"].startswith("false: the system must decline to answer")


def test_an_editor_proposes_the_keys_of_a_file_and_the_values_of_a_flag(editor: LanguageServer) -> None:
    assert set(FILE.aliases) <= set(editor.proposals("top.rag.yaml", MODELINE + "|\n"))
    flags = editor.proposals("flag.rag.yaml", MODELINE + "- question: Who?\n  answerable: |\n")
    assert {"true", "false"} <= set(flags)


def test_an_editor_says_whose_other_name_a_key_is(editor: LanguageServer) -> None:
    assert "Same as expected" in editor.hover("hover.rag.yaml", MODELINE + "- query: Who?\n  refer|ence: Ann\n")


def test_an_editor_underlines_mistakes_where_they_are(editor: LanguageServer) -> None:
    text = """\
- question: Who?
  expcted_answer: Ann
- id: why
- question: Why?
  query: Why?
- question: What?
  answerable: false
  reference: that
- question: When?
  top_k: 0
  tags: [pay back]
  must_mention: /now/g
- ""
"""
    assert sorted(editor.problems("mistakes.rag.yaml", MODELINE + text)) == [
        (3, "Property expcted_answer is not allowed."),
        (4, 'Missing property "question".'),
        (6, "This is another name of a key that is given too. Keep one."),
        (9, "An unanswerable question has no expected answer. Delete one of the two."),
        (11, "Value is below the minimum of 1."),
        (12, "Write a letter from A to Z, then such letters, digits, _ and -; not 'and', 'or' or 'not'."),
        (13, "Write a text, or /.../ with no flag but i."),
        (14, "Write a text that is not blank."),
    ]


@pytest.mark.parametrize(
    "text",
    [
        package_text("cli/project/questions.txt"),
        MODELINE + "- {id: 😀話, question: Who 😀?, expected_answer: 1972, must_mention: [/30|thirty/i, no]}\n- Why?\n",
        MODELINE + "dataset_name: billing\nquestions:\n- {user_input: Who?, reference: Ann, is_impossible: false}\n",
    ],
)
def test_an_editor_underlines_nothing_in_a_good_file(editor: LanguageServer, text: str) -> None:
    assert editor.problems(f"good-{len(text)}.rag.yaml", text) == []
