"""Ids of questions: parts of pytest node ids, so stable and selectable."""

from __future__ import annotations

import hashlib
import re
import unicodedata

from pytest_ragcheck.questions.characters import UNPRINTABLE

# Questions made from a template often differ only behind their first words, where four digits alone would soon collide.
_SLUG_LENGTH = 60
_UNPRINTABLE = re.compile(f"[{UNPRINTABLE}]")


def derived_id(question: str) -> str:
    """
    The id of a question that has none in its file: words of its text, `-` and four hex digits of its hash.

    It changes with the text and with nothing else.
    """
    normal = unicodedata.normalize("NFKC", question[:200]).lower()
    # Marks belong to the letters of many scripts.
    kept = "".join(char if unicodedata.category(char)[0] in "LNM" else " " for char in normal)
    slug = "-".join(kept.split())
    if len(slug) > _SLUG_LENGTH:
        head, _, _ = slug[: _SLUG_LENGTH + 1].rpartition("-")
        slug = head or slug[:_SLUG_LENGTH]
    # A lone surrogate is refused, but its question has to be called something until then.
    digest = hashlib.sha256(question.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{slug or 'question'}-{digest[:4]}"


def id_mistake(text: str) -> str | None:
    """What keeps *text* from being an id, and what to do, as the rest of a sentence; None if nothing does."""
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
    """The id as a question file may have it; *text* itself where that can be."""
    kept = text.replace("::", "__").replace("[", "(").replace("]", ")").strip()
    return _UNPRINTABLE.sub("-", kept)


def unprintable_in(text: str) -> str | None:
    """The first character of *text* that is not seen, or breaks a line; None if there is none."""
    found = _UNPRINTABLE.search(text)
    return found[0] if found else None
