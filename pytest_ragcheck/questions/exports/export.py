"""`Export` collects the questions of an export and counts everything that a question file cannot hold."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pytest_ragcheck.questions.exports.material import value_of
from pytest_ragcheck.questions.question import GoldPassage, Question, in_conversation
from pytest_ragcheck.questions.question_ids import derived_id, usable_id

if TYPE_CHECKING:
    from pytest_ragcheck.questions.exports.material import Material

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

UNJUDGED: Mapping[str, float] = {"answer_correctness": 0.0, "groundedness": 0.0}
"""Thresholds of a turn that is asked only as context of the turns after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """One recognised form of files; the page on the command and the error text list all of them."""

    name: str
    """The tool and its name of the form, such as `ragas testset`."""

    files: str
    """The syntaxes, such as `JSON Lines, CSV`."""

    sign: str
    """The keys that the form is recognised by."""

    carried: str
    """What becomes which key of a question."""

    left: str
    """What goes to `metadata`, and what is counted as not carried over."""

    recognises: Callable[[Material], bool]

    read: Callable[[Material, Export], None]


@dataclass(slots=True)
class Export:
    """The questions of one export, with unique ids, and the counts of the parts that were left out."""

    dataset_name: str
    questions: list[Question] = field(default_factory=list)
    left: Counter[str] = field(default_factory=Counter)
    _ids: set[str] = field(default_factory=set)

    def leave(self, what: str, number: int = 1) -> None:
        """Count *what* as not carried over."""
        self.left[what] += number

    def add(
        self,
        text: Any,
        *,
        given_id: Any = None,
        expected: Any = None,
        gold: Iterable[GoldPassage] = (),
        metadata: Mapping[str, Any] | None = None,
        **further: Any,
    ) -> None:
        """Add a question; a row without a text to ask is counted instead."""
        question = self._question(text, expected, gold, metadata, further)
        if question is None:
            self.leave("rows without a question")
            return
        self.questions.append(replace(question, id=self._unique(given_id or derived_id(question.question))))

    def add_conversation(
        self,
        texts: Sequence[str],
        *,
        given_id: Any = None,
        expected: Any = None,
        gold: Iterable[GoldPassage] = (),
        metadata: Mapping[str, Any] | None = None,
        **further: Any,
    ) -> None:
        """Add a conversation; the last of the *texts* is judged, and the others are asked before it."""
        asked = [text for text in texts if text.strip()]
        if len(asked) < 2:
            (text,) = asked or ("",)
            self.add(text, given_id=given_id, expected=expected, gold=gold, metadata=metadata, **further)
            return
        last = self._question(asked[-1], expected, gold, metadata, further)
        assert last is not None  # noqa: S101 - the text is not blank
        earlier = [
            Question(dataset_name=self.dataset_name, id="", question=sound(each), thresholds=UNJUDGED)
            for each in asked[:-1]
        ]
        self.questions += in_conversation(self._unique(given_id or derived_id(asked[0])), [*earlier, last])

    def _question(
        self,
        text: Any,
        expected: Any,
        gold: Iterable[GoldPassage],
        metadata: Mapping[str, Any] | None,
        further: dict[str, Any],
    ) -> Question | None:
        text = text_of(text)
        if text is None:
            return None
        if accepted := further.get("all_acceptable_answers"):
            further = {**further, "all_acceptable_answers": tuple(map(sound, accepted))}
        for key in ("must_mention", "must_not_mention"):
            further |= {key: tuple(map(sound, further[key]))} if key in further else {}
        return Question(
            dataset_name=self.dataset_name,
            id="",
            question=text,
            expected_answer=text_of(expected),
            gold_passages=tuple(gold),
            metadata=_sound_values(metadata or {}),
            **further,
        )

    def _unique(self, given: Any) -> str:
        base = usable_id(sound(str(given))) or "question"
        unique, number = base, 1
        while unique in self._ids:
            number += 1
            unique = f"{base}-{number}"
        self._ids.add(unique)
        return unique


def text_of(value: Any) -> str | None:
    """Return a text, or the digits of a number; None for a blank text and for any other value."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    return sound(value) if isinstance(value, str) and value.strip() else None


def sound(text: str) -> str:
    """Return the text without lone surrogates, which UTF-8 cannot encode."""
    return _LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


def passages(texts: Iterable[str]) -> tuple[GoldPassage, ...]:
    return tuple(GoldPassage(text=sound(text)) for text in texts)


def further(row: Mapping[str, Any], *carried: str, mapping: str = "metadata") -> dict[str, Any]:
    """Return the values of *row* that are not *carried*; those of its own *mapping* come first, at the top level."""
    own = value_of(row.get(mapping))
    values = dict(own) if isinstance(own, Mapping) else {}
    for key, cell in row.items():
        value = value_of(cell)
        if key not in carried and value not in (None, [], {}) and not (key == mapping and isinstance(own, Mapping)):
            values.setdefault(key, value)
    return values


def user_texts(messages: Any) -> list[str] | None:
    """Return the texts of the user in a list of messages; None if *messages* is no such list."""
    if not isinstance(messages, (list, tuple)) or not all(isinstance(each, Mapping) for each in messages):
        return None
    return list(_texts_by_the_user(messages))


def _texts_by_the_user(messages: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for message in messages:
        if message.get("role", message.get("type")) in ("user", "human"):
            content = message.get("content")
            if isinstance(content, (list, tuple)):
                parts = [part.get("text") for part in content if isinstance(part, Mapping)]
                content = "\n".join(part for part in parts if isinstance(part, str))
            if isinstance(content, str) and content.strip():
                yield content


def _sound_values(value: Any) -> Any:
    """Return JSON values without dates, NaN and lone surrogates, as a question file holds them."""
    text = json.dumps(value, default=str, ensure_ascii=True, allow_nan=True)
    plain = json.loads(text, parse_constant=str)
    return json.loads(sound(json.dumps(plain, ensure_ascii=False)))
