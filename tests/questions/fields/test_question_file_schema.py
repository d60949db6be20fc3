"""The schema of question files accepts what the reader accepts, and nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from pytest_ragcheck.errors import QuestionFileError
from pytest_ragcheck.questions.fields.key_names import CONVERSATION, DEFAULTS, FILE, PASSAGE, QUESTION, TURN
from pytest_ragcheck.questions.fields.question_file_schema import question_file_schema
from pytest_ragcheck.scores import ASSERTABLE, BOUNDED
from tests.questions.documents import (
    ODD,
    answers_of_the_unanswerable,
    changed_files,
    conversations,
    files,
    minimums,
    one_key,
    passages,
    two_names,
)
from tests.questions.reading import problems, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

SCHEMA = question_file_schema()
VALIDATOR = Draft202012Validator(SCHEMA)
LINE_VALIDATOR = Draft202012Validator({**SCHEMA["$defs"]["question"], "$defs": SCHEMA["$defs"]})

BEYOND_A_SCHEMA = re.compile(
    r"has the id of the question on line |has no id, and the one made from its text"  # ids are unique
    r"|under 'num_questions', and has "
    r"|the regular expression .* is (invalid|too large)"
    r"|which is the name of an existing pytest marker"
    r"|nests values more than 100 levels deep"
    # Some schema readers see these characters as two surrogates.
    r"|unprintable character U\+E0[0-9A-F]{3} in its id|the dataset_name [^,]*\\U000e0[^,]*, with"
    r"|has -?\d{60}\.\.\. under .* Write a finite number"  # more than a thousand digits
)


def is_beyond(problem: str) -> bool:
    """Whether no schema could find it."""
    return BEYOND_A_SCHEMA.search(problem) is not None


def reader_accepts(document: Any) -> bool:
    """Whether the reader finds nothing wrong that a schema could find too."""
    with TemporaryDirectory() as folder:
        try:
            read(Path(folder), json.dumps(document), "billing.rag.json")
        except QuestionFileError as error:
            return all(map(is_beyond, error.problems))
    return True


def refused_by_the_reader(entries: list[Any], folder: Path) -> set[int]:
    """The numbers of the entries, from 0, with a mistake that a schema could find too."""
    return {number for number, entry in enumerate(entries) if _is_refused(entry, folder)}


def _is_refused(entry: Any, folder: Path) -> bool:
    try:
        read(folder, json.dumps(entry), "one.rag.jsonl")
    except QuestionFileError as error:
        return not all(map(is_beyond, error.problems))
    return False


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    "made",
    [one_key, two_names, passages, answers_of_the_unanswerable, minimums, conversations],
)
def test_question_by_question_both_agree(made: Callable[[], Iterable[Any]], tmp_path: Path) -> None:
    entries = list(made())
    by_reader = refused_by_the_reader(entries, tmp_path)
    by_schema = {number for number, entry in enumerate(entries) if not LINE_VALIDATOR.is_valid(entry)}

    assert [entries[number] for number in sorted(by_reader ^ by_schema)] == []
    assert len(entries) / 10 < len(by_reader) < len(entries) * 0.9


@pytest.mark.parametrize("key", [*FILE.aliases, *DEFAULTS.real_names, *FILE.elsewhere[:3], "unknown"])
def test_every_key_at_the_top_and_under_defaults_agrees_on_every_odd_value(key: str) -> None:
    documents: list[Any] = [{"questions": ["Why?"], key: value} for value in ODD]
    documents += [{"questions": ["Why?"], "defaults": {key: value}} for value in ODD if key in DEFAULTS.real_names]

    differing = [document for document in documents if VALIDATOR.is_valid(document) != reader_accepts(document)]
    assert differing == []


@pytest.mark.parametrize("document", [*ODD, [], {}, [None], [["a"]], {"questions": None}, {"questions": []}], ids=repr)
def test_what_is_no_file_agrees_too(document: Any) -> None:
    assert VALIDATOR.is_valid(document) == reader_accepts(document)


LONG = "9" * 1001
DEEP: Any = "a"
for _ in range(100):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    "document",
    [
        [{"id": "a", "question": "Who?"}, {"id": "a", "question": "Why?"}],
        ["Who?", "Who?"],
        {"num_questions": 2, "questions": ["Who?"]},
        [{"question": "Who?", "must_mention": "/(/"}],
        [{"question": "Who?", "must_not_mention": ["/x{99999999999}/"]}],
        [{"question": "Who?", "tags": "slow"}],
        [{"question": "Who?", "metadata": {"a": DEEP}}],
        [{"question": "Who?", "metadata": {"a": int(LONG)}}],
    ],
    ids=lambda document: repr(document)[:60],
)
def test_what_is_beyond_a_schema_is_found_by_reading_alone(document: Any, tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, document)

    assert VALIDATOR.is_valid(document)
    assert is_beyond(problem)


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    """Every part of the schema that names keys for people, not for a condition."""
    for part in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(part, dict):
            if "additionalProperties" in part and "properties" in part:
                yield part
            yield from objects({key: inner for key, inner in part.items() if key != "allOf"})


def test_every_key_is_described_and_other_names_say_whose_they_are() -> None:
    found = list(objects(SCHEMA))

    # a file, its defaults, a question, a conversation, a turn, a passage, a passage or several, thresholds
    assert len(found) == 8
    for part in found:
        for description in (key["description"] for key in part["properties"].values()):
            assert re.fullmatch(r"[A-Za-z].{10,}\.", description)
        for name, other in part.get("patternProperties", {}).items():
            if name == "^x-":
                assert other["description"] == "Your own values, such as YAML anchors; not read."
                continue
            if other.get("errorMessage") != "There is no key of this name.":
                assert re.fullmatch(r"(Same as|The opposite of) \w+\.", other["description"])


def test_completion_prefers_the_keys_own_names() -> None:
    assert list(SCHEMA["else"]["properties"]) == list(FILE.aliases)
    assert list(SCHEMA["$defs"]["question"]["properties"]) == ["turns"]
    assert list(SCHEMA["$defs"]["question"]["else"]["properties"]) == list(QUESTION.aliases)
    assert list(SCHEMA["$defs"]["conversation"]["properties"]) == list(CONVERSATION.aliases)
    assert list(SCHEMA["$defs"]["turn"]["properties"]) == list(TURN.aliases)
    assert list(SCHEMA["$defs"]["passage"]["properties"]) == list(PASSAGE.aliases)
    assert list(SCHEMA["$defs"]["thresholds"]["properties"]) == [*ASSERTABLE, *BOUNDED]


@given(files())
def test_good_files_are_accepted_by_both(document: Any) -> None:
    assert reader_accepts(document)
    VALIDATOR.validate(document)


@given(changed_files())
def test_files_with_changes_are_accepted_by_both_or_by_none(document: Any) -> None:
    assert VALIDATOR.is_valid(document) == reader_accepts(document)
