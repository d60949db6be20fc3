"""A page as a real browser shows it, by tag, class and id."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser


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
        if tag not in {"meta", "link", "input", "rect", "line", "polyline", "br", "wbr"}:
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
