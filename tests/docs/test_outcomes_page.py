"""The page of the outcomes is followed, and names every kind of ERROR."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_ragcheck.errors import MeasurementError, RecordedError
from tests.docs.pages import DOCS, PROJECT, page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.docs.pages import Reader

NAME = "reference/outcomes.md"


def test_each_outcome_looks_as_shown(reader: Callable[..., Reader]) -> None:
    someone = reader()
    someone.follow(page(NAME))
    assert someone.ran[-1].status == 1


def test_every_kind_of_error_is_in_the_table() -> None:
    listed = re.findall(
        r"^\| `(\w+)` \|", (DOCS / "reference" / "outcomes.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    raised = {error.kind for error in kinds(MeasurementError) if error is not RecordedError}
    sources = [PROJECT / "pytest_ragcheck" / name for name in ("verdict/verdict.py", "plugin/ending/gated_outcomes.py")]
    text = "".join(source.read_text(encoding="utf-8") for source in sources)
    decided = set(re.findall(r'kind = "(\w+)"', text)) | set(re.findall(r'error_kind="(\w+)"', text))
    assert decided == {"unscored", "nothing_to_assert", "not_evaluated"}
    assert sorted(listed) == sorted(raised | decided)


def kinds(error: type[MeasurementError]) -> Iterator[type[MeasurementError]]:
    """All classes below."""
    for below in error.__subclasses__():
        if below.__module__.startswith("pytest_ragcheck"):
            yield below
            yield from kinds(below)
