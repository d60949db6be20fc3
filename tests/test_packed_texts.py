"""A wheel has the word lists and patterns without their comments, and reads them as the checkout does."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
PARSED = """
from pytest_ragcheck.judging.offline.refusals import _KINDS
from pytest_ragcheck.judging.offline.words.rewording import OPPOSITES, PAIRS
from pytest_ragcheck.judging.offline.words.word_lists import _SECTIONS, WORDS
from pytest_ragcheck.rag.citation_targets import _TEXTS
from pytest_ragcheck.rag.probe.probe_exchange import _requests
from pytest_ragcheck.rag.shapes.shape import NAMED_SHAPES
from pytest_ragcheck.rag.shapes.reply_search import _LISTS
words = {title: body.split() for title, body in WORDS.items()}
refusals = [(sorted(triggers), pattern) for triggers, pattern in _KINDS]
print(refusals, OPPOSITES, PAIRS, _SECTIONS, words, _TEXTS, list(_requests({})), NAMED_SHAPES, _LISTS)
"""


def parsed(folder: Path) -> str:
    found = subprocess.run(
        [sys.executable, "-c", PARSED],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        check=True,
    )
    return found.stdout.decode()


def test_texts_without_comments_are_read_as_those_with_them(tmp_path: Path) -> None:
    build = runpy.run_path(str(CHECKOUT / "setup.py"))
    shutil.copytree(CHECKOUT / "pytest_ragcheck", tmp_path / "pytest_ragcheck")
    for folder in build["COMMENTS"]:
        for path in (tmp_path / "pytest_ragcheck" / folder).glob("*.txt"):
            text = path.read_text(encoding="utf-8")
            path.write_text(build["without_comments"](text, folder), encoding="utf-8")
            assert "\n#" in f"\n{text}"
    assert parsed(tmp_path) == parsed(CHECKOUT)
