"""Sets the tier of questions: retrieval by the system, or passages in the request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from pytest_ragcheck.errors import QuestionFileError
from pytest_ragcheck.questions.question import END_TO_END, GENERATION, RETRIEVAL_ALONE, Question, QuestionSet


def asked_in(questions: QuestionSet, *, tier: str, ingest: bool, root: Path | None = None) -> QuestionSet:
    """
    Return the questions with the tier of their file, or else of the run.

    A dataset's question without the passages that the tier needs is skipped. The file overrides *ingest* too, and its
    path in errors is relative to *root*.

    Raises:
        QuestionFileError: A question of a file has no passages to send in the tier `generation`, or no gold passages
            to find in the tier `retrieval`, or a document of the file with ingestion has two texts.
    """
    tier = questions.tier or tier
    ingest = tier != GENERATION and (ingest if questions.ingest is None else questions.ingest)
    asked = tuple(
        # Most questions already have the right tier, and a copy would cost memory.
        question if (question.tier, question.ingest) == (tier, ingest) else replace(question, tier=tier, ingest=ingest)
        for question in questions.questions
    )
    if questions.origin is not None:
        asked = tuple(
            replace(question, skip=why)
            if not question.skip and (why := _obstacle(question, in_file=False))
            else question
            for question in asked
        )
        return replace(questions, questions=asked)
    # The file of a dataset's run has skipped questions.
    wanted = (question for question in asked if not question.skip)
    mistakes = [_mistake(question, root, what) for question in wanted if (what := _obstacle(question, in_file=True))]
    if ingest and not mistakes:
        mistakes = list(_ambiguous_documents(asked, root))
    if mistakes:
        raise QuestionFileError(questions.path, mistakes)
    return replace(questions, questions=asked)


def tier_of(questions: tuple[Question, ...]) -> str:
    tiers = {question.tier for question in questions}
    return tiers.pop() if len(tiers) == 1 else "mixed" if tiers else END_TO_END


def _obstacle(question: Question, *, in_file: bool) -> str | None:
    # The mistake of a question in a file, or the reason to skip a question of a dataset; None if it can be asked.
    tier, passages = question.tier, (*question.gold_passages, *question.distractors)
    if (tier == GENERATION or question.ingest) and not all(passage.text for passage in passages):
        purpose = f"which the tier {tier!r} sends" if tier == GENERATION else "which ingestion uploads"
        mistake = f"has a passage without 'text', {purpose}. Write its text."
        return mistake if in_file else "it has a passage without a text to send"
    has_gold = question.answerable and question.gold_passages
    if tier == GENERATION and not passages:
        lacks, to_do = "passages", "sends along with it. Give it 'gold_passages'"
        purpose = "go along with it"
    elif tier == RETRIEVAL_ALONE and not (has_gold or question.must_not_retrieve):
        lacks, to_do = "gold passages", "looks for. Give an answerable question 'gold_passages'"
        purpose = "find"
    else:
        return None
    if in_file:
        return f"has no {lacks}, which the tier {tier!r} {to_do}, or ask it in the tier {END_TO_END!r}."
    return f"it has no {lacks} to {purpose} in the tier {tier!r}"


def _ambiguous_documents(questions: Iterable[Question], root: Path | None) -> Iterator[str]:
    # Yield a mistake for each document that has two texts, because uploaded documents are found by their ids.
    texts: dict[str, str] = {}
    for question in questions:
        for passage in (*question.gold_passages, *question.distractors):
            if passage.doc_id is not None and texts.setdefault(passage.doc_id, passage.text) != passage.text:
                what = (
                    f"has the document {passage.doc_id!r} with a second text, and ingestion uploads one text for each "
                    "'doc_id'. Give each text a 'doc_id' of its own."
                )
                yield _mistake(question, root, what)


def _mistake(question: Question, root: Path | None, what: str) -> str:
    path = question.path or Path(question.dataset_name)
    shown = path.relative_to(root) if root is not None and path.is_relative_to(root) else path
    return f"{shown.as_posix()}:{question.line or 1}: question {question.id!r} {what}"
