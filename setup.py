"""Puts the pages of `docs/` into the package when it is built, for `ragcheck docs`; all else is in pyproject.toml."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithPages(build_py):
    """In an editable install nothing is copied: the command reads the checkout's own pages."""

    def run(self) -> None:
        """Builds the package, and then adds the pages."""
        super().run()
        if not self.editable_mode:
            docs, pages = Path("docs"), Path(self.build_lib, "pytest_ragcheck", "pages")
            shutil.rmtree(pages, ignore_errors=True)
            for page in docs.rglob("*.md"):
                copy = pages / page.relative_to(docs)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(page, copy)


setup(cmdclass={"build_py": BuildWithPages})
