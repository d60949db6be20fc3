"""The page about documents of one's own is followed against the example server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.docs.pages import page
from tests.examples.conftest import running

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.docs.pages import Reader

PAGE = "how-to/test-with-documents.md"


def test_the_page_can_be_followed(reader: Callable[..., Reader], tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    with running(tmp_path / "corpus") as server:
        reader(stands_for={"http://127.0.0.1:8000": server.url}).follow(page(PAGE))
        assert server.documents() == {}
