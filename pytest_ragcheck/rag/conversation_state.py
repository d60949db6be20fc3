from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.questions.question import EarlierTurn, Question
from pytest_ragcheck.rag.answer import RagAnswer


@frozen
class ConversationState:
    """The earlier turns of a conversation; empty for a question outside of one."""

    turn: int | None = None
    """The number of the turn that is asked, >= 1; None outside of a conversation."""

    history: tuple[EarlierTurn, ...] = ()
    session: str | float | None = None
    """The session of the earlier replies, a text or a number as they have it; None before the first."""

    @property
    def messages(self) -> list[dict[str, str]]:
        """The earlier turns as messages of OpenAI's chat API: `role` and `content`, one for each text of a turn."""
        return [{"role": role, "content": content} for role, content in self._texts]

    @property
    def text(self) -> str:
        """The earlier turns as lines, `User: ...` and `Assistant: ...`; empty without any."""
        return "\n".join(f"{role.capitalize()}: {content}" for role, content in self._texts)

    @property
    def _texts(self) -> list[tuple[str, str]]:
        turns = ((("user", each.question), ("assistant", each.answer)) for each in self.history)
        return [(role, content) for turn in turns for role, content in turn if content is not None]

    def is_lost(self, carried: Collection[str]) -> bool:
        """True in a conversation whose requests carry neither `history` nor `session`."""
        return self.turn is not None and not {"history", "session"} & set(carried)

    def needs_session(self, carried: Collection[str]) -> bool:
        return self.turn is not None and "session" in carried and "history" not in carried

    @property
    def lacks_session(self) -> bool:
        """True after the first turn if no reply has named a session."""
        return (self.turn or 1) > 1 and self.session is None


NO_CONVERSATION = ConversationState()


@dataclass(slots=True)
class Dialogue:
    """The answered turns of a conversation with the system, so that the next turn can be asked."""

    history: tuple[EarlierTurn, ...] = ()
    """The turns with the answers as the system gave them, secrets included."""

    recorded: tuple[EarlierTurn, ...] = ()
    """The same turns without secrets, for the judge and the record."""

    session: str | float | None = None
    """The last session that a reply named."""

    def next_turn(self, question: Question, *, recorded: bool = False) -> Question:
        """The question with the turns and the session so far, for the system, or *recorded* for judge and record."""
        return replace(question, history=self.recorded if recorded else self.history, session=self.session)

    def has(self, question: Question) -> bool:
        return question.turn is not None and len(self.history) >= question.turn

    def add(self, question: Question, given: RagAnswer, answer: RagAnswer) -> None:
        """Add an answered turn; *answer* is *given* without secrets."""
        self.history = (*self.history, earlier_turn(question, given))
        self.recorded = (*self.recorded, earlier_turn(question, answer))
        self.session = self.session if given.session is None else given.session


def earlier_turn(question: Question, answer: RagAnswer) -> EarlierTurn:
    text = answer.text if question.is_answered else None
    return EarlierTurn(question=question.question, answer=text, contexts=answer.contexts)
