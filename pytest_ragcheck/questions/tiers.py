"""How questions are asked: of the system as it stands, or with their passages along."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_ragcheck.errors import QuestionFileError
from pytest_ragcheck.questions.question import END_TO_END, GENERATION

if TYPE_CHECKING:
    from pytest_ragcheck.questions.question import Question, QuestionSet

WITHOUT_PASSAGES = f"it has no passages to go along with it in the tier {GENERATION!r}"
"""Why a dataset's question is skipped."""


def asked_in(questions: QuestionSet, *, tier: str, ingest: bool, root: Path | None = None) -> QuestionSet:
    """
    The questions with the tier that they are asked in: their file's own, else the run's.

    A dataset's question without passages is skipped in the tier `generation`.

    Args:
        questions: As they were read.
        tier: The run's.
        ingest: Whether the run puts the documents into the system first; the file's own word goes over it.
        root: The folder that the file's path in errors is relative to.

    Raises:
        QuestionFileError: Questions of a file without passages are to be asked in the tier `generation`.
    """
    tier = questions.tier or tier
    ingest = tier == END_TO_END and (ingest if questions.ingest is None else questions.ingest)
    asked = tuple(
        # Most are as they have to be, and need not be there twice.
        question if (question.tier, question.ingest) == (tier, ingest) else replace(question, tier=tier, ingest=ingest)
        for question in questions.questions
    )
    bare = [question for question in asked if tier == GENERATION and not _has_passages(question)]
    if bare and questions.origin is None:
        raise QuestionFileError(questions.path, [_mistake(question, root) for question in bare])
    if bare:
        asked = tuple(
            question if _has_passages(question) or question.skip else replace(question, skip=WITHOUT_PASSAGES)
            for question in asked
        )
    return replace(questions, questions=asked)


def tier_of(questions: tuple[Question, ...]) -> str:
    """The tier that all of the questions have, else `mixed`."""
    tiers = {question.tier for question in questions}
    return tiers.pop() if len(tiers) == 1 else "mixed" if tiers else END_TO_END


def _has_passages(question: Question) -> bool:
    return bool(question.gold_passages or question.distractors)


def _mistake(question: Question, root: Path | None) -> str:
    path = question.path or Path(question.dataset_name)
    shown = path.relative_to(root) if root is not None and path.is_relative_to(root) else path
    return (
        f"{shown.as_posix()}:{question.line or 1}: question {question.id!r} has no passages, which the tier "
        f"{GENERATION!r} sends along with it. Give it 'gold_passages', or ask it in the tier {END_TO_END!r}."
    )
