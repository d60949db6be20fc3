"""Each page for users of another tool can be followed: conversion, and a run of the converted file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.docs.pages import DOCS, page

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.docs.pages import Reader

PAGES = ("from-deepeval.md", "from-ragas.md", "from-promptfoo.md")


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_followed(name: str, reader: Callable[..., Reader]) -> None:
    reader().follow(page(f"how-to/{name}"))
    assert len((DOCS / "how-to" / name).read_text(encoding="utf-8").split()) < 1_000
