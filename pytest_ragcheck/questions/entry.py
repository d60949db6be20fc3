"""One entry under `questions` -> `Question`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_ragcheck.questions.fields import (
    read_acceptable_answers,
    read_answerable,
    read_expected_answer,
    read_mentions,
    read_metadata,
    read_passages,
    read_reason,
    read_tags,
    read_thresholds,
    read_top_k,
)
from pytest_ragcheck.questions.ids import derived_id, id_mistake
from pytest_ragcheck.questions.mistakes import Site
from pytest_ragcheck.questions.names import QUESTION, named_entries
from pytest_ragcheck.questions.nodes import Entry, MappingNode, Node, Scalar
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.questions.values import read_text, seen, shortened

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from pytest_ragcheck.questions.mistakes import Mistakes
    from pytest_ragcheck.questions.top import Defaults


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryReader:
    """Reads the questions of one file, and keeps what one must not take from another."""

    dataset_name: str
    path: Path
    mistakes: Mistakes
    known_metrics: Collection[str]
    reserved_tags: Collection[str]
    defaults: Defaults
    _lines_by_id: dict[str, int] = field(default_factory=dict)
    _seen_documents: dict[str, tuple[str, int]] = field(default_factory=dict)

    def read(self, node: Node, *, number: int) -> Question | None:
        """
        The question in *node*, the *number*-th of the file from 1; None, or a half one, after a mistake.

        A bare text is a question with nothing else.
        """
        if isinstance(node, Scalar) and not node.is_null:
            node = MappingNode(node.line, [Entry("question", node.line, node)])
        if not isinstance(node, MappingNode):
            Site(self.mistakes, f"question number {number}").mistake(
                node.line, f"is {seen(node)}. Write a mapping with 'question', or just the text to ask."
            )
            return None
        given_id = _given_id(node)
        site = Site(self.mistakes, f"question {shortened(given_id)}" if given_id else f"question number {number}")
        entries = named_entries(site, node, QUESTION)
        text = self._read_question(site, node, entries)
        if text is None:
            question_id = self._read_id(site, node, entries, derived=None)
        else:
            derived = derived_id(text)
            if not given_id:
                site = Site(self.mistakes, f"question {derived!r}")
            question_id = self._read_id(site, node, entries, derived=derived)
        return self._build(site, node, entries, question_id=question_id, text=text)

    def _build(
        self, site: Site, node: MappingNode, entries: Mapping[str, Entry], *, question_id: str | None, text: str | None
    ) -> Question:
        return Question(
            dataset_name=self.dataset_name,
            id=question_id or "",
            question=text or "",
            expected_answer=read_expected_answer(site, entries),
            all_acceptable_answers=read_acceptable_answers(site, entries),
            must_mention=read_mentions(site, entries, "must_mention"),
            must_not_mention=read_mentions(site, entries, "must_not_mention"),
            gold_passages=read_passages(site, entries, "gold_passages", self._seen_documents),
            distractors=read_passages(site, entries, "distractors", self._seen_documents),
            answerable=read_answerable(site, entries),
            thresholds=read_thresholds(site, entries, self.known_metrics, defaults=self.defaults.thresholds),
            top_k=read_top_k(site, entries, default=self.defaults.top_k),
            tags=read_tags(site, entries, self.reserved_tags, defaults=self.defaults.tags),
            skip=read_reason(site, entries, "skip", default="skipped by its question file"),
            xfail=read_reason(site, entries, "xfail", default="expected to fail by its question file"),
            metadata=read_metadata(site, entries),
            path=self.path,
            line=node.line,
        )

    def _read_question(self, site: Site, node: MappingNode, entries: Mapping[str, Entry]) -> str | None:
        if "question" in entries:
            return read_text(site, entries["question"], "the text to ask")
        found = ", ".join(shortened(entry.key) for entry in node.entries) or "nothing"
        site.mistake(node.line, f"has no 'question' (found: {found}). Write the text to ask under 'question'.")
        return None

    def _read_id(
        self, site: Site, node: MappingNode, entries: Mapping[str, Entry], *, derived: str | None
    ) -> str | None:
        line = entries["id"].line if "id" in entries else node.line
        question_id = read_text(site, entries["id"]) if "id" in entries else derived
        if question_id is None:
            return None
        if (what := id_mistake(question_id)) is not None:
            site.mistake(line, what)
        elif question_id in self._lines_by_id:
            first = self._lines_by_id[question_id]
            site.mistake(
                line,
                f"has the id of the question on line {first}. Give it another."
                if "id" in entries
                else f"has the id of the question on line {first}, made from the same text. Give it an 'id'.",
            )
        else:
            self._lines_by_id[question_id] = line
        return question_id


def _given_id(node: MappingNode) -> str | None:
    """The id as typed, good or bad, for the texts of mistakes."""
    for entry in node.entries:
        if QUESTION.real_names.get(entry.key) == "id" and isinstance(entry.value, Scalar):
            return None if entry.value.is_null else entry.value.text
    return None
