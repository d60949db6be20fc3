"""The pages about uploaded documents are followed against the example server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.docs.pages import page
from tests.examples.conftest import running

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.docs.pages import Reader

PAGES = ("how-to/test-with-documents.md", "how-to/planted-documents.md")


@pytest.mark.parametrize("name", PAGES)
def test_the_page_can_be_followed(reader: Callable[..., Reader], tmp_path: Path, name: str) -> None:
    (tmp_path / "corpus").mkdir()
    with running(tmp_path / "corpus") as server:
        reader(stands_for={"http://127.0.0.1:8000": server.url}).follow(page(name))
        assert server.documents() == {}


def test_the_page_about_tenants_can_be_followed(reader: Callable[..., Reader], tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    accounts = {"RAG_SERVER_ACCOUNTS": "token-a=acme,token-b=globex"}
    with running(tmp_path / "corpus", environment=accounts) as server:
        someone = reader(stands_for={"http://127.0.0.1:8000": server.url})
        someone.follow(page("how-to/tenants.md"))
    (ran,) = someone.ran
    assert ran.status == 0
    assert "\n2 PASS, 0 FAIL, 0 ERROR, 0 skipped\ndocuments: 1 deleted\n" in ran.output
