"""Makes the system of `ragcheck demo`, a plain function."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pytest_ragcheck.demo import quoting
from pytest_ragcheck.demo.index import Index, read_corpus, words_of

CANDIDATES = 20
"""Minimum number of passages to fetch, from which the best `top_k` are chosen."""

MOST_WORDS = 100
"""Maximum number of distinct words of a question that are used."""

# Every digit changes, and none becomes 0, so that every number changes and none begins with 0.
OTHER_DIGITS = str.maketrans("0123456789", "1234567891")

INVENTED = "Yes, that has been so since 1987."

_FAULTS = ("number", "best", "invent")


def answers_from(folder: Path, *, faults: str = "") -> Callable[[str, int], dict[str, Any]]:
    """
    A function for `RagClient.from_callable` that answers from the texts of the folder.

    Args:
        folder: Its `.md` and `.txt` files are read, at any depth.
        faults: Deliberate faults, separated by commas: `number` (wrong numbers), `best` (the best
            passage is not found), `invent` (questions are answered that the texts do not answer).

    Raises:
        ValueError: An unknown fault.
    """
    chosen = {fault.strip() for fault in faults.split(",")} - {""}
    if unknown := chosen.difference(_FAULTS):
        raise ValueError(f"{', '.join(sorted(unknown))}: no such fault. Choose from {', '.join(_FAULTS)}.")
    index = Index()
    read_corpus(index, folder)

    def answer(query: str, top_k: int) -> dict[str, Any]:
        words = list(dict.fromkeys(words_of(query)))[:MOST_WORDS]
        rarity = index.rarity(words)
        ranked = quoting.best_first(query, index.search(words, max(top_k, CANDIDATES)), rarity)
        passages = ranked[1 if "best" in chosen else 0 :][:top_k]
        text = quoting.answer(query, passages, rarity).text
        if "invent" in chosen and text == quoting.REFUSAL:
            text = quoting.answer(query, passages, rarity, least_evidence=0.0).text
            text = INVENTED if text == quoting.REFUSAL else text
        return {
            "answer": text.translate(OTHER_DIGITS) if "number" in chosen else text,
            "contexts": [passage.text for passage in passages],
        }

    return answer
