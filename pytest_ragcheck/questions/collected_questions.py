from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_ragcheck.errors import QuestionFileError
from pytest_ragcheck.questions.question import Question, QuestionSet
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
