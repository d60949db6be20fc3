"""Prints pages of the documentation and JSON Schemas of the installed version, and runs the demo over the pages."""

from __future__ import annotations

import argparse
import bz2
import json
import os
import posixpath
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_ragcheck.cli.command_line import complain, say
from pytest_ragcheck.errors import UsageError
from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.report.terminal.comparison_lines import shell_word
from pytest_ragcheck.summary.result_schemas import result_schema

_LINK = re.compile(r"(\]\()([\w./-]+)\.md(?:#[\w-]*)?\)")
_TITLE = re.compile(r"(?m)^# (.+)$")

_PACKAGE = Path(__file__).parents[2]
_CHECKOUT = _PACKAGE.parent
QUESTIONS = "ragcheck.rag.yaml"
"""The name of the question file about the pages."""

_NO_PAGE = "is not a page here. ragcheck docs lists them; the repository has all."
_NO_PAGES = "this installation has no pages. Install the package from its wheel."

_INI = """\
[pytest]
rag_judge = offline
rag_report = report.html
"""


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
        complain("docs", _NO_PAGES)
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
    problem = f"could be {', '.join(found)}. Write more of it." if found else _NO_PAGE
    raise UsageError(f"{chosen.name!r} {problem}")


def read_schema(name: str) -> str:
    if name == "questions":
        from pytest_ragcheck.questions.fields.question_file_schema import question_file_schema

        schema: Any = question_file_schema()
    else:
        schema = result_schema(name)
    return json.dumps(schema, indent=2) + "\n"


def run_schema(chosen: argparse.Namespace) -> int:
    print(read_schema(chosen.name), end="")
    return 0


def run_demo(chosen: argparse.Namespace) -> int:
    texts = shipped_texts()
    if not texts:
        raise UsageError(_NO_PAGES)
    # The system clears its temporary files.
    folder = Path(tempfile.mkdtemp(prefix="ragcheck-demo-")) if chosen.keep is None else _new_folder(chosen.keep)
    _write(folder, texts)
    status = _run_pytest(folder, chosen.fault)
    say("", f"Report:  {folder / 'report.html'}", f"Again:   pytest {shell_word(folder)}")
    if chosen.fault is None:
        say("Red:     ragcheck demo --fault number")
    return status


def _new_folder(path: Path) -> Path:
    folder = path.resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{path} is not an empty folder. Name a new one.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{path} cannot be created ({error.strerror}). Name another folder.") from None
    return folder


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        document = folder / name if name == QUESTIONS else folder / "documents" / name
        document.parent.mkdir(parents=True, exist_ok=True)
        document.write_text(text, encoding="utf-8")
    (folder / "conftest.py").write_text(package_text("cli/project/demo_conftest.txt"), encoding="utf-8")
    (folder / "pytest.ini").write_text(_INI, encoding="utf-8")


def _run_pytest(folder: Path, fault: str | None) -> int:
    # Settings for the user's own runs would change this one.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RAGCHECK_", "PYTEST_"))}
    command = [sys.executable, "-m", "pytest", "-c", "pytest.ini", "-p", "no:cacheprovider", str(folder)]
    environment = kept | {"RAG_SERVER_FAULT": fault or ""}
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode  # noqa: S603 - our own command
