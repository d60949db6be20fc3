"""Finds the independent units: single questions, or groups of questions that share a gold document."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from pytest_ragcheck.summary.gate.procedure.compared_question import ComparedQuestion, Key

_CHANGED_ELSEWHERE = 0.1
"""The largest share of changed answers outside of the failing documents with questions as units."""

_CORRELATED = 3.5
"""Standard deviations above which differences correlate within documents."""


def by_document(questions: Sequence[ComparedQuestion]) -> dict[Key, int]:
    """The index of the unit by question; questions that share a document, even indirectly, form one unit."""
    parent = list(range(len(questions)))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = place = parent[parent[place]]
        return place

    first: dict[tuple[str, str], int] = {}
    for place, question in enumerate(questions):
        for document in question.documents:
            known = first.setdefault((question.key[0], document), place)
            parent[root(place)] = root(known)
    return {question.key: root(place) for place, question in enumerate(questions)}


def units_of(questions: Sequence[ComparedQuestion], broken: Iterable[Key]) -> tuple[str, dict[Key, int]]:
    """
    The kind of the units, `question` or `document`, and the unit of each question.

    A lost document changes only its own questions. If more than a tenth of the other answers changed too, the questions
    of a document may share noise, and it is the unit.
    """
    documents = by_document(questions)
    failing = {documents[key] for key in broken}
    elsewhere = [question for question in questions if documents[question.key] not in failing]
    changed = sum(question.changed for question in elsewhere)
    if len(set(documents.values())) < len(documents) and changed > _CHANGED_ELSEWHERE * len(elsewhere):
        return "document", documents
    return "question", {question.key: place for place, question in enumerate(questions)}


def are_correlated(differences: Iterable[tuple[float, Iterable[str]]]) -> bool:
    """
    True if the differences of questions that share a document correlate significantly.

    Each question has its difference to its saved runs, and the documents of its contexts.

    Source: the sum of the products of all pairs, with mean 0 and the variance of its terms under random signs.
    """
    found: dict[str, list[float]] = defaultdict(list)
    for difference, documents in differences:
        for document in documents:
            found[document].append(difference)
    products = variance = 0.0
    for values in found.values():
        squares = [value**2 for value in values]
        products += (sum(values) ** 2 - sum(squares)) / 2
        variance += (sum(squares) ** 2 - sum(square**2 for square in squares)) / 2
    return products > 0 and products**2 > _CORRELATED**2 * variance
