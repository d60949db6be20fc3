"""The page about speed names the settings, their defaults, and the statuses that are repeated."""

from __future__ import annotations

import re

from pytest_ragcheck.config.table import TABLE
from pytest_ragcheck.rag.http.retry import OVERLOADED, TRANSIENT
from tests.docs.pages import DOCS

PAGE = (DOCS / "how-to" / "run-fast.md").read_text(encoding="utf-8")
NUMBERS = {"2": "twice", "8": "eight"}


def test_the_settings_that_it_names_are_there() -> None:
    named = set(re.findall(r"`(?:--)?(rag[_-]\w+(?:-\w+)*)", PAGE)) - {"rag_client", "rag_judge", "rag_settings"}
    named -= {"rag_question"}
    assert {"rag_delay", "rag_retries", "rag-concurrency"} <= named
    assert {name.replace("-", "_") for name in named} <= {option.name for option in TABLE}


def test_the_defaults_are_those_of_the_settings() -> None:
    defaults = {option.name: NUMBERS.get(option.shown_default) for option in TABLE}
    assert f"up to {defaults['rag_concurrency']} at the endpoint and eight at the judge" in PAGE
    assert f"retried {defaults['rag_retries']}; `rag_retries` changes that" in PAGE


def test_the_statuses_are_those_that_are_retried() -> None:
    assert statuses("sends fewer requests at once") == OVERLOADED
    assert statuses("a request is retried") == TRANSIENT - OVERLOADED


def statuses(words: str) -> set[int]:
    """Return the HTTP statuses in the page's line with the words."""
    (line,) = (line for line in PAGE.splitlines() if words in line)
    return set(map(int, re.findall(r"\b[45]\d\d\b", line)))
