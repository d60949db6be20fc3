"""`Export` collects the questions of an export and counts everything that a question file cannot hold."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any

from pytest_ragcheck.frozen import frozen
from pytest_ragcheck.package_text import package_text
from pytest_ragcheck.questions.exports.material import Material, value_of
from pytest_ragcheck.questions.question import GoldPassage, Question, in_conversation
from pytest_ragcheck.questions.question_ids import derived_id, usable_id
from pytest_ragcheck.redaction.printable import sound

NAMES: Mapping[str, Sequence[str]] = json.loads(package_text("questions/exports/names.json"))
"""Names of questions and answers in inputs and outputs, in the order of preference, and of promptfoo's assertions."""

_NONE: tuple[object, ...] = (None, "", [], {})

UNJUDGED: Mapping[str, float] = {"answer_correctness": 0.0, "groundedness": 0.0}
"""Thresholds of a turn that is asked only as context of the turns after it."""


@frozen
class Form:
    """A form of exports with its reader; docs/reference/convert.md describes each."""

    name: str
    """The tool and its name of the form, such as `ragas testset`."""

    recognises: Callable[[Material], bool]

    read: Callable[[Material, Export], None]

    keys: Sequence[str] = ()
    """The keys that `--column` may give to a name in the file."""

    names: Callable[[Material], Collection[str]] = attrgetter("keys")


