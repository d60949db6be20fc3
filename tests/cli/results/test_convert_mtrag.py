"""`ragcheck convert`: conversations in the form of MT-RAG's conversations.json."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.questions.files.reader import read_question_file
from pytest_ragcheck.questions.question import GoldPassage
from pytest_ragcheck.scores.catalogue import ASSERTABLE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., tuple[int, str, str]]


def user(text: str, answerability: str = "ANSWERABLE", multi_turn: str = "Follow-up") -> dict[str, Any]:
    enrichments = {"Question Type": ["Factoid"], "Multi-Turn": [multi_turn], "Answerability": [answerability]}
    return {"speaker": "user", "text": text, "timestamp": 1, "enrichments": enrichments}


def agent(text: str, **passages: tuple[tuple[int, str], ...]) -> dict[str, Any]:
    """A reply with its passages by id, each with annotations: a time, and yes or no."""
    contexts = [
        {
            "document_id": name,
            "text": f"The text of {name}.",
            "title": "T",
            "score": 1.5,
            "feedback": {
                "relevant": {f"author {time}": {"value": value, "timestamp": time} for time, value in annotations}
            },
        }
        for name, annotations in passages.items()
    ]
    return {"speaker": "agent", "text": text, "original_text": "draft", "contexts": contexts}


def conversation(corpus: str, *messages: dict[str, Any]) -> dict[str, Any]:
    return {"author": "a", "retriever": {"collection": {"name": corpus}}, "messages": list(messages)}


CONVERSATIONS = [
    conversation(
        "mt-rag-clapnq-elser-512-100-20240503",
        user("Who built it?", multi_turn="N/A"),
        # A reviewer may take an annotation back, whatever the order of the authors.
        agent("Ann built it.", d1=((1, "no"), (5, "yes")), d2=((4, "no"), (2, "yes")), d3=()),
        user("Thanks!", "CONVERSATIONAL"),
        {"speaker": "agent", "text": "You are welcome."},
        user("And who paid?", "UNANSWERABLE", "Clarification"),
        agent("I do not know.", d1=((1, "yes"),)),
    ),
    conversation("mt-rag-govt-elser-512-100-20240611", user("How much?", "PARTIAL"), agent("9 euros.")),
    conversation("mt-rag-clapnq-elser-512-100-20240503", user("Where?"), agent("In Graz.")),
]


def write(folder: Path, value: Any) -> Path:
    path = folder / "conversations.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def test_conversations_become_a_question_file_for_each_corpus(tmp_path: Path, ragcheck: Command) -> None:
    path = write(tmp_path, CONVERSATIONS)
    status, printed, errors = ragcheck("convert", str(path), "-o", str(tmp_path / "new"))
    assert (status, errors) == (0, "")
    clapnq, govt = (tmp_path / "new" / f"mtrag-{name}_questions.json" for name in ("clapnq", "govt"))
    assert printed.splitlines() == [
        f"{path}: 5 turns",
        f"  wrote {clapnq}: 2 conversations, 4 turns",
        f"  wrote {govt}: 1 conversations, 1 turns",
    ]
    questions = read_question_file(clapnq, root=tmp_path, known_metrics=ASSERTABLE)
    assert questions.dataset_name == "mtrag-clapnq"
    first, thanks, unanswerable, where = questions.questions
    assert (first.id, first.conversation, first.turn) == ("conversation-1[turn1]", "conversation-1", 1)
    assert (first.question, first.expected_answer) == ("Who built it?", "Ann built it.")
    assert first.gold_passages == (GoldPassage(doc_id="d1", text="The text of d1."),)
    assert [passage.doc_id for passage in first.distractors] == ["d2", "d3"]
    assert first.metadata == {"question_type": ["Factoid"], "multi_turn": ["N/A"], "answerability": ["ANSWERABLE"]}
    assert (thanks.expected_answer, thanks.thresholds) == (None, {"answer_correctness": 0.0, "groundedness": 0.0})
    assert (unanswerable.answerable, unanswerable.expected_answer, unanswerable.gold_passages) == (False, None, ())
    assert [passage.doc_id for passage in unanswerable.distractors] == ["d1"]
    assert [each.question for each in unanswerable.earlier] == ["Who built it?", "Thanks!"]
    assert where.id == "conversation-3[turn1]"
    (partial,) = read_question_file(govt, root=tmp_path, known_metrics=ASSERTABLE).questions
    assert (partial.answerable, partial.expected_answer) == (True, "9 euros.")


@pytest.mark.parametrize(
    ("enrichments", "problem"),
    [
        ({}, "'enrichments': expected 'Answerability', found nothing."),
        (
            {"Answerability": ["MAYBE"]},
            (
                "expected one of ANSWERABLE, PARTIAL, CONVERSATIONAL, UNANSWERABLE under 'Answerability', "
                "found a list of 1."
            ),
        ),
    ],
)
def test_a_turn_of_unknown_answerability_ends_with_status_2(
    tmp_path: Path, ragcheck: Command, enrichments: dict[str, Any], problem: str
) -> None:
    asked = {**user("Who?"), "enrichments": enrichments}
    path = write(tmp_path, [conversation("mt-rag-fiqa-1", asked, agent("Ann."))])
    status, _, errors = ragcheck("convert", str(path), "-o", str(tmp_path / "new"))
    assert status == 2
    assert errors.startswith("ragcheck convert: conversations.json: ")
    assert problem in errors
    assert not (tmp_path / "new").exists()
