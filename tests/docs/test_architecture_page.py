"""The architecture page names the folders and modules that there are."""

from __future__ import annotations

import re

from tests.docs.pages import DOCS, PROJECT

PAGE = (DOCS / "explanation" / "architecture.md").read_text(encoding="utf-8")
PACKAGE = PROJECT / "pytest_ragcheck"


def test_every_folder_of_the_run_is_named() -> None:
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert {folder for folder in folders if f"`{folder}/`" not in PAGE} <= {"cli"}, "the command is no part of a run"


def test_what_it_names_is_there() -> None:
    named = re.findall(r"`([\w/]+(?:/|\.py))`", PAGE)
    assert named
    assert [name for name in named if not (PACKAGE / name).exists()] == []
