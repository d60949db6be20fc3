"""The system of `ragcheck demo`, a plain function."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pytest_ragcheck.demo.faults import faults_from
from pytest_ragcheck.demo.index import Index, read_corpus
from pytest_ragcheck.demo.reply import Answerer


def answers_from(folder: Path, *, faults: str = "") -> Callable[[str, int], dict[str, Any]]:
    """
    Return a function for `RagClient.from_callable` that answers from the texts of the folder.

    Args:
        folder: Its `.md` and `.txt` files are read, at any depth.
        faults: Deliberate faults, separated by commas: `number` (wrong numbers), `best` (the best
            passage is not found), `invent` (questions are answered that the texts do not answer).

    Raises:
        ValueError: An unknown fault.
    """
    index = Index()
    read_corpus(index, folder)
    answerer = Answerer(index=index, model=None, faults=faults_from(faults))

    def answer(query: str, top_k: int) -> dict[str, Any]:
        return answerer.from_index(query, top_k=top_k, chunks=True, session_id=None)

    return answer
