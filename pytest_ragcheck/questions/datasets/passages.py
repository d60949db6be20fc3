"""The passages of a dataset's question, called by their content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_ragcheck.questions.passages import text_digest
from pytest_ragcheck.questions.question import GoldPassage

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, kw_only=True)
class Passages:
    """The passages of one question, each text once."""

    gold: tuple[GoldPassage, ...] = ()
    distractors: tuple[GoldPassage, ...] = ()


def passages_of(prefix: str, *, gold: Iterable[str], others: Iterable[str] = ()) -> Passages:
    """
    The gold texts, and the others that are not among them; blank ones are left out.

    A passage is called by the prefix and the digest of its text: a number in the row would name another
    document in the next question, and two names for one text would have it uploaded twice.
    """
    right = list(dict.fromkeys(text for text in gold if text.strip()))
    wrong = [text for text in dict.fromkeys(others) if text.strip() and text not in right]
    return Passages(
        gold=tuple(GoldPassage(text=text, doc_id=f"{prefix}:{text_digest(text)}") for text in right),
        distractors=tuple(GoldPassage(text=text, doc_id=f"{prefix}:{text_digest(text)}") for text in wrong),
    )
