"""Faults that can be switched on, to see whether a test run notices them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_ragcheck.demo.documentation import OTHER_DIGITS


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """The deliberate faults of the server; none by default."""

    wrong_numbers: bool = False
    """Every digit of an answer is altered, in the same way every time."""

    drop_best: bool = False
    """The best passage is not found."""

    answer_all: bool = False
    """Questions that the documents do not answer are answered too."""

    slow_seconds: float = 0.0
    """Delay of each answer, >= 0."""

    error_every: int = 0
    """Every n-th question is answered with status 500; 0: none."""

    wrong_ids: bool = False
    """Passages have the ids of other documents."""

    citation_wrong: bool = False
    """Each statement cites another passage than its own."""

    citation_invented: bool = False
    """Each statement cites a passage that was not found."""

    obeys: bool = False
    """Orders in the found passages are followed."""

    leaks: bool = False
    """Every account sees the documents of all accounts."""

    forgets: bool = False
    """Each turn of a conversation is answered as if it were the first."""

    cut_stream: bool = False
    """A stream ends in the middle of an event, after half of the answer."""

    stream_error: bool = False
    """A stream ends with an error event, after half of the answer."""

    failing_task: str | None = None
    """An uploaded file with this in its name cannot be read; None: all can."""

    undeletable: str | None = None
    """A document with this in its file name cannot be deleted; None: all can."""

    @property
    def spoils_stream(self) -> bool:
        """Whether a stream stops after half of its answer."""
        return self.cut_stream or self.stream_error

    @property
    def spoils_citations(self) -> bool:
        """Whether answers carry markers, and wrong ones."""
        return self.citation_wrong or self.citation_invented

    def cited_rank(self, rank: int, n_passages: int) -> int:
        """The rank, from 0, that an answer gives for the passage with this rank."""
        if self.citation_invented:
            return rank + n_passages
        return (rank + 1) % n_passages if self.citation_wrong else rank

    def spoiled(self, answer: str) -> str:
        return answer.translate(OTHER_DIGITS) if self.wrong_numbers else answer

    def id_of(self, document_id: str) -> str:
        """The id that a passage of the document has in replies."""
        return f"other-{document_id}" if self.wrong_ids else document_id


_READ: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "number": lambda _: {"wrong_numbers": True},
    "best": lambda _: {"drop_best": True},
    "invent": lambda _: {"answer_all": True},
    "slow": lambda value: {"slow_seconds": float(value or 2)},
    "error": lambda value: {"error_every": int(value or 1)},
    "wrong-ids": lambda _: {"wrong_ids": True},
    "citation-wrong": lambda _: {"citation_wrong": True},
    "citation-invented": lambda _: {"citation_invented": True},
    "obeys": lambda _: {"obeys": True},
    "leaks": lambda _: {"leaks": True},
    "forgets": lambda _: {"forgets": True},
    "cut": lambda _: {"cut_stream": True},
    "event": lambda _: {"stream_error": True},
    "task": lambda value: {"failing_task": value},
    "delete": lambda value: {"undeletable": value},
}


def faults_from(setting: str) -> Faults:
    """
    The faults that a comma list such as `number, slow=0.5, delete=refunds` names.

    Raises:
        ValueError: It has an unknown name, or a value that should be a number and is not.
    """
    found: dict[str, Any] = {}
    for each in filter(None, map(str.strip, setting.split(","))):
        name, _, value = each.partition("=")
        if name not in _READ:
            raise ValueError(f"RAG_SERVER_FAULT names no fault: {name}. Known: {', '.join(_READ)}.")
        try:
            found |= _READ[name](value)
        except ValueError:
            raise ValueError(f"RAG_SERVER_FAULT: {each} has no number after the '='.") from None
    return Faults(**found)
