"""Reads the entries of a question file, and its keys outside of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.questions.fields.field_readers import (
    NO_SETTINGS,
    QuestionSettings,
    SettingsReader,
    read_answerable,
    read_mentions,
    read_metadata,
    read_passages,
)
from pytest_ragcheck.questions.fields.key_names import (
    CONVERSATION,
    DEFAULTS,
    FILE,
    QUESTION,
    TURN,
    TURNS,
    named_entries,
)
from pytest_ragcheck.questions.nodes.node import (
    Entry,
    ListNode,
    MappingNode,
    Mistakes,
    Node,
    Scalar,
    Site,
    described,
    number_in,
    read_flag,
    read_text,
    read_texts,
    read_whole_number,
    shortened,
    wrong_value,
)
from pytest_ragcheck.questions.question import TIERS, Question, in_conversation
from pytest_ragcheck.questions.question_ids import derived_id, id_mistake, unprintable_in

_ONE_ANSWER = "one text, and further accepted ones under 'all_acceptable_answers'"

SCHEMA_VERSION = "1"
"""Version of the questions document that `question_rows` writes and `reader` reads."""


@frozen
class Top:
    nodes: tuple[Node, ...] = ()
    """The unread entries under `questions`."""

    dataset_name: str | None = None
    defaults: QuestionSettings = field(default_factory=lambda: NO_SETTINGS)
    tier: str | None = None
    ingest: bool | None = None


def read_top(site: Site, node: Node, settings: SettingsReader) -> Top:
    if isinstance(node, ListNode):
        return Top(nodes=_some_questions(site, node))
    if not isinstance(node, MappingNode):
        site.mistake(node.line, f"holds {described(node)} and no questions. Write a list of questions.")
        return Top()
    entries = named_entries(site, node, FILE)
    _check_version(site, entries)
    nodes = _read_questions(site, node, entries)
    if nodes:
        _check_count(site, entries, sum(map(_count, nodes)))
    return Top(
        nodes=nodes,
        dataset_name=_read_dataset_name(site, entries),
        defaults=_read_defaults(site, entries, settings),
        tier=_read_tier(site, entries),
        ingest=read_flag(site, entries.get("ingest")),
    )


def _some_questions(site: Site, node: ListNode) -> tuple[Node, ...]:
    if not node.items:
        site.mistake(node.line, "has an empty list of questions. Write at least one, or delete the file.")
    return tuple(node.items)


def _read_questions(site: Site, node: MappingNode, entries: Mapping[str, Entry]) -> tuple[Node, ...]:
    if (entry := entries.get("questions")) is None:
        site.mistake(node.line, "has no questions. Write them as a list under 'questions'.")
        return ()
    if not isinstance(entry.value, ListNode):
        wrong_value(site, entry, "a list of questions")
        return ()
    return _some_questions(site, entry.value)


def _check_version(site: Site, entries: Mapping[str, Entry]) -> None:
    if (entry := entries.get("schema_version")) is None:
        return
    version = read_text(site, entry)
    # In JSON, and so in the schema, 1 and 1.0 are the same number.
    if version is not None and version != SCHEMA_VERSION and number_in(entry.value) != float(SCHEMA_VERSION):
        site.mistake(
            entry.line,
            f"has the schema_version {shortened(version)}, and this version of pytest-ragcheck reads "
            f"{SCHEMA_VERSION!r}. Update pytest-ragcheck, or delete the key from a file of your own.",
        )


def _count(node: Node) -> int:
    turns = [e.value for e in node.entries if e.key == TURNS] if isinstance(node, MappingNode) else []
    return len(turns[0].items) if turns and isinstance(turns[0], ListNode) else 1


def _read_tier(site: Site, entries: Mapping[str, Entry]) -> str | None:
    tier = read_text(site, entries.get("tier"), " or ".join(TIERS))
    if tier is not None and tier not in TIERS:
        known = " or ".join(map(repr, TIERS))
        site.mistake(entries["tier"].line, f"has the unknown tier {shortened(tier)}. Write {known}.")
        return None
    return tier


def _check_count(site: Site, entries: Mapping[str, Entry], count: int) -> None:
    if (entry := entries.get("num_questions")) is None:
        return
    stated = read_whole_number(site, entry, minimum=0)
    if stated is not None and stated != count:
        site.mistake(
            entry.line, f"says {stated} under 'num_questions', and has {count}. Correct the number, or delete it."
        )


def _read_dataset_name(site: Site, entries: Mapping[str, Entry]) -> str | None:
    name = read_text(site, entries.get("dataset_name"))
    if name is not None and (name != name.strip() or unprintable_in(name) is not None):
        site.mistake(
            entries["dataset_name"].line,
            f"has the dataset_name {shortened(name)}, with white space around it or unprintable characters in it. "
            "Delete them.",
        )
    return name


def _read_defaults(site: Site, entries: Mapping[str, Entry], settings: SettingsReader) -> QuestionSettings:
    if (entry := entries.get("defaults")) is None:
        return NO_SETTINGS
    if not isinstance(entry.value, MappingNode):
        wrong_value(site, entry, 'a mapping, such as {"top_k": 5}')
        return NO_SETTINGS
    return settings.read(site, named_entries(site, entry.value, DEFAULTS), NO_SETTINGS)


@frozen
class EntryReader:
    """Turns each entry of a file into a `Question`, or into the turns of a conversation; ids may not repeat."""

    dataset_name: str
    path: Path
    mistakes: Mistakes
    settings: SettingsReader
    defaults: QuestionSettings
    _first_line_by_id: dict[str, int] = field(default_factory=dict)

    def read(self, node: Node, *, number: int) -> tuple[Question, ...]:
        """The questions of the *number*-th entry of the file, from 1; incomplete after a mistake."""
        if isinstance(node, MappingNode) and any(map(_is_turns, node.entries)):
            return self._read_conversation(node, number=number)
        mapping = self._as_mapping(node, f"question number {number}")
        if mapping is None:
            return ()
        site = Site(self.mistakes, subject_of(mapping, number))
        entries = named_entries(site, mapping, QUESTION)
        question = self._read_question(site, mapping, entries)
        question_id = self._read_id(site, mapping, entries, question.question)
        return (replace(question, id=question_id),)

    def _read_conversation(self, node: MappingNode, *, number: int) -> tuple[Question, ...]:
        subject = subject_of(node, number).replace("question", "conversation", 1)
        site = Site(self.mistakes, subject)
        entries = named_entries(site, node, CONVERSATION)
        entry = entries.get(TURNS) or next(filter(_is_turns, node.entries))
        if not isinstance(entry.value, ListNode):
            wrong_value(site, entry, "a list of questions, one for each turn")
            return ()
        if not entry.value.items:
            site.mistake(entry.line, "has an empty list of 'turns'. Write at least one.")
        reader = replace(self, defaults=self.settings.read(site, entries, self.defaults))
        turns = [reader._read_turn(item, f"{subject}, turn {turn}") for turn, item in enumerate(entry.value.items, 1)]
        conversation = self._read_id(site, node, entries, next((each.question for each in turns if each), ""))
        return in_conversation(conversation, [each for each in turns if each is not None])

    def _read_turn(self, node: Node, subject: str) -> Question | None:
        # Without its id; None after a mistake. The *subject* begins each mistake.
        mapping = self._as_mapping(node, subject)
        if mapping is None:
            return None
        site = Site(self.mistakes, subject)
        return self._read_question(site, mapping, named_entries(site, mapping, TURN))

    def _as_mapping(self, node: Node, subject: str) -> MappingNode | None:
        if isinstance(node, Scalar) and not node.is_null:
            return MappingNode(node.line, [Entry("question", node.line, node)])
        if isinstance(node, MappingNode):
            return node
        Site(self.mistakes, subject).mistake(
            node.line, f"is {described(node)}. Write a mapping with 'question', or just the text to ask."
        )
        return None

    def _read_question(self, site: Site, node: MappingNode, entries: Mapping[str, Entry]) -> Question:
        return Question(
            dataset_name=self.dataset_name,
            id="",
            question=self._read_text(site, node, entries) or "",
            expected_answer=read_text(site, entries.get("expected_answer"), _ONE_ANSWER),
            all_acceptable_answers=read_texts(site, entries.get("all_acceptable_answers")),
            must_mention=read_mentions(site, entries.get("must_mention")),
            must_not_mention=read_mentions(site, entries.get("must_not_mention")),
            must_cite=read_texts(site, entries.get("must_cite")),
            must_not_retrieve=read_texts(site, entries.get("must_not_retrieve")),
            gold_passages=read_passages(site, entries.get("gold_passages")),
            distractors=read_passages(site, entries.get("distractors")),
            identity=read_text(site, entries.get("as")) or "",
            answerable=read_answerable(site, entries),
            **self.settings.read(site, entries, self.defaults),
            metadata=read_metadata(site, entries.get("metadata")),
            path=self.path,
            line=node.line,
        )

    def _read_text(self, site: Site, node: MappingNode, entries: Mapping[str, Entry]) -> str | None:
        if "question" in entries:
            return read_text(site, entries["question"], "the text to ask")
        found = ", ".join(shortened(entry.key) for entry in node.entries) or "nothing"
        what = f"has no 'question' (found: {found}). Write the text to ask under 'question'."
        site.mistake(node.line, what, kind="no question")
        return None

    def _read_id(self, site: Site, node: MappingNode, entries: Mapping[str, Entry], text: str) -> str:
        # The id, or the one made from *text*; empty after a mistake.
        if "id" in entries:
            line = entries["id"].line
            question_id = read_text(site, entries["id"])
        else:
            line = node.line
            question_id = derived_id(text) if text else None
        if question_id is None:
            return ""
        if (what := id_mistake(question_id)) is not None:
            site.mistake(line, what)
        elif (first := self._first_line_by_id.get(question_id)) is None:
            self._first_line_by_id[question_id] = node.line
        elif "id" in entries:
            what = f"has the id of the question on line {first}. Give it another."
            site.mistake(line, what, kind="a repeated id")
        else:
            site.mistake(
                line,
                f"has no id, and the one made from its text is that of the question on line {first}. "
                "Give one of them an 'id'.",
                kind="a repeated text",
            )
        return question_id


def _is_turns(entry: Entry) -> bool:
    return entry.key == TURNS and not (isinstance(entry.value, Scalar) and entry.value.is_null)


def subject_of(node: MappingNode, number: int) -> str:
    """The name of the question for mistakes: its id, valid or not, else the id derived from its text."""
    typed = {QUESTION.real_names.get(entry.key): entry.value for entry in reversed(node.entries)}
    given_id, text = typed.get("id"), typed.get("question")
    if isinstance(given_id, Scalar) and not given_id.is_null:
        return f"question {shortened(given_id.text)}"
    if isinstance(text, Scalar) and not text.is_null and text.text.strip():
        return f"question {derived_id(text.text)!r}"
    return f"question number {number}"
