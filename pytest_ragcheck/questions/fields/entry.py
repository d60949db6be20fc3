"""`EntryReader` turns an entry under `questions` into a `Question`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_ragcheck.questions.fields.field_readers import (
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
from pytest_ragcheck.questions.fields.key_names import QUESTION, named_entries
from pytest_ragcheck.questions.nodes.mistakes import Site
from pytest_ragcheck.questions.nodes.node import Entry, MappingNode, Node, Scalar
from pytest_ragcheck.questions.nodes.node_values import read_text, seen, shortened
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.questions.question_ids import derived_id, id_mistake

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from pytest_ragcheck.questions.fields.file_level import Defaults
    from pytest_ragcheck.questions.nodes.mistakes import Mistakes


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryReader:
    """Reader of the questions of one file; it keeps ids and documents to find repeated ones."""

    dataset_name: str
    path: Path
    mistakes: Mistakes
    known_metrics: Collection[str]
    reserved_tags: Collection[str]
    defaults: Defaults
    _first_line_by_id: dict[str, int] = field(default_factory=dict)
    _seen_documents: dict[str, tuple[str, int]] = field(default_factory=dict)

    def read(self, node: Node, *, number: int) -> Question | None:
        """
        Return the question in *node*, the *number*-th of the file from 1; None or an incomplete one after a mistake.

        A bare text is a question without further keys.
        """
        if isinstance(node, Scalar) and not node.is_null:
            node = MappingNode(node.line, [Entry("question", node.line, node)])
        if not isinstance(node, MappingNode):
            Site(self.mistakes, f"question number {number}").mistake(
                node.line, f"is {seen(node)}. Write a mapping with 'question', or just the text to ask."
            )
            return None
        site = Site(self.mistakes, subject_of(node, number))
        entries = named_entries(site, node, QUESTION)
        text = self._read_question(site, node, entries)
        question_id = self._read_id(site, node, entries, text)
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
            quarantine=read_reason(site, entries, "quarantine", default="by its question file"),
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

    def _read_id(self, site: Site, node: MappingNode, entries: Mapping[str, Entry], text: str | None) -> str | None:
        if "id" in entries:
            line = entries["id"].line
            question_id = read_text(site, entries["id"])
        else:
            line = node.line
            question_id = None if text is None else derived_id(text)
        if question_id is None:
            return None
        if (what := id_mistake(question_id)) is not None:
            site.mistake(line, what)
        elif (first := self._first_line_by_id.get(question_id)) is None:
            self._first_line_by_id[question_id] = node.line
        elif "id" in entries:
            site.mistake(line, f"has the id of the question on line {first}. Give it another.")
        else:
            site.mistake(
                line,
                f"has no id, and the one made from its text is that of the question on line {first}. "
                "Give it an 'id', or delete it if it is the same.",
            )
        return question_id


def subject_of(node: MappingNode, number: int) -> str:
    """Return the name of the question for mistakes: its id, valid or not, else the id derived from its text."""
    typed = {QUESTION.real_names.get(entry.key): entry.value for entry in reversed(node.entries)}
    given_id, text = typed.get("id"), typed.get("question")
    if isinstance(given_id, Scalar) and not given_id.is_null:
        return f"question {shortened(given_id.text)}"
    if isinstance(text, Scalar) and not text.is_null and text.text.strip():
        return f"question {derived_id(text.text)!r}"
    return f"question number {number}"
