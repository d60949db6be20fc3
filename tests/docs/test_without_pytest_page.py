"""The page about runs without pytest can be followed, and names the arguments and results of `evaluate`."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import TYPE_CHECKING

from pytest_ragcheck import Evaluation, evaluate
from tests.docs.pages import DOCS, page

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.docs.pages import Reader

NAME = "how-to/without-pytest.md"


def test_the_script_prints_and_writes_what_is_shown(reader: Callable[..., Reader]) -> None:
    someone = reader()
    # The script needs the question file, which the page shows last.
    someone.follow(sorted(page(NAME), key=lambda block: block.language == "console"))
    assert [(ran.command, ran.status) for ran in someone.ran] == [("python agents.py", 0), ("ls results", 0)]
    assert someone.ran[0].output.splitlines() == [
        "short_summary.json refund-window PASS",
        "wordy_summary.json refund-window FAIL",
    ]


def test_it_names_every_argument_and_every_result() -> None:
    text = (DOCS / NAME).read_text(encoding="utf-8")
    for name in inspect.signature(evaluate).parameters:
        assert f"`{name}`" in text or f"The {name}:" in text, name
    for field in fields(Evaluation):
        assert f"`evaluation.{field.name}`" in text, field.name
