"""Adds the pages for `ragcheck docs` and the questions of `ragcheck demo` to a built package, and packs schemas."""

from __future__ import annotations

import gzip
import json
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
            docs, archive = Path("docs"), Path(self.build_lib, "pytest_ragcheck", "pages.json.gz")
            pages = {page.relative_to(docs).as_posix(): page.read_text("utf-8") for page in sorted(docs.rglob("*.md"))}
            # Compressed as one text, the pages take three quarters of a zip archive. No time: equal builds are equal.
            archive.write_bytes(gzip.compress(json.dumps(pages, ensure_ascii=False).encode(), mtime=0))
            for schema in Path(self.build_lib, "pytest_ragcheck", "summary", "schemas").glob("*.json"):
                schema.with_name(f"{schema.name}.gz").write_bytes(gzip.compress(schema.read_bytes(), mtime=0))
                schema.unlink()
            questions = "ragcheck.rag.yaml"
            shutil.copyfile(
                Path("examples", "first_run", questions), Path(self.build_lib, "pytest_ragcheck", "demo", questions)
            )


setup(cmdclass={"build_py": BuildWithFiles})
