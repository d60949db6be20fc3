"""Adds the pages for `ragcheck docs` and the questions for `ragcheck demo` to a built package."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithFiles(build_py):
    """In an editable install nothing is copied: the command reads the checkout's own pages."""

    def run(self) -> None:
        """Build the package, and add the files."""
        super().run()
        if not self.editable_mode:
            docs, pages = Path("docs"), Path(self.build_lib, "pytest_ragcheck", "pages")
            shutil.rmtree(pages, ignore_errors=True)
            for page in docs.rglob("*.md"):
                copy = pages / page.relative_to(docs)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(page, copy)
            questions = "ragcheck.rag.yaml"
            shutil.copyfile(
                Path("examples", "first_run", questions), Path(self.build_lib, "pytest_ragcheck", "demo", questions)
            )


setup(cmdclass={"build_py": BuildWithFiles})
