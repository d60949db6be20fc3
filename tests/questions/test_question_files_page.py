"""The reference pages of question files agree with the reader."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_ragcheck.questions.fields.key_names import CONVERSATION, FILE, INVERTED, PASSAGE, QUESTION
from pytest_ragcheck.questions.question import Question
from pytest_ragcheck.questions.question_ids import derived_id

from .reading import read, read_one

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
PAGE = "".join(
    (REFERENCE / name).read_text(encoding="utf-8") for name in ("question-files.md", "question-file-forms.md")
)
EXAMPLES = re.findall(r"^```(yaml|jsonl?|csv)\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


def section(heading: str) -> str:
    """The text under *heading*, up to the next one."""
    body: str
    (body,) = re.findall(rf"^#+ {heading}\n(.*?)(?=^#|\Z)", PAGE, flags=re.MULTILINE | re.DOTALL)
    return body


def rows(heading: str) -> list[list[str]]:
    """The cells of the table under *heading*."""
    return [line.strip("| ").split(" | ") for line in section(heading).splitlines() if line.startswith("| `")]


def names(cell: str) -> list[str]:
    """The words in code style."""
    return re.findall(r"`([^`]+)`", cell)


def test_the_examples_are_read(tmp_path: Path) -> None:
    read_examples = [read(tmp_path, text, f"billing.rag.{suffix}").questions for suffix, text in EXAMPLES]

    assert [[question.id for question in questions] for questions in read_examples] == [
        ["what-is-the-refund-window-eeb7"],
        [
            "refund-window",
            "refund-in-cash",
            "refund-abroad",
            "refund-to-a-friend",
            derived_id("Who pays for the return?"),
        ],
        ["refund-window", derived_id("Can a refund be paid in cash on Mars?")],
        ["refund-window", derived_id("Who pays for the return?")],
        ["what-is-the-refund-window-eeb7", derived_id("Can a refund be paid in cash, and on Mars?")],
        ["refund-window"],
        ["what-is-the-refund-window-eeb7"],
    ]
    first = read_examples[1][0]
    assert first.thresholds == {"answer_correctness": 0.7, "groundedness": 0.9}
    assert (first.top_k, first.tags) == (3, ("billing", "refunds"))
    assert first.metadata == {"team": "payments", "since": "2024-01-01"}
    window, mars = read_examples[4]
    assert window.acceptable_answers == ("30 days", "thirty days", "one month")
    assert (window.tags, mars.tags) == (("refunds",), ("refunds", "odd"))
    assert (window.thresholds["groundedness"], mars.answerable) == (0.8, False)


def test_the_complete_example_uses_every_key_of_a_question() -> None:
    text = EXAMPLES[1][1]

    assert [key for key in QUESTION.aliases if f" {key}: " not in text and f" {key}:\n" not in text] == ["skip"]


@pytest.mark.parametrize(
    ("heading", "keys"),
    [
        ("Keys of a file", FILE.aliases),
        ("Keys of a question", QUESTION.aliases),
        ("Keys of a conversation", CONVERSATION.aliases),
    ],
)
def test_every_key_has_its_row(heading: str, keys: dict[str, object]) -> None:
    assert sorted(names(key)[0] for key, *_ in rows(heading)) == sorted(keys)
    assert all(len(row) == 5 for row in rows(heading))


def test_the_example_of_every_row_is_read(tmp_path: Path) -> None:
    for key, _, _, _, example in rows("Keys of a question"):
        (name,), (value,) = names(key), names(example)
        content = f"- {name}: {value}\n" + ("" if name == "question" else "  question: Why?\n")
        question = read_one(tmp_path, content)
        plain = Question(dataset_name="billing", id=derived_id("Why?"), question="Why?")

        assert question != plain, name


def test_the_example_of_every_key_of_a_conversation_is_read(tmp_path: Path) -> None:
    for key, _, _, _, example in rows("Keys of a conversation"):
        (name,), (value,) = names(key), names(example)
        content = f"- {name}: {value}\n" + ("" if name == "turns" else "  turns: [Why?, How?]\n")

        assert [turn.turn for turn in read(tmp_path, content).questions] == [1, 2]


def test_the_example_of_every_key_of_a_file_is_read(tmp_path: Path) -> None:
    for key, _, _, _, example in rows("Keys of a file"):
        (name,), (value,) = names(key), names(example)
        content = f"{name}: {value}\n" + ("" if name == "questions" else "questions: [Why?, How?]\n")

        assert read(tmp_path, content).questions


def test_the_table_of_other_names_is_complete() -> None:
    listed = {names(key)[0]: tuple(names(others)) for key, others in rows("Other names")}

    assert listed == {key: aliases for key, aliases in QUESTION.aliases.items() if aliases}
    assert ", ".join(f"`{name}`" for name in sorted(INVERTED)) in section("Other names")
    for key, aliases in PASSAGE.aliases.items():
        assert not aliases or f"`{key}` may be called {', '.join(f'`{name}`' for name in aliases)}" in section(
            "Other names"
        )


def test_the_table_of_refused_names_is_complete_and_names_the_right_choice() -> None:
    listed = {name: names(choice) for refused, choice in rows("Refused names") for name in names(refused)}

    assert listed.keys() == QUESTION.refused.keys()
    for name, choice in listed.items():
        assert all(f"'{key}'" in QUESTION.refused[name] for key in choice)
