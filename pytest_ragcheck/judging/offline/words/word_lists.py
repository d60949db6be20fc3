"""Reads the lists of words in `word_lists.txt`."""

from __future__ import annotations

import re

from pytest_ragcheck.package_text import package_text

_SECTION = re.compile(r"^\[(.+)\]\n([^#\[]+)", re.MULTILINE)

WORDS = dict(_SECTION.findall(package_text("judging/offline/words/word_lists.txt")))
"""The words of each list, by its title."""
