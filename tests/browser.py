"""A page as a real browser shows it: headless Chromium, from the command line."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def needs_browser() -> None:
    """Skips where there is no Chromium; in CI it has to be there."""
    if CHROMIUM is None:
        if os.environ.get("CI") == "true":
            pytest.fail("there is no Chromium: install Debian's chromium")
        pytest.skip("there is no Chromium to show the page")


def shown(path: Path, fragment: str = "") -> Shown:
    """The page after its script has run."""
    needs_browser()
    assert CHROMIUM is not None
    with tempfile.TemporaryDirectory() as profile:
        options = ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--dump-dom")
        told = subprocess.run(
            [CHROMIUM, *options, "--virtual-time-budget=2000", f"{path.as_uri()}{fragment and f'#{fragment}'}"],
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=60,
            check=True,
        )
    return Shown(told.stdout)


@dataclass(slots=True)
class Element:
    """An element of the page with the text of itself and its children."""

    tag: str
    attributes: dict[str, str | None]
    texts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join("".join(self.texts).split())


class Shown(HTMLParser):
    """The elements of a page by tag, class and id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs))
        self.elements.append(element)
        if tag not in {"meta", "link", "input", "rect", "line", "polyline", "br"}:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop().tag != tag:
            pass

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.texts.append(data)

    def texts(self, selector: str) -> list[str]:
        """The texts of the elements that `tag`, `.class`, `tag.class` or `#id` means."""
        return [element.text for element in self.elements if _is(element, selector)]

    @property
    def tags(self) -> set[str]:
        return {element.tag for element in self.elements}


def _is(element: Element, selector: str) -> bool:
    if selector.startswith("#"):
        return element.attributes.get("id") == selector[1:]
    tag, _, name = selector.partition(".")
    return (not tag or element.tag == tag) and (not name or name in (element.attributes.get("class") or "").split())
