from __future__ import annotations

import argparse
import bz2
import json
import posixpath
import re
from pathlib import Path

from pytest_ragcheck.cli.printing import complain
from pytest_ragcheck.errors import UsageError

_LINK = re.compile(r"(\]\()([\w./-]+)\.md(?:#[\w-]*)?\)")
_TITLE = re.compile(r"(?m)^# (.+)$")

_PACKAGE = Path(__file__).parents[2]
_CHECKOUT = _PACKAGE.parent
QUESTIONS = "ragcheck.rag.yaml"
"""The name of the question file about the pages."""


def read_pages() -> dict[str, str]:
    """The text of every page by its name, such as `reference/errors/endpoint`."""
    texts = {path.removesuffix(".md"): text for path, text in shipped_texts().items() if path != QUESTIONS}
    return {name: _with_names(text, name) for name, text in sorted(texts.items())}


def _with_names(text: str, name: str) -> str:
    here = posixpath.dirname(name)
    return _LINK.sub(lambda link: f"{link[1]}{posixpath.normpath(posixpath.join(here, link[2]))})", text)


def shipped_texts() -> dict[str, str]:
    """
    The pages by their paths, such as `how-to/cost.md`, and the text of `QUESTIONS`.

    They come from the installed package or a checkout; empty without both.
    """
    archive, docs = _PACKAGE / "pages.json.bz2", _CHECKOUT / "docs"
    if archive.is_file():
        texts: dict[str, str] = json.loads(bz2.decompress(archive.read_bytes()))
        return texts
    if not (docs / "index.md").is_file():
        return {}
    paths = {path.relative_to(docs).as_posix(): path for path in sorted(docs.rglob("*.md"))}
    paths[QUESTIONS] = _CHECKOUT / "examples" / "first_run" / QUESTIONS
    return {name: path.read_text(encoding="utf-8") for name, path in paths.items()}


def run(chosen: argparse.Namespace) -> int:
    pages = read_pages()
    if not pages:
        complain("docs", "this installation has no pages. Install the package from its wheel.")
        return 1
    if chosen.name is None:
        width = max(map(len, pages))
        titles = {name: title[1] if (title := _TITLE.search(text)) else "" for name, text in pages.items()}
        print("\n".join(f"{name:<{width}}  {title}" for name, title in titles.items()))
        return 0
    asked = chosen.name.removesuffix(".md").strip("/")
    found = [name for name in pages if f"/{name}".endswith(f"/{asked}")]
    exact = [name for name in found if name == asked]
    if len(exact or found) == 1:
        print(pages[(exact or found)[0]], end="")
        return 0
    problem = f"could be {', '.join(found)}. Write more of it" if found else "is not a page. ragcheck docs lists them"
    raise UsageError(f"{chosen.name!r} {problem}.")
