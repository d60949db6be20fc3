"""`read_mtrag` turns the conversations of the MT-RAG benchmark into question sets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_ragcheck.errors import DatasetError
from pytest_ragcheck.questions.datasets.dataset_files import rows_of_file
from pytest_ragcheck.questions.question import GoldPassage, Question, QuestionSet, in_conversation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_ragcheck.questions.datasets.dataset_row import Row

_CORPUS = re.compile(r"mt-rag-([a-z0-9]+)")
_ANSWERABLE = {"ANSWERABLE": True, "PARTIAL": True, "CONVERSATIONAL": True, "UNANSWERABLE": False}
_ENRICHMENTS = {"question_type": "Question Type", "multi_turn": "Multi-Turn", "answerability": "Answerability"}
_NOT_JUDGED = {"answer_correctness": 0.0, "groundedness": 0.0}
"""Thresholds of a turn such as "Thanks!", which asks for nothing that a document says."""


def is_mtrag(path: Path) -> bool:
    """Return True for a JSON list of objects with `messages`, the form of the benchmark's `conversations.json`."""
    try:
        with path.open("rb") as file:
            if file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] != b"[":
                return False
        rows = list(rows_of_file(path))
    except (DatasetError, OSError):
        return False
    return bool(rows) and all("messages" in row for row in rows)


def read_mtrag(path: Path) -> tuple[QuestionSet, ...]:
    """
    Return a set of conversations for each corpus of the file, such as `mtrag-clapnq`.

    The gold passages of a turn are those whose last annotation is "yes", as in the benchmark's own relevance
    judgements; its other passages are distractors. The reviewed answer of the agent is the expected answer.

    Raises:
        DatasetError: The file has another form; the text names the place.
    """
    corpora: dict[str, list[Question]] = {}
    for number, row in enumerate(rows_of_file(path), start=1):
        collection = row.row("retriever").row("collection").text("name")
        corpus = _CORPUS.match(collection)
        dataset_name = f"mtrag-{corpus[1] if corpus else collection}"
        turns = in_conversation(f"conversation-{number}", list(_turns(row, dataset_name)))
        corpora.setdefault(dataset_name, []).extend(turns)
    return tuple(QuestionSet(dataset_name=name, path=path, questions=tuple(each)) for name, each in corpora.items())


def _turns(conversation: Row, dataset_name: str) -> Iterator[Question]:
    messages = conversation.rows("messages")
    for message, reply in zip(messages, (*messages[1:], None), strict=True):
        if message.text("speaker") != "user":
            continue
        agent = reply if reply is not None and reply.text("speaker") == "agent" else None
        yield _turn(message, agent, dataset_name)


def _turn(user: Row, agent: Row | None, dataset_name: str) -> Question:
    enrichments = user.row("enrichments")
    kinds = enrichments.texts("Answerability")
    if len(kinds) != 1 or kinds[0] not in _ANSWERABLE:
        raise enrichments.unexpected("Answerability", f"one of {', '.join(_ANSWERABLE)}", kinds)
    answerable = _ANSWERABLE[kinds[0]]
    is_question = kinds[0] != "CONVERSATIONAL"
    contexts = agent.rows("contexts") if agent is not None and "contexts" in agent else ()
    passages = {each.text("document_id"): each for each in contexts}
    relevant = {name: _is_relevant(each) for name, each in passages.items()}
    return Question(
        dataset_name=dataset_name,
        id="",
        question=user.text("text"),
        expected_answer=agent.optional_text("text") if agent is not None and answerable and is_question else None,
        gold_passages=tuple(_passage(each) for name, each in passages.items() if relevant[name] and answerable),
        distractors=tuple(_passage(each) for name, each in passages.items() if not (relevant[name] and answerable)),
        answerable=answerable,
        thresholds={} if is_question else _NOT_JUDGED,
        metadata={key: list(enrichments.texts(name)) for key, name in _ENRICHMENTS.items() if name in enrichments},
    )


def _is_relevant(passage: Row) -> bool:
    """Return the last annotation; False without any."""
    if "feedback" not in passage:
        return False
    relevant = passage.row("feedback").row("relevant")
    annotations = [relevant.row(author) for author in relevant.columns]
    last = max(annotations, key=lambda each: int(each.text("timestamp")), default=None)
    return last is not None and last.text("value") == "yes"


def _passage(passage: Row) -> GoldPassage:
    return GoldPassage(doc_id=passage.text("document_id"), text=passage.text("text"))
