"""Sets the tier of collected questions, and keeps them by dataset and by node id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_ragcheck.errors import QuestionFileError
from pytest_ragcheck.questions.question import END_TO_END, GENERATION, RETRIEVAL_ALONE, Question, QuestionSet
from pytest_ragcheck.questions.question_rows import set_from_wire, set_to_wire


@dataclass(slots=True, eq=False)
class CollectedQuestions:
    root: Path
    suffix: str = ""
    """Suffix of the dataset names of this worker under `--dist each`; else empty."""

    sets: dict[str, QuestionSet] = field(default_factory=dict)
    """By dataset name; the items may be deselected."""

    selected: dict[str, Question] = field(default_factory=dict)
    """By node id of the item."""

    tags: set[str] = field(default_factory=set)
    """Those registered as markers."""

    _files: dict[str, QuestionSet] = field(default_factory=dict, init=False)

    def add(self, questions: QuestionSet) -> None:
        """Raises a `QuestionFileError` if another file has the same dataset name."""
        known = self._files.setdefault(questions.dataset_name, questions)
        if known.path != questions.path:
            to_do = "Give one of them another dataset_name."
            if all(each.path.suffix in (".jsonl", ".csv") for each in (questions, known)):
                to_do = "Rename one of the two: files of lines have no place for a dataset_name."
            problem = (
                f"{self.shown(questions.path)}:1: the dataset name {questions.dataset_name!r} is also that of "
                f"{self.shown(known.path)}. {to_do}"
            )
            raise QuestionFileError(questions.path, [problem])

    def use(self, question: Question, variant: str, *, is_asked: bool = True) -> Question:
        """The question for an item of the variant, which is a dataset of its own, such as `billing[Paris]`."""
        name = question.dataset_name + variant + self.suffix
        if is_asked and name not in self.sets:
            self.sets[name] = renamed(self._files[question.dataset_name], name)
        return question if name == question.dataset_name else replace(question, dataset_name=name)

    @property
    def asked(self) -> dict[str, Question]:
        """The selected questions without those of tests that use `rag_question` alone."""
        return {node: question for node, question in self.selected.items() if question.dataset_name in self.sets}

    def to_wire(self) -> dict[str, object]:
        return {
            "sets": list(map(set_to_wire, self.sets.values())),
            "selected": {node + self.suffix: list(q.key) for node, q in self.asked.items()},
        }

    def merge(self, wire: Mapping[str, Any]) -> None:
        for each in wire["sets"]:
            if each["dataset_name"] not in self.sets:
                self.sets[each["dataset_name"]] = set_from_wire(each)
        by_key = {q.key: q for s in self.sets.values() for q in s.questions}
        self.selected |= {node: by_key[dataset, name] for node, (dataset, name) in wire["selected"].items()}

    def shown(self, path: Path) -> Path:
        return path.relative_to(self.root) if path.is_relative_to(self.root) else path


def renamed(questions: QuestionSet, name: str) -> QuestionSet:
    if name == questions.dataset_name and all(question.dataset_name == name for question in questions.questions):
        return questions
    of_name = tuple(replace(question, dataset_name=name) for question in questions.questions)
    return replace(questions, dataset_name=name, questions=of_name)


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
