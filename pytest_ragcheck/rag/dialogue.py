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
    session: str | None = None
    """The last session that a reply named."""

    def next_turn(self, question: Question) -> Question:
        """Return the question with the turns and the session so far."""
        return replace(question, history=self.history, session=self.session)

    def add(self, question: Question, answer: RagAnswer) -> None:
        """Add an answered turn."""
        turn = EarlierTurn(question=question.question, answer=answer.text, contexts=answer.contexts)
        self.history = (*self.history, turn)
        self.session = self.session if answer.session is None else answer.session
