"""The page about speed names the settings, their defaults, and the statuses that are repeated."""

from __future__ import annotations

import re

from pytest_ragcheck.options import OPTIONS
from pytest_ragcheck.transient import OVERLOADED, TRANSIENT
from tests.docs.pages import DOCS

PAGE = (DOCS / "how-to" / "run-fast.md").read_text(encoding="utf-8")
NUMBERS = {"2": "twice", "8": "eight"}


def test_the_settings_that_it_names_are_there() -> None:
    named = set(re.findall(r"`(?:--)?(rag[_-]\w+(?:-\w+)*)", PAGE)) - {"rag_client", "rag_judge", "rag_settings"}
    named -= {"rag_question"}
    assert {"rag_delay", "rag_retries", "rag-concurrency"} <= named
    assert {name.replace("-", "_") for name in named} <= {option.name for option in OPTIONS}


def test_the_defaults_are_those_of_the_settings() -> None:
    defaults = {option.name: NUMBERS.get(option.default_shown) for option in OPTIONS}
    assert f"up to {defaults['rag_concurrency']} at the endpoint and eight at the judge" in PAGE
    assert f"repeated {defaults['rag_retries']}; `rag_retries` changes that" in PAGE


def test_the_statuses_are_those_that_are_repeated() -> None:
    overload, repeat = (set(map(int, re.findall(r"\b[45]\d\d\b", line))) for line in status_lines())
    assert overload == OVERLOADED
    assert repeat == TRANSIENT - OVERLOADED


def status_lines() -> list[str]:
    return [line for line in PAGE.splitlines() if re.search(r"\b[45]\d\d\b", line)]
