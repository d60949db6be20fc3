"""Adds the pages for `ragcheck docs` and the questions of `ragcheck demo` to a built package, and packs its texts."""

from __future__ import annotations

import bz2
import json
import re
import zlib
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PACKED = {
    "cli": (".json",),
    "cli/project": (".txt",),
    "config": (".json",),
    "demo": (".txt",),
    "judging/model": (".json",),
    "judging/offline": (".txt",),
    "judging/offline/words": (".txt",),
    "judging/prompts": (".json", ".txt"),
    "questions/exports": (".json",),
    "questions/fields": (".json",),
    "rag": (".json", ".txt"),
    "report/html": (".css", ".html", ".js", ".svg"),
    "summary/schemas": (".json",),
    "testing": (".txt",),
}
"""
The files that `pytest_ragcheck.package_text` reads: templates, word lists, prompts, parts of pages, and schemas.

Every pytest run reads the help texts of `config`, so they are packed by zlib, which unpacks them in 0.02 ms.
"""

OF_COMMANDS = ("cli", "cli/project", "demo", "questions/exports", "summary/schemas", "testing")
"""The folders whose texts commands read, and runs seldom; they are packed in one file, which takes less space."""

COMMENTS = {
    "judging/offline": "(?m)^#.*\n",
    "judging/offline/words": "(?m)^#.*\n",
    "rag": "(?m)^#.*\n",
    "report/html": "(?m)^ *//.*\n",
}
"""The comments that the files of a folder lose, a tenth of the space; templates and prompts keep theirs."""

LEFT_OUT = {
    *(f"explanation/{name}.md" for name in ("gate-simulation", "speed", "statistics")),
    *(f"reference/{name}.md" for name in ("judge-offline-reading", "judge-offline-rules", "metrics-sources")),
    *(f"reference/{name}.md" for name in ("judge-local", "metrics-ragas", "other-plugins", "public-names")),
    *(f"how-to/{name}.md" for name in ("beyond-one-machine", "expose-an-endpoint", "github-action", "run-fast")),
    *(f"how-to/{name}.md" for name in ("calibrate-a-judge", "test-your-own-parts")),
    *(f"how-to/{name}.md" for name in ("frameworks", "from-deepeval", "from-promptfoo", "from-ragas")),
}
"""Pages of measurements, rules, extras and other tools, which no message names and no question of the demo is about."""


def description() -> str:
    """The README up to its first picture, without links: the package index shows neither its pictures nor its pages."""
    start = Path("README.md").read_text("utf-8").partition("This is the report")[0]
    return re.sub(r"\[([^]]+)\]\(docs/[^)]*\)", r"\1", start)


def without_comments(text: str, folder: str) -> str:
    """The *text* of a file of the folder without the lines that are comments."""
    return re.sub(COMMENTS[folder], "", text)


class BuildWithFiles(build_py):
    """In an editable install nothing is copied: the command reads the checkout's own pages."""

    def run(self) -> None:
        """Build the package, and add the files."""
        super().run()
        if not self.editable_mode:
            docs, package = Path("docs"), Path(self.build_lib, "pytest_ragcheck")
            pages = [page.relative_to(docs).as_posix() for page in sorted(docs.rglob("*.md"))]
            texts = {name: (docs / name).read_text("utf-8") for name in pages if name not in LEFT_OUT}
            questions = Path("examples/first_run/ragcheck.rag.yaml")
            texts[questions.name] = questions.read_text("utf-8")
            _pack(texts, package / "pages.json.bz2")
            of_commands: dict[str, str] = {}
            for name, endings in PACKED.items():
                paths = sorted(path for path in (package / name).iterdir() if path.name.endswith(endings))
                packed = {path.name: path.read_text("utf-8") for path in paths}
                if name in COMMENTS:
                    packed = {file: without_comments(text, name) for file, text in packed.items()}
                else:
                    packed = {file: _compact(text) if file.endswith(".json") else text for file, text in packed.items()}
                if name in OF_COMMANDS:
                    of_commands |= {f"{name}/{file}": text for file, text in packed.items()}
                else:
                    _pack(packed, package / name / f"texts.json.{'zlib' if name == 'config' else 'bz2'}")
                for path in paths:
                    path.unlink()
            _pack(of_commands, package / "texts.json.bz2")


def _compact(text: str) -> str:
    return json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))


def _pack(texts: dict[str, str], path: Path) -> None:
    # Compressed as one text, the pages take half of a zip archive.
    compress = {".bz2": bz2.compress, ".zlib": zlib.compress}[path.suffix]
    path.write_bytes(compress(json.dumps(texts, ensure_ascii=False).encode()))


if __name__ == "__main__":
    setup(
        cmdclass={"build_py": BuildWithFiles},
        long_description=description(),
        long_description_content_type="text/markdown",
    )
