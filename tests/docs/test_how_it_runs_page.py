"""The page about how a run works can be followed, and describes the store correctly."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tests.docs.pages import page

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.docs.pages import Reader


def test_how_it_runs(reader: Callable[..., Reader]) -> None:
    someone = reader()
    someone.follow(page("explanation/how-it-runs.md"))
    results = someone.folder / "ragcheck-results"
    assert (results / ".ragcheck" / ".gitignore").read_text(encoding="utf-8") == "*\n"
    assert len(list(results.rglob("store.sqlite"))) == 1
    asked = Counter((someone.folder / "asked.txt").read_text(encoding="utf-8").splitlines())
    assert sorted(asked.values()) == [2, 2, 3], "once without a store, once with; of the ERROR once more"
