"""Lines about flaky questions, with a remedy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pytest_ragcheck.redaction.printable import printable

if TYPE_CHECKING:
    from pytest_ragcheck.summary.flaky import Flaky

_NAMED = 20

QUARANTINE = 'a flaky question with "quarantine: REASON" in its file runs, and does not gate'


def flaky_lines(flaky: Sequence[Flaky]) -> Iterator[str]:
    """Yield each flaky question with its passes and fails, then the remedy; nothing without flaky questions."""
    for each in flaky[:_NAMED]:
        times = each.passes + each.fails
        yield printable(f"flaky: {each.dataset_name}::{each.question_id} passed {each.passes} of {times} times")
    if len(flaky) > _NAMED:
        yield f"flaky: {len(flaky) - _NAMED} more"
    if flaky:
        yield QUARANTINE
