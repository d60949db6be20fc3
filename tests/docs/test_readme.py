"""The README's examples are run, and its output is real."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.docs.pages import PROJECT, readme
from tests.servers.fake_endpoint import FakeEndpoint, json_reply

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.docs.pages import Reader

ANSWER = {"answer": "Refunds are possible within 30 days.", "contexts": ["Refunds: within 30 days."]}


def test_the_first_example_asks_an_endpoint(reader: Callable[..., Reader]) -> None:
    with FakeEndpoint(json_reply(ANSWER)) as endpoint:
        someone = reader(stands_for={"https://staging.example/query": endpoint.url})
        someone.follow(readme(""))
    assert "1 PASS, 0 FAIL" in someone.ran[-1].output


def test_the_function_that_it_shows_answers_the_question_that_it_shows(reader: Callable[..., Reader]) -> None:
    someone = reader()
    question, _ = readme("")
    someone.follow([question, *readme("Use it")])
    assert "1 PASS, 0 FAIL" in someone.run("pytest --rag-judge=offline").output


def test_it_has_its_two_commands() -> None:
    commands = re.findall(
        r"^\$ (python3 -m venv .*)$", (PROJECT / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert [command.rpartition("&& .venv/bin/")[2] for command in commands] == [
        "python -m pytest examples/first_run",
        "python -m pytest -n 3",
    ]


def test_it_shows_the_failure_that_the_faulty_server_makes(reader: Callable[..., Reader], tmp_path: Path) -> None:
    (shown,) = readme("See it go red")
    # Results in a folder of the test's own, and the width of a terminal in CI too.
    options = f"-p no:cacheprovider --rag-output={tmp_path / 'results'}"
    command = f"CI= COLUMNS=80 RAG_SERVER_FAULT=number pytest {options} examples/first_run"
    someone = reader(
        stands_for={"RAG_SERVER_FAULT=number .venv/bin/python -m pytest examples/first_run": command},
    )
    someone.folder = PROJECT
    someone.follow([shown])
    assert someone.ran[-1].status == 1
