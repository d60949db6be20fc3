"""Keeps the state of a conversation while its turns are evaluated."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Protocol, TypeVar

from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.rag.conversation_state import Dialogue

EARLIER_TURN = "earlier_turn"
"""The `error_kind` of the record of a turn that was not asked because an earlier turn was an ERROR."""


class Conversation:
    """
    The turns of a conversation that were asked so far, of all repeats; each repeat is a dialogue of its own.

    Used by one evaluation at a time.
    """

    def __init__(self) -> None:
        self.dialogues: tuple[Dialogue, ...] = ()
        self.begun = 0
        self.reported: set[int | None] = set()
        """The turns with a record of their own, maybe of an earlier run."""

    def go_to(self, turn: int, *, repeats: int) -> None:
        """Prepare for this turn, from 1; start all dialogues anew if it was begun before or *repeats* differs."""
        if self.begun >= turn or len(self.dialogues) != repeats:
            self.dialogues = tuple(Dialogue() for _ in range(repeats))
            self.begun = 0

    def stopped_by(self) -> int | None:
        """The first turn without an answer in each dialogue; None if all turns that were begun have one."""
        answered = min(len(dialogue.history) for dialogue in self.dialogues)
        return answered + 1 if answered < self.begun else None


class Asked(Protocol):
    @property
    def question(self) -> Question: ...


T = TypeVar("T", bound=Asked)


def conversation_of(question: Question) -> tuple[str, str] | None:
    """The dataset name and id of the question's conversation; None if it is not a turn."""
    return None if question.turn is None else (question.dataset_name, question.conversation)


def by_conversation(asked: Iterable[T]) -> list[T]:
    """The questions in their order, but all turns of a conversation at the place of its first turn."""
    units: dict[Hashable, list[T]] = {}
    for number, each in enumerate(asked):
        units.setdefault(conversation_of(each.question) or number, []).append(each)
    return [each for unit in units.values() for each in sorted(unit, key=lambda each: each.question.turn or 0)]
