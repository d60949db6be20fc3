"""Carries a conversation from one turn to the next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pytest_ragcheck.questions.question import EarlierTurn

if TYPE_CHECKING:
    from pytest_ragcheck.questions.question import Question
    from pytest_ragcheck.rag.answer import RagAnswer


@dataclass(slots=True)
class Dialogue:
    """The answered turns of a conversation with the system, so that the next turn can be asked."""

    history: tuple[EarlierTurn, ...] = ()
    """The turns with the answers as the system gave them, secrets included."""

    recorded: tuple[EarlierTurn, ...] = ()
    """The same turns without secrets, for the judge and the record."""

    session: str | float | None = None
    """The last session that a reply named."""

    def next_turn(self, question: Question) -> Question:
        """Return the question with the turns and the session so far, as the system is asked."""
        return replace(question, history=self.history, session=self.session)

    def recorded_turn(self, question: Question) -> Question:
        """Return the question with the turns and the session so far, as the judge and the record get it."""
        return replace(question, history=self.recorded, session=self.session)

    def has(self, question: Question) -> bool:
        """Return True if the turn has an answer."""
        return question.turn is not None and len(self.history) >= question.turn

    def add(self, question: Question, given: RagAnswer, answer: RagAnswer) -> None:
        """Add an answered turn; *answer* is *given* without secrets."""
        self.history = (*self.history, _turn(question, given))
        self.recorded = (*self.recorded, _turn(question, answer))
        self.session = self.session if given.session is None else given.session


def _turn(question: Question, answer: RagAnswer) -> EarlierTurn:
    text = answer.text if question.is_answered else None
    return EarlierTurn(question=question.question, answer=text, contexts=answer.contexts)
