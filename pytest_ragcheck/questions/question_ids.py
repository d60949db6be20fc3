from __future__ import annotations

import re
import unicodedata

from pytest_ragcheck.questions.question import text_digest

# `str.isprintable` depends on the Python version's Unicode tables, and the validity of an id must not.
# No character beyond the Basic Multilingual Plane is listed, because some schema readers see two surrogates there.

UNPRINTABLE = (
    r"\x00-\x1f\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000"
    r"\ue000-\uf8ff\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff"
)
"""
The content of a character class, for Python and JSON Schema: control, format and private characters, noncharacters, and
white space other than the space.
"""

# Questions from a template often share their first words, and four digits alone would collide.
_SLUG_LENGTH = 60
# UNPRINTABLE lacks this range, because some schema readers support no characters above U+FFFF.
_UNPRINTABLE = re.compile(f"[{UNPRINTABLE}\U000e0000-\U000e0fff]")


def derived_id(question: str) -> str:
    """The id of a question without one: words of its text, `-` and four hex digits of its hash."""
    normal = unicodedata.normalize("NFKC", question[:200]).lower()
    # Marks belong to the letters of many scripts.
    kept = "".join(char if unicodedata.category(char)[0] in "LNM" else " " for char in normal)
    slug = "-".join(kept.split())
    if len(slug) > _SLUG_LENGTH:
        head, _, _ = slug[: _SLUG_LENGTH + 1].rpartition("-")
        slug = head or slug[:_SLUG_LENGTH]
    return f"{slug or 'question'}-{text_digest(question)[:4]}"


def id_mistake(text: str) -> str | None:
    """Why *text* cannot be an id, with the remedy, as the end of a sentence; None if it can."""
    if "::" in text:
        return "has '::' in its id, where pytest separates file and test. Write '-' or ':' instead."
    if "[" in text or "]" in text:
        return "has a square bracket in its id, where pytest begins a test's parameters. Write '(' or '-' instead."
    if text != text.strip():
        return "has white space around its id. Delete it."
    if (unprintable := unprintable_in(text)) is not None:
        return f"has the unprintable character U+{ord(unprintable):04X} in its id. Delete it, or write '-' instead."
    return None


def usable_id(text: str) -> str:
    kept = text.replace("::", "__").replace("[", "(").replace("]", ")").strip()
    return _UNPRINTABLE.sub("-", kept)


def unprintable_in(text: str) -> str | None:
    found = _UNPRINTABLE.search(text)
    return found[0] if found else None