@dataclass(slots=True)
class Export:
    path: Path
    form_name: str
    named: dict[str, str] = field(default_factory=dict)
    """The names that the options `--column` give, by key."""
    questions: list[Question] = field(default_factory=list)
    left: Counter[str] = field(default_factory=Counter)
    _ids: set[str] = field(default_factory=set)

    def leave(self, what: str, number: int = 1) -> None:
        if number:
            self.left[what] += number

    def leave_unasserted(self, row: Mapping[str, Any], *keys: str) -> None:
        for key in keys:
            if value_of(row.get(key)):
                self.leave(f"{key} (kept in metadata, not asserted)")

    def add(
        self,
        *texts: Any,
        given_id: Any = None,
        expected: Any = None,
        gold: Iterable[GoldPassage] = (),
        metadata: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> None:
        """
        Add a question; of several *texts* the last is judged, and the others are the turns asked before it.

        *expected* may be a list, the best answer first. Values may be blank, no text, or hold lone surrogates.
        """
        asked = texts_among(texts)
        if not asked:
            self.leave("rows without a question")
            return
        kept = dict(metadata or {})
        accepted = self._texts(kept, "expected_answer", expected, fields.get("answerable", True))
        ids = self._texts(kept, "id", [given_id])
        for key in ("must_mention", "must_not_mention"):
            fields[key] = tuple(dict.fromkeys(self._texts(kept, key, fields.get(key))))
        base = question_id = usable_id(ids[0] if ids else derived_id(asked[0]))
        self.leave("ids with characters that a test cannot have (replaced)", ids not in ([], [base]))
        number = 1
        while question_id in self._ids:
            number += 1
            question_id = f"{base}-{number}"
        self._ids.add(question_id)
        last = Question(
            dataset_name=self.dataset_name,
            id=question_id,
            question=asked[-1],
            expected_answer=accepted[0] if accepted else None,
            all_acceptable_answers=tuple(accepted[1:]),
            gold_passages=tuple(gold),
            metadata=_sound_values(kept),
            **fields,
        )
        earlier = [
            Question(dataset_name=self.dataset_name, id="", question=text, thresholds=UNJUDGED) for text in asked[:-1]
        ]
        self.questions += in_conversation(question_id, [*earlier, last]) if earlier else [last]

    @property
    def dataset_name(self) -> str:
        return self.path.stem.removesuffix(".rag")

    def _texts(self, kept: dict[str, Any], key: str, given: Any, is_asserted: bool = True) -> list[str]:
        # The texts in *given*. All of it is *kept* if something in it is not returned.
        values = given if isinstance(given, (list, tuple)) else [given]
        texts = texts_among(values) if is_asserted else []
        if len(texts) < sum(value_of(each) not in _NONE for each in values):
            self.leave(f"values of {key} that the question cannot have (kept in metadata)")
            keep(kept, key, given)
        return texts


def text_of(value: Any) -> str | None:
    """A text or the digits of a number; None for a blank text and other values."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        # JavaScript writes 30.0 as 30, and pandas has whole numbers beside blanks as floats.
        return str(int(value) if isinstance(value, float) and value.is_integer() else value)
    return sound(value) if isinstance(value, str) and value.strip() else None


def texts_among(values: Iterable[Any]) -> list[str]:
    return list(map(str.strip, filter(None, map(text_of, values))))


def items_of(cell: Any) -> list[Any]:
    value = value_of(cell)
    if isinstance(value, list):
        return value
    return [] if value in (None, "nan") else [cell]  # a text may have brackets, and pandas writes nan


def passages(export: Export, value: Any, *, separator: str = "") -> tuple[GoldPassage, ...]:
    """The passages in a text, in an object with a text or an id, or in a list; others are counted."""
    found = []
    value = value_of(value)
    is_list = isinstance(value, (list, tuple))
    for each in value if is_list else value.split(separator) if separator and isinstance(value, str) else [value]:
        fields = each if isinstance(each, Mapping) else {"text": each}
        text = text_of(fields.get("text", fields.get("content", fields.get("page_content"))))
        doc_id = text_of(fields.get("doc_id", fields.get("doc_uri")))
        if text or doc_id:
            found.append(GoldPassage(doc_id=doc_id, text=text or ""))
            more = sum(map(bool, fields.values())) > bool(text) + bool(doc_id)
            export.leave("values of gold passages beside a text and a doc_id", more)
            if not doc_id and re.fullmatch(r".{,80}\.[a-zA-Z]\w+", text or ""):
                export.leave('file names as gold passages, read as texts; write {"doc_id": "terms.md"}')
        elif is_list or (each and not isinstance(each, str)):
            export.leave("gold passages without a text or doc_id")
    return tuple(found)


def further(row: Mapping[str, Any], *carried: str | None, mapping: str = "metadata") -> dict[str, Any]:
    """The values of *row* that are not *carried*; those of its own *mapping* come first, at the top level."""
    own = value_of(row.get(mapping))
    values = dict(own) if isinstance(own, Mapping) else {}
    for key, cell in row.items():
        if key not in carried and not (key == mapping and isinstance(own, Mapping)):
            keep(values, key.removeprefix(f"{mapping}."), value_of(cell))
    return values


def keep(values: dict[str, Any], key: str, value: Any) -> None:
    """Put *value*, unless it is empty, under *key*, or under the key with `.1` if another value is there."""
    if value not in _NONE:
        while key in values and values[key] != value:
            key += ".1"
        values[key] = value


def user_texts(messages: Any) -> list[str] | None:
    if not isinstance(messages, (list, tuple)):
        return None
    if not all(isinstance(each, Mapping) for each in messages):
        return None
    return list(filter(None, (message_text(each) for each in messages if role_of(each) in ("user", "human"))))


def role_of(message: Mapping[str, Any]) -> Any:
    return message.get("role", message.get("type"))  # the latter of LangChain


def message_text(message: Mapping[str, Any]) -> str | None:
    data = message.get("data")  # LangChain's own form
    content = (data if isinstance(data, Mapping) else message).get("content")
    if isinstance(content, (list, tuple)):
        texts = (part.get("text") for part in content if isinstance(part, Mapping))
        content = "\n".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) and content.strip() else None


def _sound_values(value: Any) -> Any:
    # Return JSON values without dates, NaN and lone surrogates, as a question file holds them.
    plain = json.loads(json.dumps(value, default=str), parse_constant=str)
    return json.loads(sound(json.dumps(plain, ensure_ascii=False)))
