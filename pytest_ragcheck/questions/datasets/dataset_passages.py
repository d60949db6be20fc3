"""`passages_of` builds the passages of a dataset's question, with document ids made from their texts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pytest_ragcheck.questions.passages import text_digest
from pytest_ragcheck.questions.question import GoldPassage


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetPassages:
    """The passages of one question, without repeated texts; the readers of datasets use them."""

    gold: tuple[GoldPassage, ...] = ()
    distractors: tuple[GoldPassage, ...] = ()


def passages_of(prefix: str, *, gold: Iterable[str], others: Iterable[str] = ()) -> DatasetPassages:
    """
    Return the gold texts, and the other texts as distractors, without blank texts.

    A passage's id is the prefix and a digest of the text. An id from the row number would name another document in
    the next question, and two ids for one text would upload the text twice.
    """
    right = list(dict.fromkeys(text for text in gold if text.strip()))
    wrong = [text for text in dict.fromkeys(others) if text.strip() and text not in right]
    return DatasetPassages(
        gold=tuple(GoldPassage(text=text, doc_id=f"{prefix}:{text_digest(text)}") for text in right),
        distractors=tuple(GoldPassage(text=text, doc_id=f"{prefix}:{text_digest(text)}") for text in wrong),
    )
