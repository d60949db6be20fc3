"""`ragcheck convert`: conversations in the form of MT-RAG's conversations.json."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_ragcheck.questions.question import GoldPassage
from pytest_ragcheck.questions.reader import read_question_file
from pytest_ragcheck.scores import ASSERTABLE

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
        # A reviewer may revoke an annotation, in any order of the authors.
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
    clapnq, govt = (tmp_path / "new" / f"mtrag-{name}.rag.json" for name in ("clapnq", "govt"))
    assert printed.splitlines() == [
        f"{path}: 5 turns",
        f"  wrote {clapnq}: 2 conversations, 4 turns",
        f"  wrote {govt}: 1 conversation, 1 turn",
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


def test_without_a_folder_the_file_lies_where_pytest_collects_it_and_is_not_overwritten(
    tmp_path: Path, ragcheck: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path, CONVERSATIONS[1:2])
    assert ragcheck("convert", path.name)[1] == (
        "conversations.json: 1 turn\n  wrote mtrag-govt.rag.json: 1 conversation, 1 turn\n"
    )
    status, _, errors = ragcheck("convert", path.name)
    assert (status, errors.partition(". ")[0]) == (2, "ragcheck convert: mtrag-govt.rag.json: exists already")


def test_a_folder_that_cannot_be_made_ends_with_status_2(tmp_path: Path, ragcheck: Command) -> None:
    path = write(tmp_path, CONVERSATIONS[1:2])
    export = tmp_path / "ragas.json"
    export.write_text('[{"user_input": "How much?", "reference": "9 euros."}]', encoding="utf-8")
    for given in (path, export):
        status, _, errors = ragcheck("convert", str(given), f"--output={export}")
        assert status == 2
        assert errors.startswith(f"ragcheck convert: {export}/")
        assert errors.endswith(
            ": cannot be written (File exists). Free some space, allow writing there, or use another folder.\n"
        )


def test_messages_of_another_tool_are_no_conversations_of_the_benchmark(tmp_path: Path, ragcheck: Command) -> None:
    path = write(tmp_path, [{"messages": [{"role": "user", "content": "Who?"}]}])
    status, _, errors = ragcheck("convert", str(path))
    assert (status, "is not a recognised export (found: 'messages'). Name the columns " in errors) == (2, True)


def task(conversation_id: str, *said: str, answerability: str, contexts: list[dict[str, Any]]) -> dict[str, Any]:
    """A generation task: the messages up to its question, and the reference answer."""
    *before, target = said
    speakers = ("user", "agent") * len(before)
    messages = [{"speaker": speaker, "text": text} for speaker, text in zip(speakers, before, strict=False)]
    kinds = {"answerability": [answerability], "Question Type": ["Factoid"], "Multi-Turn": float("nan")}
    targets = [{"speaker": "agent", "text": target}]
    row = {"conversation_id": conversation_id, "Collection": "fiqa", "contexts": contexts}
    return {**row, "input": messages, "targets": targets, **kinds}


def passages(*names: str, **more: Any) -> list[dict[str, Any]]:
    return [{"document_id": name, "text": f"The text of {name}.", **more} for name in names]


def test_generation_tasks_become_conversations_whose_other_turns_are_not_judged(
    tmp_path: Path, ragcheck: Command
) -> None:
    said = ("A loan?", "Yes.", "For how long?", "5 years.", "Can you check?")
    annotated = passages("d1", score=1.5, feedback={"relevant": {"a": {"value": "no", "timestamp": 1}}})
    tasks = [
        task("c1", *said, "Which one?", answerability="UNDERSPECIFIED", contexts=[]),
        task("c2", "And who?", "Ann.", answerability="ANSWERABLE", contexts=[*passages("d2"), *annotated]),
        task("c1", *said[:3], "5 years.", answerability="ANSWERABLE", contexts=passages("d2")),
    ]
    path = tmp_path / "reference.jsonl"
    path.write_text("\n".join(map(json.dumps, tasks)), encoding="utf-8")
    assert ragcheck("convert", str(path), "-o", str(tmp_path))[0] == 0
    questions = read_question_file(tmp_path / "mtrag-fiqa.rag.json", root=tmp_path, known_metrics=ASSERTABLE)
    told = [(each.id, each.question, each.expected_answer, bool(each.thresholds)) for each in questions.questions]
    assert told == [
        ("c1[turn1]", "A loan?", None, True),
        ("c1[turn2]", "For how long?", "5 years.", False),
        ("c1[turn3]", "Can you check?", None, True),
        ("c2[turn1]", "And who?", "Ann.", False),
    ]
    gold = [[passage.doc_id for passage in each.gold_passages] for each in questions.questions]
    assert gold == [[], ["d2"], [], ["d2"]]
    assert [passage.doc_id for passage in questions.questions[3].distractors] == ["d1"]


def test_passages_that_were_only_retrieved_are_no_gold(tmp_path: Path, ragcheck: Command) -> None:
    path = write(tmp_path, [task("c", "Who?", "Ann.", answerability="ANSWERABLE", contexts=passages("d", score=1.5))])
    status, _, errors = ragcheck("convert", str(path), "-o", str(tmp_path / "new"))
    assert status == 2
    assert "expected 'feedback' beside 'score', found none. Retrieved passages are not gold: " in errors


@pytest.mark.parametrize("speakers", [(), ("agent",), ("user", "user")])
def test_a_task_beside_its_conversation_ends_with_status_2(
    tmp_path: Path, ragcheck: Command, speakers: tuple[str, ...]
) -> None:
    other = task("c", "Who?", "Ann.", answerability="ANSWERABLE", contexts=passages("d"))
    other["input"] = [{"speaker": speaker, "text": "Who?"} for speaker in speakers]
    whole = task("c", "Who?", "Ann.", "Ann who?", answerability="ANSWERABLE", contexts=passages("d"))
    whole["input"] = [*whole["input"], {"speaker": "agent", "text": "Ann."}]
    path = tmp_path / "reference.jsonl"
    path.write_text(f"{json.dumps(whole)}\n{json.dumps(other)}", encoding="utf-8")
    status, _, errors = ragcheck("convert", str(path), "-o", str(tmp_path / "new"))
    assert status == 2
    assert "line 2: expected the conversation up to a message of the user under 'input', found a list of" in errors


@pytest.mark.parametrize(
    ("enrichments", "problem"),
    [
        ({}, "'enrichments': expected 'Answerability', found nothing."),
        (
            {"Answerability": ["MAYBE"]},
            (
                "expected one of ANSWERABLE, PARTIAL, UNANSWERABLE, CONVERSATIONAL, UNDERSPECIFIED under "
                "'Answerability', found a list of 1."
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
